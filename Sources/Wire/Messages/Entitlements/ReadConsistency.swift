import CEntitleMessages

/// How new an answer must be (architecture: freshness is the caller's choice, per call).
public enum ReadConsistency: Hashable, Sendable {
  /// From memory where possible.
  case minimizeLatency
  /// At least as new as the write that returned this revision.
  case atLeastAsFresh(revision: Int64)
  /// Read from the primary.
  case fullyConsistent
}

extension ReadConsistency: MappedMessage {
  static let shape = MessageShape(entitle__v1__consistency__init)

  init(reading message: Entitle__V1__Consistency) throws(MessageError) {
    switch message.mode {
    case ENTITLE__V1__CONSISTENCY__MODE__MODE_UNSPECIFIED,
      ENTITLE__V1__CONSISTENCY__MODE__MODE_MINIMIZE_LATENCY:
      self = .minimizeLatency
    case ENTITLE__V1__CONSISTENCY__MODE__MODE_AT_LEAST_AS_FRESH:
      self = .atLeastAsFresh(revision: message.min_revision)
    case ENTITLE__V1__CONSISTENCY__MODE__MODE_FULLY_CONSISTENT:
      self = .fullyConsistent
    default:
      throw Self.error(.unknownValue(field: "mode"))
    }
  }

  func write(to message: inout Entitle__V1__Consistency, in arena: MessageArena) {
    switch self {
    case .minimizeLatency:
      message.mode = ENTITLE__V1__CONSISTENCY__MODE__MODE_MINIMIZE_LATENCY
    case .atLeastAsFresh(let revision):
      message.mode = ENTITLE__V1__CONSISTENCY__MODE__MODE_AT_LEAST_AS_FRESH
      message.min_revision = revision
    case .fullyConsistent:
      message.mode = ENTITLE__V1__CONSISTENCY__MODE__MODE_FULLY_CONSISTENT
    }
  }

  /// The default is not sent: the most frequent request stays small.
  func makeUnlessDefault(
    in arena: MessageArena
  ) throws(MessageError) -> UnsafeMutablePointer<Entitle__V1__Consistency>? {
    self == .minimizeLatency ? nil : try make(in: arena)
  }
}
