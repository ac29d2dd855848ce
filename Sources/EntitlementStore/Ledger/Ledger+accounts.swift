import EntitlementDomain

extension Ledger {
  /// The account that a name means: itself, or the one that it was merged into.
  func owner(_ account: ScopedAccount) throws -> ScopedAccount {
    guard let other = try view.account(account)?.mergedInto else { return account }
    return ScopedAccount(account.scope, other)
  }

  /// Nil when nothing is known of the account.
  func knownOwner(_ account: ScopedAccount) throws -> ScopedAccount? {
    let owner = try owner(account)
    guard let row = try view.account(owner), !row.isDeleted else { return nil }
    return owner
  }

  /// Makes an account, also one that was deleted.
  mutating func keepAccount(_ account: ScopedAccount) throws {
    if let row = try view.account(account), !row.isDeleted { return }
    try view.updateAccount(account, at: occasion.at) { $0.isDeleted = false }
  }

  // MARK: Claims

  /// Whether a claim merges the owner into the claimer: an anonymous account into one that is not
  /// (R44). An account that another name was merged into is as anonymous as all its names.
  func isMerge(of owner: AccountID?, by claim: SubmissionClaim?, in scope: AppScope) throws
    -> Bool
  {
    func isAnonymous(_ account: AccountID) -> Bool {
      occasion.catalog.isAnonymous(account, in: scope)
    }
    guard let owner, let claim, isAnonymous(owner) else { return false }
    let claimer = [claim.named, claim.account(in: scope)]
    if claimer.allSatisfy(isAnonymous) { return false }
    return try view.holdings(of: ScopedAccount(scope, owner)).merged.allSatisfy(isAnonymous)
  }

  func isWithinLimit(_ claimer: AccountID?, in scope: AppScope) throws -> Bool {
    guard let claimer else { return true }
    let row = try view.account(ScopedAccount(scope, claimer)) ?? AccountRow()
    return ClaimWindow(count: row.claims, since: row.claimsSince)
      .allowsClaim(at: occasion.at, limit: occasion.catalog.claimsPerDay(in: scope))
  }

  mutating func countClaim(of claimer: ScopedAccount) throws {
    try view.updateAccount(claimer, at: occasion.at) { row in
      var window = ClaimWindow(count: row.claims, since: row.claimsSince)
      window.countClaim(at: occasion.at)
      row.claims = window.count
      row.claimsSince = window.since
    }
  }

  // MARK: Merging and deleting

  /// Gives everything of one account to another, which is what its name means from now on. The
  /// other's claims stay counted as they are.
  ///
  /// - Parameters:
  ///   - former: not merged into another itself.
  ///   - account: as `former`; another one.
  mutating func merge(_ former: ScopedAccount, into account: ScopedAccount) throws {
    let scope = former.scope
    let holdings = try view.holdings(of: former)
    try view.reader.willRead(holdings.keys(in: scope))
    try keepAccount(account)
    try forEach(holdings.targets) { ledger, target in
      let target = ScopedTarget(scope, target)
      try ledger.moveLink(of: target, to: account.id, reason: .merged)
      // Claimed in vain a moment ago, it is the claimer's now.
      ledger.concerns[target]?.refusal = nil
    }
    for token in holdings.tokens {
      view.setAccount(account.id, of: ScopedToken(scope, token))
    }
    for grant in holdings.grants {
      var grant = grant
      grant.accountID = account.id
      view.setGrant(grant, of: ScopedGrant(scope, grant.id))
    }
    try forEach(holdings.merged) { ledger, alias in
      try ledger.view.updateAccount(ScopedAccount(scope, alias), at: ledger.occasion.at) {
        $0.mergedInto = account.id
      }
    }
    try view.updateAccount(former, at: occasion.at) { $0.mergedInto = account.id }
    concerns.addMergedAway(former)
    let kinds: ChangeKinds = holdings.grants.isEmpty ? .merged : [.merged, .grants]
    concerns.add(kinds, to: former)
    concerns.add(kinds, to: account)
  }

  /// Forgets an account and every name that was merged into it (R46). What it owned stays, without
  /// an account; hints lead it to one again when they next have reason to.
  mutating func delete(_ account: ScopedAccount) throws {
    let scope = account.scope
    let holdings = try view.holdings(of: account)
    try view.reader.willRead(holdings.keys(in: scope))
    try forEach(holdings.targets) { ledger, target in
      try ledger.moveLink(of: ScopedTarget(scope, target), to: nil, reason: .deleted)
    }
    for token in holdings.tokens { view.setAccount(nil, of: ScopedToken(scope, token)) }
    for grant in holdings.grants { view.setGrant(nil, of: ScopedGrant(scope, grant.id)) }
    let names = [account] + holdings.merged.map { ScopedAccount(scope, $0) }
    try forEach(names) { ledger, name in
      try ledger.view.updateAccount(name, at: ledger.occasion.at) { row in
        row = AccountRow(revision: row.revision, isDeleted: true)
      }
      ledger.concerns.add(.deleted, to: name)
    }
    view.erase(Set(names))
  }
}

extension AccountHoldings {
  /// The rows that moving all of it reads.
  fileprivate func keys(in scope: AppScope) -> Set<LedgerKey> {
    Set(targets.map { .link(ScopedTarget(scope, $0)) })
      .union(merged.map { .account(ScopedAccount(scope, $0)) })
  }
}
