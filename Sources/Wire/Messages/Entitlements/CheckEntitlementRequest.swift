import CEntitleMessages
public import EntitlementDomain
package import NIOCore

/// Asks whether one customer has one entitlement.
public struct CheckEntitlementRequest: Hashable, WireMessage {
  public var customer: CustomerSelector
  public var scope: AppScope
  public var entitlementID: EntitlementID
  public var consistency: ReadConsistency
  /// The moment to answer for, from what is known now; nil is the server's now.
  public var at: Milliseconds?

  public init(
    customer: CustomerSelector, scope: AppScope, entitlementID: EntitlementID,
    consistency: ReadConsistency = .minimizeLatency, at: Milliseconds? = nil
  ) {
    self.customer = customer
    self.scope = scope
    self.entitlementID = entitlementID
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

extension CheckEntitlementRequest: MappedMessage {
  static let shape = MessageShape(entitle__v1__check_entitlement_request__init)

  init(reading message: Entitle__V1__CheckEntitlementRequest) throws(MessageError) {
    customer = try Self.required(message.customer, as: CustomerSelector.self, "customer")
    scope = try Self.scope(bundleID: message.bundle_id, environment: message.environment)
    entitlementID = try Self.required(message.entitlement_id, "entitlement_id")
    consistency =
      try Self.optional(message.consistency, as: ReadConsistency.self) ?? .minimizeLatency
    at = message.has_at_ms_case.isSet ? Milliseconds(message.at_ms) : nil
  }

  func write(
    to message: inout Entitle__V1__CheckEntitlementRequest, in arena: MessageArena
  ) throws(MessageError) {
    message.customer = try customer.make(in: arena)
    message.bundle_id = try Self.text(scope.bundleID, "bundle_id", in: arena)
    message.environment = scope.environment.message
    message.entitlement_id = try Self.text(entitlementID, "entitlement_id", in: arena)
    message.consistency = try consistency.makeUnlessDefault(in: arena)
    if let at {
      message.has_at_ms_case = ENTITLE__V1__CHECK_ENTITLEMENT_REQUEST__HAS_AT_MS_AT_MS
      message.at_ms = at.rawValue
    }
  }
}
