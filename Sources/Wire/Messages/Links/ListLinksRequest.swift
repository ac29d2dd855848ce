import CEntitleMessages
public import EntitlementDomain
package import NIOCore

/// Asks what an account owns.
public struct ListLinksRequest: Hashable, WireMessage {
  public var scope: AppScope
  public var accountID: AccountID

  public init(scope: AppScope, accountID: AccountID) {
    self.scope = scope
    self.accountID = accountID
  }

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension ListLinksRequest: MappedMessage {
  static let shape = MessageShape(entitle__v1__list_links_request__init)

  init(reading message: Entitle__V1__ListLinksRequest) throws(MessageError) {
    scope = try Self.scope(bundleID: message.bundle_id, environment: message.environment)
    accountID = try Self.required(message.account_id, "account_id")
  }

  func write(
    to message: inout Entitle__V1__ListLinksRequest, in arena: MessageArena
  ) throws(MessageError) {
    message.bundle_id = try Self.text(scope.bundleID, "bundle_id", in: arena)
    message.environment = scope.environment.message
    message.account_id = try Self.text(accountID, "account_id", in: arena)
  }
}
