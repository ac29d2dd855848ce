import EntitlementDomain
import EntitlementStore
import GRDB

extension Database {
  /// Every grant of an account, oldest first, then by id.
  func grants(ofAccount account: Int64, in scope: AppScope) throws -> [Grant] {
    try rows(.grantsOfAccount, [account]).map { Self.grant($0, in: scope) }
  }

  func grant(_ id: GrantID, in scope: AppScope, scopeID: Int64) throws -> Grant? {
    try row(.findGrant, [scopeID, id.stored]).map { Self.grant($0, in: scope) }
  }

  private static func grant(_ row: Row, in scope: AppScope) -> Grant {
    var grant = Grant(
      id: row.identifier(0), scope: scope, accountID: row.identifier(1),
      entitlementID: row.identifier(2), starts: Milliseconds(row[3]),
      expires: (row[4] as Int64?).map { Milliseconds($0) }, reason: row[5], author: row[6],
      createdAt: Milliseconds(row[7]))
    // The table has all three or none.
    if let at: Int64 = row[8], let author: String = row[9], let reason: String = row[10] {
      grant.withdrawal = GrantWithdrawal(at: Milliseconds(at), author: author, reason: reason)
    }
    return grant
  }
}
