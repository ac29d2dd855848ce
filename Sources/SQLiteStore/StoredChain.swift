import EntitlementDomain
import GRDB

/// A row of `chains`.
struct StoredChain {
  let id: Int64
  let scopeID: Int64
  let originalTransactionID: OriginalTransactionID
  /// Row id of the linked account; nil if the chain is not linked.
  let account: Int64?
  /// Sequence number of the latest change as an unlinked chain; 0 when there was none.
  let revision: Int64
  /// When that change was made; nil when there was none.
  let changedAt: Milliseconds?
  /// The link comes from unsigned data, so no other target is linked by it.
  let isLinkUnsigned: Bool
  /// An operator detached the chain from its account, so hints do not link it again.
  let isDetached: Bool
  /// A signed transaction of another chain was once of this one (R55).
  let isFormerChain: Bool

  init(_ row: Row) {
    id = row[0]
    scopeID = row[1]
    originalTransactionID = row.identifier(2)
    account = row[3]
    revision = row[4]
    changedAt = revision > 0 ? Milliseconds(row[5]) : nil
    isLinkUnsigned = row[6]
    isDetached = row[7]
    isFormerChain = row[8]
  }
}

extension Database {
  func chain(_ id: OriginalTransactionID, scopeID: Int64) throws -> StoredChain? {
    try row(.findChain, [scopeID, id.stored]).map(StoredChain.init)
  }

  func chain(rowID: Int64) throws -> StoredChain? {
    try row(.chainByID, [rowID]).map(StoredChain.init)
  }
}
