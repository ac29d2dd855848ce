import EntitlementDomain
import EntitlementStore

/// Where a row has the columns of a grant, beside that of its account.
struct GrantColumns {
  let id, entitlement, starts, expires, reason, author, createdAt: Int
  /// All three are NULL while it stands.
  let withdrawnAt, withdrawnBy, withdrawalReason: Int

  /// - Parameter account: the column of the account; the others follow as
  ///   ``LoadStatements/grantColumns(_:)`` names them.
  static func following(account: Int) -> GrantColumns {
    GrantColumns(
      id: account + 1, entitlement: account + 2, starts: account + 3, expires: account + 4,
      reason: account + 5, author: account + 6, createdAt: account + 7,
      withdrawnAt: account + 8, withdrawnBy: account + 9, withdrawalReason: account + 10)
  }

  /// Of a row of ``CustomerRowKind/grant``.
  static let ofCustomer = GrantColumns(
    id: 5, entitlement: 6, starts: 1, expires: 2, reason: 7, author: 8, createdAt: 3,
    withdrawnAt: 4, withdrawnBy: 9, withdrawalReason: 10)
}

extension PostgresRows {
  /// - Parameter column: the first of ``LoadStatements/grantColumns(_:)``.
  /// - Throws: ``StoreError/Code/corrupt``.
  func grant(_ row: Int, _ column: Int, scope: AppScope) throws(StoreError) -> Grant {
    try grant(row, .following(account: column), of: identifier(row, column), in: scope)
  }

  /// - Throws: ``StoreError/Code/corrupt``.
  func grant(
    _ row: Int, _ columns: GrantColumns, of account: AccountID, in scope: AppScope
  ) throws(StoreError) -> Grant {
    var grant = Grant(
      id: try identifier(row, columns.id), scope: scope, accountID: account,
      entitlementID: try identifier(row, columns.entitlement),
      starts: try moment(row, columns.starts), expires: try optionalMoment(row, columns.expires),
      reason: try string(row, columns.reason), author: try string(row, columns.author),
      createdAt: try moment(row, columns.createdAt))
    // The table has all three or none.
    if let at = try optionalMoment(row, columns.withdrawnAt),
      let author = try optionalString(row, columns.withdrawnBy),
      let reason = try optionalString(row, columns.withdrawalReason)
    {
      grant.withdrawal = GrantWithdrawal(at: at, author: author, reason: reason)
    }
    return grant
  }
}
