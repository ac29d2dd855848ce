import CEntitleMessages
package import EntitlementDomain
package import NIOCore

/// Deletes what is known of an account itself, and unlinks all that it owns (R46).
package struct DeleteCustomerRequest: Hashable, WireMessage {
  package var scope: AppScope
  package var accountID: AccountID
  /// Not empty; at most ``MessageLimits/reasonLength`` bytes.
  package var reason: String
  /// Not empty; at most ``MessageLimits/authorLength`` bytes.
  package var author: String

  package init(scope: AppScope, accountID: AccountID, reason: String, author: String) {
    self.scope = scope
    self.accountID = accountID
    self.reason = reason
    self.author = author
  }

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension DeleteCustomerRequest: MappedMessage {
  static let shape = MessageShape(entitle__v1__delete_customer_request__init)

  init(reading message: Entitle__V1__DeleteCustomerRequest) throws(MessageError) {
    scope = try Self.scope(bundleID: message.bundle_id, environment: message.environment)
    accountID = try Self.required(message.account_id, "account_id")
    reason = try Self.required(message.reason, "reason", limit: MessageLimits.reasonLength)
    author = try Self.required(message.author, "author", limit: MessageLimits.authorLength)
  }

  func write(
    to message: inout Entitle__V1__DeleteCustomerRequest, in arena: MessageArena
  ) throws(MessageError) {
    message.bundle_id = try Self.text(scope.bundleID, "bundle_id", in: arena)
    message.environment = scope.environment.message
    message.account_id = try Self.text(accountID, "account_id", in: arena)
    message.reason = try Self.text(reason, "reason", in: arena)
    message.author = try Self.text(author, "author", in: arena)
  }
}
