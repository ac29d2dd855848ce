import CEntitleMessages
public import EntitlementDomain
package import NIOCore

/// Asks why the state of one customer is what it is.
public struct ExplainCustomerStateRequest: Hashable, WireMessage {
  public var customer: CustomerSelector
  public var scope: AppScope
  /// The moment to answer for, from what is known now; nil is the server's now.
  public var at: Milliseconds?
  /// The catalog to answer under, at most ``MessageLimits/catalogLength`` bytes and not kept; nil
  /// is the one in force.
  public var catalogYAML: String?

  public init(
    customer: CustomerSelector, scope: AppScope, at: Milliseconds? = nil,
    catalogYAML: String? = nil
  ) {
    self.customer = customer
    self.scope = scope
    self.at = at
    self.catalogYAML = catalogYAML
  }

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension ExplainCustomerStateRequest: MappedMessage {
  static let shape = MessageShape(entitle__v1__explain_customer_state_request__init)

  init(reading message: Entitle__V1__ExplainCustomerStateRequest) throws(MessageError) {
    customer = try Self.required(message.customer, as: CustomerSelector.self, "customer")
    scope = try Self.scope(bundleID: message.bundle_id, environment: message.environment)
    at = message.has_at_ms_case.isSet ? Milliseconds(message.at_ms) : nil
    catalogYAML = try Self.bounded(
      message.catalog_yaml, "catalog_yaml", limit: MessageLimits.catalogLength)
  }

  func write(
    to message: inout Entitle__V1__ExplainCustomerStateRequest, in arena: MessageArena
  ) throws(MessageError) {
    message.customer = try customer.make(in: arena)
    message.bundle_id = try Self.text(scope.bundleID, "bundle_id", in: arena)
    message.environment = scope.environment.message
    if let at {
      message.has_at_ms_case = ENTITLE__V1__EXPLAIN_CUSTOMER_STATE_REQUEST__HAS_AT_MS_AT_MS
      message.at_ms = at.rawValue
    }
    message.catalog_yaml = try Self.text(catalogYAML, "catalog_yaml", in: arena)
  }
}
