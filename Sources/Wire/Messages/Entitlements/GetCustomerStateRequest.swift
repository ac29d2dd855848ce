import CEntitleMessages
public import EntitlementDomain
package import NIOCore

/// Asks for the state of one customer.
public struct GetCustomerStateRequest: Hashable, WireMessage {
  public var customer: CustomerSelector
  public var scope: AppScope
  public var consistency: ReadConsistency
  /// The moment to answer for, from what is known now; nil is the server's now.
  public var at: Milliseconds?
  /// A customer who still has this revision, and whom time alone has not changed since, is answered
  /// with ``GetCustomerStateResponse/notModified(revision:)``.
  public var ifRevisionDiffers: Int64?

  public init(
    customer: CustomerSelector, scope: AppScope, consistency: ReadConsistency = .minimizeLatency,
    at: Milliseconds? = nil, ifRevisionDiffers: Int64? = nil
  ) {
    self.customer = customer
    self.scope = scope
    self.consistency = consistency
    self.at = at
    self.ifRevisionDiffers = ifRevisionDiffers
  }

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension GetCustomerStateRequest: MappedMessage {
  static let shape = MessageShape(entitle__v1__get_customer_state_request__init)

  init(reading message: Entitle__V1__GetCustomerStateRequest) throws(MessageError) {
    customer = try Self.required(message.customer, as: CustomerSelector.self, "customer")
    scope = try Self.scope(bundleID: message.bundle_id, environment: message.environment)
    consistency =
      try Self.optional(message.consistency, as: ReadConsistency.self) ?? .minimizeLatency
    at = message.has_at_ms_case.isSet ? Milliseconds(message.at_ms) : nil
    ifRevisionDiffers =
      message.has_if_revision_differs_case.isSet ? message.if_revision_differs : nil
  }

  func write(
    to message: inout Entitle__V1__GetCustomerStateRequest, in arena: MessageArena
  ) throws(MessageError) {
    message.customer = try customer.make(in: arena)
    message.bundle_id = try Self.text(scope.bundleID, "bundle_id", in: arena)
    message.environment = scope.environment.message
    message.consistency = try consistency.makeUnlessDefault(in: arena)
    if let at {
      message.has_at_ms_case = ENTITLE__V1__GET_CUSTOMER_STATE_REQUEST__HAS_AT_MS_AT_MS
      message.at_ms = at.rawValue
    }
    if let ifRevisionDiffers {
      message.has_if_revision_differs_case =
        ENTITLE__V1__GET_CUSTOMER_STATE_REQUEST__HAS_IF_REVISION_DIFFERS_IF_REVISION_DIFFERS
      message.if_revision_differs = ifRevisionDiffers
    }
  }
}
