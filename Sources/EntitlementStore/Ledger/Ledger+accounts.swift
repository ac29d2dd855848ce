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

  // MARK: Room

  /// An account without room for chains.
  struct FullAccount {
    let account: ScopedAccount
    /// The first of the chains; nil for those of an anonymous account.
    let chain: OriginalTransactionID?
    var refusedChains: Int
  }

  /// Whether an account may get a target that it does not have (R68). Only chains are counted.
  func hasRoom(_ account: ScopedAccount, for target: ScopedTarget) throws -> Bool {
    guard case .chain = target.target else { return true }
    return try hasRoom(account, forChains: 1)
  }

  func hasRoom(_ account: ScopedAccount, forChains count: Int) throws -> Bool {
    let chains = try view.account(account)?.chains ?? 0
    return count == 0 || chains + count <= context.catalog.chainsPerAccount(in: account.scope)
  }

  /// Notes an event for operators. Repeats of a submission add none.
  mutating func noteFull(_ account: ScopedAccount, for target: ScopedTarget) {
    guard case .chain(let chain) = target.target, affected[target]?.hasNewFacts ?? true
    else { return }
    noteFull(account, chain, refusedChains: 1)
  }

  private mutating func noteFull(
    _ account: ScopedAccount, _ chain: OriginalTransactionID?, refusedChains: Int
  ) {
    if let index = fullAccounts.firstIndex(where: { $0.account == account }) {
      fullAccounts[index].refusedChains += refusedChains
    } else {
      fullAccounts.append(
        FullAccount(account: account, chain: chain, refusedChains: refusedChains))
    }
  }

  // MARK: Merging and deleting

  /// Merges the anonymous account that a submission names next to its account, in each app and
  /// environment of its facts (R75). It is not a claim: the caller, which is trusted to name
  /// accounts, named both.
  mutating func mergeAnonymousAccount(of submission: Submission, in scopes: [AppScope]) throws {
    guard let named = submission.accountID, let anonymous = submission.anonymousAccountID
    else { return }
    try forEach(Set(scopes)) { ledger, scope in
      guard let former = try ledger.knownOwner(ScopedAccount(scope, anonymous)),
        try ledger.isAnonymous(former)
      else { return }
      let account = try ledger.owner(ScopedAccount(scope, named))
      if former == account { return }
      let chains = try ledger.view.account(former)?.chains ?? 0
      if try ledger.hasRoom(account, forChains: chains) {
        try ledger.merge(former, into: account)
      } else {
        ledger.noteFull(account, nil, refusedChains: chains)
      }
    }
  }

  /// Whether the ids of an account and of all accounts that were merged into it are anonymous.
  private func isAnonymous(_ account: ScopedAccount) throws -> Bool {
    let merged = try view.holdings(of: account).merged
    return ([account.id] + merged).allSatisfy {
      context.catalog.isAnonymous($0, in: account.scope)
    }
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
      try ledger.moveLink(of: ScopedTarget(scope, target), to: account.id, reason: .merged)
    }
    try forEach(holdings.tokens) { ledger, token in
      let token = ScopedToken(scope, token)
      guard var row = try ledger.view.token(token) else { return }
      row.account = account.id
      ledger.view.setToken(row, of: token)
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
    try mergeConsent(of: former, hasPurchases: !holdings.targets.isEmpty, into: account)
    affected.addMergedAway(former)
    let kinds: ChangeKinds = holdings.grants.isEmpty ? .merged : [.merged, .grants]
    affected.add(kinds, to: former)
    affected.add(kinds, to: account)
  }

  /// Both must have consented (R86). A refusal stays; consent of one alone is deleted, as the other's
  /// purchases were bought without it. An account that brings neither purchases nor consent changes
  /// nothing. Consent that is lost is in the audit trail.
  private mutating func mergeConsent(
    of former: ScopedAccount, hasPurchases: Bool, into account: ScopedAccount
  ) throws {
    let (one, other) = (try view.consent(of: former), try view.consent(of: account))
    if one == nil, other == nil || !hasPurchases { return }
    let isCommon = one?.isGiven == true && other?.isGiven == true
    let refusal = [other, one].compactMap(\.self).first { !$0.isGiven }
    let merged = isCommon ? other : refusal
    if merged != other { view.setConsent(merged, of: account) }
    if one != nil { view.setConsent(nil, of: former) }
    let wasGiven = one?.isGiven == true || other?.isGiven == true
    guard wasGiven, !isCommon else { return }
    let caller = context.caller
    context.caller = .server
    audit(
      "SetConsumptionConsent", in: account.scope, account.id, from: former.id,
      subject: "deleted by a merge")
    context.caller = caller
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
    try forEach(holdings.tokens) { ledger, token in
      let token = ScopedToken(scope, token)
      // An ambiguous token was presented for another account too, which must not get it (R71).
      let isAmbiguous = try ledger.view.token(token)?.state == .ambiguous
      ledger.view.setToken(
        isAmbiguous ? TokenRow(account: nil, state: .ambiguous, since: ledger.context.at) : nil,
        of: token)
    }
    for grant in holdings.grants { view.setGrant(nil, of: ScopedGrant(scope, grant.id)) }
    if try view.consent(of: account) != nil { view.setConsent(nil, of: account) }
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
