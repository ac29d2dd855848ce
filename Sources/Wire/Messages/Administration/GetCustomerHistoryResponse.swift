import CEntitleMessages
package import EntitlementDomain
package import NIOCore

/// What happened to an account.
package struct GetCustomerHistoryResponse: Hashable, WireMessage {
  /// The account: the one that it was merged into, where it was.
  package var accountID: AccountID
  /// Oldest first; at most ``MessageLimits/historyLength``, the latest.
  package var entries: [CustomerHistoryEntry]

  package init(accountID: AccountID, entries: [CustomerHistoryEntry]) {
    self.accountID = accountID
    self.entries = entries
  }

  package static func decode(from buffer: ByteBuffer) throws(MessageError) -> Self {
    try read(from: buffer)
  }

  package func encode(into buffer: inout ByteBuffer) throws(MessageError) {
    try append(to: &buffer)
  }
}

extension GetCustomerHistoryResponse: MappedMessage {
  static let shape = MessageShape(entitle__v1__get_customer_history_response__init)

  init(reading message: Entitle__V1__GetCustomerHistoryResponse) throws(MessageError) {
    accountID = Self.identifier(message.account_id)
    entries = try Self.list(
      message.entries, count: message.n_entries, of: CustomerHistoryEntry.self,
      where: CustomerHistoryEntry.isKnown)
  }

  func write(
    to message: inout Entitle__V1__GetCustomerHistoryResponse, in arena: MessageArena
  ) throws(MessageError) {
    message.account_id = try Self.text(accountID, "account_id", in: arena)
    message.n_entries = entries.count
    message.entries = try Self.list(entries, in: arena)
  }
}
