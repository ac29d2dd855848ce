import EntitlementDomain
import GRDB

/// A row of `chains`.
struct StoredChain {
  let id: Int64
  let scopeID: Int64
  let originalTransactionID: OriginalTransactionID
  /// The linked account's row; nil while no account has the chain.
  let account: Int64?
  /// Sequence number of the latest change as an unlinked chain; 0 when there was none.
  let revision: Int64
  /// When that change was made; nil when there was none.
  let changedAt: Milliseconds?
  /// Nobody signed what the account was named with: the link leads nothing else to it.
  let isLinkUnsigned: Bool
  /// An operator took it from its account: hints do not lead it to one.
  let isDetached: Bool

  init(_ row: Row) {
    id = row[0]
    scopeID = row[1]
    originalTransactionID = row.identifier(2)
    account = row[3]
    revision = row[4]
    changedAt = revision > 0 ? Milliseconds(row[5]) : nil
    isLinkUnsigned = row[6]
    isDetached = row[7]
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
