import CEntitleMessages
public import EntitlementDomain
package import NIOCore

/// Asks whom an identifier leads to.
public struct ResolveAccountRequest: Hashable, WireMessage {
  public var customer: CustomerSelector
  public var scope: AppScope

  public init(customer: CustomerSelector, scope: AppScope) {
    self.customer = customer
    self.scope = scope
  }

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension ResolveAccountRequest: MappedMessage {
  static let shape = MessageShape(entitle__v1__resolve_account_request__init)

  init(reading message: Entitle__V1__ResolveAccountRequest) throws(MessageError) {
    customer = try Self.required(message.customer, as: CustomerSelector.self, "customer")
    scope = try Self.scope(bundleID: message.bundle_id, environment: message.environment)
  }

  func write(
    to message: inout Entitle__V1__ResolveAccountRequest, in arena: MessageArena
  ) throws(MessageError) {
    message.customer = try customer.make(in: arena)
    message.bundle_id = try Self.text(scope.bundleID, "bundle_id", in: arena)
    message.environment = scope.environment.message
  }
}
