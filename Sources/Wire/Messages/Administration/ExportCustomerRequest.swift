import CEntitleMessages
package import EntitlementDomain
package import NIOCore

/// Asks for all that is known of an account.
package struct ExportCustomerRequest: Hashable, WireMessage {
  package var scope: AppScope
  package var accountID: AccountID

  package init(scope: AppScope, accountID: AccountID) {
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

extension ExportCustomerRequest: MappedMessage {
  static let shape = MessageShape(entitle__v1__export_customer_request__init)

  init(reading message: Entitle__V1__ExportCustomerRequest) throws(MessageError) {
    scope = try Self.scope(bundleID: message.bundle_id, environment: message.environment)
    accountID = try Self.required(message.account_id, "account_id")
  }

  func write(
    to message: inout Entitle__V1__ExportCustomerRequest, in arena: MessageArena
  ) throws(MessageError) {
    message.bundle_id = try Self.text(scope.bundleID, "bundle_id", in: arena)
    message.environment = scope.environment.message
    message.account_id = try Self.text(accountID, "account_id", in: arena)
  }
}
