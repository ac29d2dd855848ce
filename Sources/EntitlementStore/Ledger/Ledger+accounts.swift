import EntitlementDomain

extension Ledger {
  /// The account itself, or the one that it was merged into.
  func owner(_ account: ScopedAccount) throws -> ScopedAccount {
    guard let other = try view.account(account)?.mergedInto else { return account }
    return ScopedAccount(account.scope, other)
  }

  /// As ``owner(_:)``; nil for an unknown or deleted account.
  func knownOwner(_ account: ScopedAccount) throws -> ScopedAccount? {
    let owner = try owner(account)
    guard let row = try view.account(owner), !row.isDeleted else { return nil }
    return owner
  }

  /// Creates an account that is unknown or was deleted. A deleted account keeps its granted claims,
  /// so that a deletion does not reset the limit (R44).
  mutating func ensureAccount(_ account: ScopedAccount) throws {
    if let row = try view.account(account), !row.isDeleted { return }
    try view.updateAccount(account, at: context.at) { $0.isDeleted = false }
  }

  /// Merges one account into another. Granted claims of both count together (R44), so that several
  /// accounts cannot be merged to exceed the limit.
  ///
  /// - Parameters:
  ///   - former: must not be merged itself.
  ///   - account: another account, which must not be merged itself either.
  mutating func merge(_ former: ScopedAccount, into account: ScopedAccount) throws {
    let scope = former.scope
    let holdings = try view.holdings(of: former)
    try view.reader.willRead(holdings.keys(in: scope))
    try ensureAccount(account)
    try forEach(holdings.targets) { ledger, target in
      let target = ScopedTarget(scope, target)
      try ledger.moveLink(of: target, to: account.id, reason: .merged)
      // The claim of this submission was refused before, and the merge grants it.
      ledger.affected[target]?.refusal = nil
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
      try ledger.view.updateAccount(ScopedAccount(scope, alias), at: ledger.context.at) {
        $0.mergedInto = account.id
      }
    }
    let claims = try openClaims(of: former)
    try view.updateAccount(account, at: context.at) { row in
      row.claimWindow.add(claims, at: context.at)
    }
    try view.updateAccount(former, at: context.at) { row in
      row.mergedInto = account.id
      row.claimWindow = ClaimWindow()
    }
    affected.addMergedAway(former)
    let kinds: ChangeKinds = holdings.grants.isEmpty ? .merged : [.merged, .grants]
    affected.add(kinds, to: former)
    affected.add(kinds, to: account)
  }

  /// Deletes an account and its aliases (R46). Its targets stay as unlinked ones, which hints may
  /// link again. The rows of the account and its aliases keep their revision and the claims of the
  /// last day (R44), in case the account is created again under one of these ids.
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
      try ledger.view.updateAccount(name, at: ledger.context.at) { row in
        row = AccountRow(revision: row.revision, isDeleted: true)
        row.claimWindow = claims
      }
      ledger.affected.add(.deleted, to: name)
    }
    view.erase(Set(names))
  }
}
