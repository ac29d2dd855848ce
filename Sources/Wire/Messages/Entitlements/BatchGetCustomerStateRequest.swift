import CEntitleMessages
public import EntitlementDomain
package import NIOCore

/// Asks for the states of several customers of one app and environment.
public struct BatchGetCustomerStateRequest: Hashable, WireMessage {
  /// At most ``MessageLimits/batchSize``.
  public var customers: [CustomerSelector]
  public var scope: AppScope
  public var consistency: ReadConsistency
  /// The moment to answer for, from what is known now; nil is the server's now.
  public var at: Milliseconds?

  public init(
    customers: [CustomerSelector], scope: AppScope,
    consistency: ReadConsistency = .minimizeLatency, at: Milliseconds? = nil
  ) {
    self.customers = customers
    self.scope = scope
    self.consistency = consistency
    self.at = at
  }

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension BatchGetCustomerStateRequest: MappedMessage {
  static let shape = MessageShape(entitle__v1__batch_get_customer_state_request__init)

  init(reading message: Entitle__V1__BatchGetCustomerStateRequest) throws(MessageError) {
    guard message.n_customers <= MessageLimits.batchSize else {
      throw Self.error(.tooMany(field: "customers", limit: MessageLimits.batchSize))
    }
    customers = try Self.list(
      message.customers, count: message.n_customers, of: CustomerSelector.self)
    scope = try Self.scope(bundleID: message.bundle_id, environment: message.environment)
    consistency =
      try Self.optional(message.consistency, as: ReadConsistency.self) ?? .minimizeLatency
    at = message.has_at_ms_case.isSet ? Milliseconds(message.at_ms) : nil
  }

  func write(
    to message: inout Entitle__V1__BatchGetCustomerStateRequest, in arena: MessageArena
  ) throws(MessageError) {
    message.n_customers = customers.count
    message.customers = try Self.list(customers, in: arena)
    message.bundle_id = try Self.text(scope.bundleID, "bundle_id", in: arena)
    message.environment = scope.environment.message
    message.consistency = try consistency.makeUnlessDefault(in: arena)
    if let at {
      message.has_at_ms_case = ENTITLE__V1__BATCH_GET_CUSTOMER_STATE_REQUEST__HAS_AT_MS_AT_MS
      message.at_ms = at.rawValue
    }
  }
}
