import CEntitleMessages
public import EntitlementDomain
package import Framing
package import NIOCore

/// How recent the data of an answer must be. The caller chooses for each call.
public enum ReadConsistency: Hashable, Sendable {
  /// From the cache where possible.
  case minimizeLatency
  /// At least as recent as the write that returned this revision.
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

/// The answer about one customer. Its revision is that of the state; for `notModified`, it is the
/// revision in the request, which is still valid.
public enum GetCustomerStateResponse: Hashable, Sendable {
  /// The state of the customer.
  case state(CustomerState)
  /// The revision that the request names is still current.
  case notModified(revision: Int64)

  /// The revision of the state.
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

extension GetCustomerStateResponse {
  /// Where an encoded response has the number of `evaluated_at_ms`.
  ///
  /// - Returns: nil unless the number has the length of a ``StampedMessage/Stamp``.
  package static func evaluationOffset(in answer: ByteBuffer) -> Int? {
    answer.withUnsafeReadableBytes { bytes in try? evaluationOffset(in: bytes) }
  }

  private static func evaluationOffset(
    in bytes: UnsafeRawBufferPointer
  ) throws(WireError) -> Int? {
    var answer = EnvelopeCursor(bytes, of: "GetCustomerStateResponse")
    guard let tag = try answer.readTag(), tag.field == stateField else { return nil }
    let range = try answer.readRange(tag)
    var state = answer.message(in: range, of: "CustomerState")
    while let tag = try state.readTag() {
      guard tag.field == evaluatedAtField else {
        try state.skip(tag)
        continue
      }
      let start = state.offset
      _ = try state.readNumber(tag)
      let isStampable = state.offset - start == StampedMessage.Stamp.length
      return isStampable ? range.lowerBound + start : nil
    }
    return nil
  }

  // Field numbers as in `Protos/`; a test compares them.
  private static let stateField: UInt32 = 1
  private static let evaluatedAtField: UInt32 = 5
}

extension BatchGetCustomerStateResponse {
  /// Encodes the message from encoded results, each a ``GetCustomerStateResponse``. The bytes are
  /// the same as from encoding the decoded message; cached answers need not be decoded.
  package static func encoded(joining results: [StampedMessage]) -> ByteBuffer {
    var buffer = ByteBuffer()
    // A tag takes one byte, a length at most five.
    buffer.reserveCapacity(results.reduce(0) { $0 + $1.readableBytes + 6 })
    for result in results { buffer.writeField(resultsField, message: result) }
    return buffer
  }

  /// The number of `results` in `Protos/`; a test compares it.
  private static let resultsField: UInt32 = 1
}
