import EntitlementDomain
import GRDB

/// A row of `accounts`: a customer in one scope.
struct AccountRow {
  let id: Int64
  let scopeID: Int64
  let accountID: AccountID
  /// Sequence number of the latest change; 0 when there was none.
  var revision: Int64
  /// When that change was made; nil when there was none.
  private(set) var changedAt: Milliseconds?

  init(_ row: Row) {
    id = row[0]
    scopeID = row[1]
    accountID = row.identifier(2)
    revision = row[3]
    changedAt = revision > 0 ? Milliseconds(row[4]) : nil
  }

  init(id: Int64, scopeID: Int64, accountID: AccountID) {
    self.id = id
    self.scopeID = scopeID
    self.accountID = accountID
    self.revision = 0
  }
}

extension Database {
  func account(_ id: AccountID, scopeID: Int64) throws -> AccountRow? {
    try row(.findAccount, [scopeID, id.stored]).map(AccountRow.init)
  }

  func account(rowID: Int64) throws -> AccountRow? {
    try row(.accountByID, [rowID]).map(AccountRow.init)
  }
}
