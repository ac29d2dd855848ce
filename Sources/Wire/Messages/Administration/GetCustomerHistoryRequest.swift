import CEntitleMessages
package import EntitlementDomain
package import NIOCore

/// Asks what happened to an account.
package struct GetCustomerHistoryRequest: Hashable, WireMessage {
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

extension GetCustomerHistoryRequest: MappedMessage {
  static let shape = MessageShape(entitle__v1__get_customer_history_request__init)

  init(reading message: Entitle__V1__GetCustomerHistoryRequest) throws(MessageError) {
    scope = try Self.scope(bundleID: message.bundle_id, environment: message.environment)
    accountID = try Self.required(message.account_id, "account_id")
  }

  func write(
    to message: inout Entitle__V1__GetCustomerHistoryRequest, in arena: MessageArena
  ) throws(MessageError) {
    message.bundle_id = try Self.text(scope.bundleID, "bundle_id", in: arena)
    message.environment = scope.environment.message
    message.account_id = try Self.text(accountID, "account_id", in: arena)
  }
}
