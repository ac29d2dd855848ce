import EntitlementDomain
import EntitlementStore
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

  /// An account that something stored names.
  ///
  /// - Throws: ``StoreError/Code/corrupt`` when it is not stored.
  func linkedAccount(_ rowID: Int64) throws -> AccountRow {
    guard let account = try account(rowID: rowID) else {
      throw StoreError(.corrupt, "a link names an account that is not stored")
    }
    return account
  }

  /// The row of an account, made if it is new.
  func internedAccount(_ id: AccountID, scopeID: Int64, at: Milliseconds) throws -> Int64 {
    if let account = try account(id, scopeID: scopeID) { return account.id }
    try run(.insertAccount, [scopeID, id.stored, at.rawValue])
    return lastInsertedRowID
  }
}
