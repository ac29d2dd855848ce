import EntitlementDomain
import GRDB

/// A row of `chains`.
struct ChainRow {
  let id: Int64
  let scopeID: Int64
  let originalTransactionID: OriginalTransactionID
  /// The linked account's row; nil while no account has claimed the chain.
  var account: Int64?
  /// Nobody signed what the account was named with: the link leads nothing else to it.
  var isLinkUnsigned: Bool
  /// Sequence number of the latest change as an unlinked chain; 0 when there was none.
  var revision: Int64
  /// When that change was made; nil when there was none.
  private(set) var changedAt: Milliseconds?

  init(_ row: Row) {
    id = row[0]
    scopeID = row[1]
    originalTransactionID = row.identifier(2)
    account = row[3]
    revision = row[4]
    changedAt = revision > 0 ? Milliseconds(row[5]) : nil
    isLinkUnsigned = row[6]
  }

  init(id: Int64, scopeID: Int64, originalTransactionID: OriginalTransactionID) {
    self.id = id
    self.scopeID = scopeID
    self.originalTransactionID = originalTransactionID
    self.account = nil
    self.isLinkUnsigned = false
    self.revision = 0
  }
}

extension Database {
  func chain(_ id: OriginalTransactionID, scopeID: Int64) throws -> ChainRow? {
    try row(.findChain, [scopeID, id.stored]).map(ChainRow.init)
  }

  func chain(rowID: Int64) throws -> ChainRow? {
    try row(.chainByID, [rowID]).map(ChainRow.init)
  }
}
