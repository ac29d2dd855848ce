import EntitlementDomain

// Operators' grants (R32).
extension Ledger {
  mutating func addGrant(_ grant: Grant) throws -> @Sendable (ChangeNumbering) -> GrantReceipt {
    let id = ScopedGrant(grant.scope, grant.id)
    if let known = try view.grant(id) { return try receipt(known, isChanged: false) }
    let account = try owner(ScopedAccount(grant.scope, grant.accountID))
    var grant = grant
    grant.accountID = account.id
    try ensureAccount(account)
    audit("AddGrant", in: grant.scope, grant.accountID, subject: grant.id.rawValue)
    return try setGrant(grant, as: id)
  }

  /// - Returns: nil for an unknown grant.
  mutating func withdrawGrant(_ id: ScopedGrant, _ withdrawal: GrantWithdrawal) throws
    -> (@Sendable (ChangeNumbering) -> GrantReceipt)?
  {
    guard var grant = try view.grant(id) else { return nil }
    if grant.withdrawal != nil { return try receipt(grant, isChanged: false) }
    grant.withdrawal = withdrawal
    audit("WithdrawGrant", in: grant.scope, grant.accountID, subject: grant.id.rawValue)
    return try setGrant(grant, as: id)
  }

  private mutating func setGrant(_ grant: Grant, as id: ScopedGrant) throws
    -> @Sendable (ChangeNumbering) -> GrantReceipt
  {
    view.setGrant(grant, of: id)
    affected.add(.grants, to: ScopedAccount(grant.scope, grant.accountID))
    _ = try appendChanges()
    return try receipt(grant, isChanged: true)
  }

  private func receipt(_ grant: Grant, isChanged: Bool) throws
    -> @Sendable (ChangeNumbering) -> GrantReceipt
  {
    let subject = CustomerSubject.account(grant.scope, grant.accountID)
    let revision = try view.revision(of: subject)
    return { numbering in
      GrantReceipt(
        grant: grant,
        customer: CustomerRevision(subject: subject, revision: revision.number(numbering)),
        isChanged: isChanged)
    }
  }
}
