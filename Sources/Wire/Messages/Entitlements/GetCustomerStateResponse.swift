import CEntitleMessages
public import EntitlementDomain
package import NIOCore

/// The answer about one customer. Its revision is that of the state, or the one that was named in
/// the request and still holds.
public enum GetCustomerStateResponse: Hashable, WireMessage {
  case state(CustomerState)
  case notModified(revision: Int64)

  public var revision: Int64 {
    switch self {
    case .state(let state): state.revision
    case .notModified(let revision): revision
    }
  }

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension GetCustomerStateResponse: MappedMessage {
  static let shape = MessageShape(entitle__v1__get_customer_state_response__init)

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
