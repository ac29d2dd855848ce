import CEntitleMessages
public import EntitlementDomain
package import NIOCore

/// How new an answer must be (architecture: freshness is the caller's choice, per call).
public enum ReadConsistency: Hashable, Sendable {
  /// From memory where possible.
  case minimizeLatency
  /// At least as new as the write that returned this revision.
  case atLeastAsFresh(revision: Int64)
  /// Read from the primary.
  case fullyConsistent
}

extension ReadConsistency {
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
}

/// The answer about one customer. Its revision is that of the state, or the one that was named in
/// the request and still holds.
public enum GetCustomerStateResponse: Hashable, Sendable {
  case state(CustomerState)
  case notModified(revision: Int64)

  public var revision: Int64 {
    switch self {
    case .state(let state): state.revision
    case .notModified(let revision): revision
    }
  }
}

extension GetCustomerStateResponse {
  init(reading message: Entitle__V1__GetCustomerStateResponse) throws(MessageError) {
    switch message.answer_case {
    case ENTITLE__V1__GET_CUSTOMER_STATE_RESPONSE__ANSWER_STATE:
      self = .state(try Self.required(message.state, as: CustomerState.self, "state"))
    case ENTITLE__V1__GET_CUSTOMER_STATE_RESPONSE__ANSWER_NOT_MODIFIED:
      self = .notModified(revision: message.revision)
    default:
      throw Self.error(.missing(field: "answer"))
    }
  }

  func write(
    to message: inout Entitle__V1__GetCustomerStateResponse, in arena: MessageArena
  ) throws(MessageError) {
    message.revision = revision
    switch self {
    case .state(let state):
      message.state = try state.make(in: arena)
      message.answer_case = ENTITLE__V1__GET_CUSTOMER_STATE_RESPONSE__ANSWER_STATE
    case .notModified:
      message.not_modified = 1
      message.answer_case = ENTITLE__V1__GET_CUSTOMER_STATE_RESPONSE__ANSWER_NOT_MODIFIED
    }
  }
}

extension BatchGetCustomerStateResponse {
  /// The message whose results are these, each an encoded ``GetCustomerStateResponse``: what
  /// encoding it anew would give, without decoding answers that are held in memory.
  package static func encoded(joining results: [ByteBuffer]) -> ByteBuffer {
    var buffer = ByteBuffer()
    // A tag of one byte, and a length of five at most.
    buffer.reserveCapacity(results.reduce(0) { $0 + $1.readableBytes + 6 })
    for result in results { buffer.writeField(resultsField, bytes: result) }
    return buffer
  }

  /// `results` in `Protos/`; a test compares.
  private static let resultsField: UInt32 = 1
}
