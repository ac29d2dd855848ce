import EntitlementDomain
import EntitlementStore
import GRDB

/// A row of `accounts`: a customer in one scope.
struct StoredAccount {
  let id: Int64
  let scopeID: Int64
  let accountID: AccountID
  /// Sequence number of the latest change; 0 when there was none.
  let revision: Int64
  /// When that change was made; nil when there was none.
  let changedAt: Milliseconds?
  /// Row id of the account that it was merged into.
  let mergedInto: Int64?
  let isDeleted: Bool
  let claims: Int
  let claimsSince: Milliseconds?
  let chains: Int

  init(_ row: Row) {
    id = row[0]
    scopeID = row[1]
    accountID = row.identifier(2)
    revision = row[3]
    changedAt = revision > 0 ? Milliseconds(row[4]) : nil
    mergedInto = row[5]
    isDeleted = row[6]
    claims = row[7]
    claimsSince = (row[8] as Int64?).map { Milliseconds($0) }
    chains = row[9]
  }
}

extension Database {
  func account(_ id: AccountID, scopeID: Int64) throws -> StoredAccount? {
    try row(.findAccount, [scopeID, id.stored]).map(StoredAccount.init)
  }

  func account(rowID: Int64) throws -> StoredAccount? {
    try row(.accountByID, [rowID]).map(StoredAccount.init)
  }

  /// Reads an account that another row refers to.
  ///
  /// - Throws: ``StoreError/Code/corrupt`` when it is not stored.
  func linkedAccount(_ rowID: Int64) throws -> StoredAccount {
    guard let account = try account(rowID: rowID) else {
      throw StoreError(.corrupt, "a stored row refers to an account that is not stored")
    }
    return account
  }

  /// The account with this id, or the account that it was merged into.
  func resolvedAccount(_ id: AccountID, in scope: AppScope) throws -> StoredAccount? {
    guard let scopeID = try scopeID(scope), let account = try account(id, scopeID: scopeID)
    else { return nil }
    return try account.mergedInto.map { try linkedAccount($0) } ?? account
  }
}
