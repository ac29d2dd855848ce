import EntitlementDomain
import EntitlementStore
import GRDB

/// Writes operators' grants (R32) within a transaction that somebody else commits.
struct GrantWriter {
  let database: Database

  func add(_ grant: Grant) throws -> GrantReceipt {
    let scopeID = try database.internedScopeID(grant.scope)
    if let known = try database.grant(grant.id, in: grant.scope, scopeID: scopeID) {
      return try receipt(known.grant, account: known.account, isChanged: false)
    }
    let account = try database.internedAccount(
      grant.accountID, scopeID: scopeID, at: grant.createdAt)
    try database.run(
      .insertGrant,
      [
        scopeID, grant.id.stored, account, grant.entitlementID.stored, grant.starts.rawValue,
        grant.expires?.rawValue, grant.reason.stored, grant.author.stored,
        grant.createdAt.rawValue, grant.withdrawal?.at.rawValue, grant.withdrawal?.author.stored,
        grant.withdrawal?.reason.stored,
      ])
    try database.appendChange(
      .grants, of: .account(account), scopeID: scopeID, at: grant.createdAt)
    return try receipt(grant, account: account, isChanged: true)
  }

  /// - Returns: nil when no grant of the scope has the id.
  func withdraw(_ id: GrantID, in scope: AppScope, _ withdrawal: GrantWithdrawal) throws
    -> GrantReceipt?
  {
    guard let scopeID = try database.scopeID(scope),
      case (var grant, let account)? = try database.grant(id, in: scope, scopeID: scopeID)
    else { return nil }
    guard grant.withdrawal == nil else {
      return try receipt(grant, account: account, isChanged: false)
    }
    grant.withdrawal = withdrawal
    try database.run(
      .withdrawGrant,
      [
        withdrawal.at.rawValue, withdrawal.author.stored, withdrawal.reason.stored, scopeID,
        id.stored,
      ])
    try database.appendChange(.grants, of: .account(account), scopeID: scopeID, at: withdrawal.at)
    return try receipt(grant, account: account, isChanged: true)
  }

  private func receipt(_ grant: Grant, account: Int64, isChanged: Bool) throws -> GrantReceipt {
    GrantReceipt(
      grant: grant,
      customer: CustomerRevision(
        subject: .account(grant.scope, grant.accountID),
        revision: try database.linkedAccount(account).revision),
      isChanged: isChanged)
  }
}
