import CEntitleMessages
package import EntitlementDomain

/// A chain that no account has.
package struct UnlinkedChainEntry: Hashable, Sendable {
  package var originalTransactionID: OriginalTransactionID
  package var revision: Int64
  /// When it last changed.
  package var changedAt: Milliseconds

  package init(
    originalTransactionID: OriginalTransactionID, revision: Int64, changedAt: Milliseconds
  ) {
    self.originalTransactionID = originalTransactionID
    self.revision = revision
    self.changedAt = changedAt
  }
}

extension UnlinkedChainEntry: MappedMessage {
  static let shape = MessageShape(entitle__v1__unlinked_chain__init)

  init(reading message: Entitle__V1__UnlinkedChain) {
    originalTransactionID = Self.identifier(message.original_transaction_id)
    revision = message.revision
    changedAt = Milliseconds(message.changed_at_ms)
  }

  func write(
    to message: inout Entitle__V1__UnlinkedChain, in arena: MessageArena
  ) throws(MessageError) {
    message.original_transaction_id = try Self.text(
      originalTransactionID, "original_transaction_id", in: arena)
    message.revision = revision
    message.changed_at_ms = changedAt.rawValue
  }
}
