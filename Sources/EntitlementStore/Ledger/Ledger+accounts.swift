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

  /// Makes an account, also one that was deleted: with the claims that it was granted then, so that
  /// a deletion gives nobody new ones (R44).
  mutating func keepAccount(_ account: ScopedAccount) throws {
    if let row = try view.account(account), !row.isDeleted { return }
    try view.updateAccount(account, at: occasion.at) { $0.isDeleted = false }
  }

  /// Gives everything of one account to another, which is what its name means from now on. What the
  /// one claimed of others counts as claimed by the other (R44): nobody gets more by claiming under
  /// several names and merging them.
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
    let claims = try openClaims(of: former)
    try view.updateAccount(account, at: occasion.at) { row in
      row.claimWindow.add(claims, at: occasion.at)
    }
    try view.updateAccount(former, at: occasion.at) { row in
      row.mergedInto = account.id
      row.claimWindow = ClaimWindow()
    }
    concerns.addMergedAway(former)
    let kinds: ChangeKinds = holdings.grants.isEmpty ? .merged : [.merged, .grants]
    concerns.add(kinds, to: former)
    concerns.add(kinds, to: account)
  }

  /// Forgets an account and every name that was merged into it (R46). What it owned stays, without
  /// an account; hints lead it to one again when they next have reason to. Of the account itself its
  /// revision is kept, and what it claimed of others within a day (R44): by whichever of its names it
  /// returns.
  mutating func delete(_ account: ScopedAccount) throws {
    let scope = account.scope
    let holdings = try view.holdings(of: account)
    try view.reader.willRead(holdings.keys(in: scope))
    try forEach(holdings.targets) { ledger, target in
      try ledger.moveLink(of: ScopedTarget(scope, target), to: nil, reason: .deleted)
    }
    for token in holdings.tokens { view.setAccount(nil, of: ScopedToken(scope, token)) }
    for grant in holdings.grants { view.setGrant(nil, of: ScopedGrant(scope, grant.id)) }
    let claims = try openClaims(of: account)
    let names = [account] + holdings.merged.map { ScopedAccount(scope, $0) }
    try forEach(names) { ledger, name in
      try ledger.view.updateAccount(name, at: ledger.occasion.at) { row in
        row = AccountRow(revision: row.revision, isDeleted: true)
        row.claimWindow = claims
      }
      ledger.concerns.add(.deleted, to: name)
    }
    view.erase(Set(names))
  }
}
