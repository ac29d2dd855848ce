import EntitlementDomain

// Conditions of claims (R44).
extension Ledger {
  func isWithinLimit(_ claimer: AccountID?, in scope: AppScope) throws -> Bool {
    guard let claimer else { return true }
    let row = try view.account(ScopedAccount(scope, claimer)) ?? AccountRow()
    return row.claimWindow
      .allowsClaim(at: context.at, limit: context.catalog.claimsPerDay(in: scope))
  }

  mutating func countClaim(of claimer: ScopedAccount) throws {
    try view.updateAccount(claimer, at: context.at) { row in
      row.claimWindow.countClaim(at: context.at)
    }
  }

  /// The claims of the account's current window; none after its end.
  func openClaims(of account: ScopedAccount) throws -> ClaimWindow {
    var claims = ClaimWindow()
    if let row = try view.account(account) { claims.add(row.claimWindow, at: context.at) }
    return claims
  }

  // MARK: Claims of one purchase

  /// What the earlier claims of a target say to one more (R93).
  ///
  /// - Parameter row: the row before the claim.
  func course(
    of target: ScopedTarget, _ row: LinkRow, claimedBy claimer: AccountID?
  ) throws -> LinkDecision.Course {
    let claims = ClaimHistory(try presentNames(in: view.events(of: target), target.scope))
    if claims.count(at: context.at) >= context.catalog.claimsPerPurchase(in: target.scope),
      let owner = try provenOwner(of: target, row, claims)
    {
      return .settled(owner)
    }
    return .open(isReturn: claimer.map { claims.isReturn(of: $0) } ?? false)
  }

  /// The account that has a target by proof: by name, by a bound or derived token, by the app transaction
  /// of its purchases, or else as the first one that lost it.
  private func provenOwner(
    of target: ScopedTarget, _ row: LinkRow, _ claims: ClaimHistory
  ) throws -> AccountID? {
    if row.standing == .decided { return row.account }
    let scope = target.scope
    let hints = try self.hints(of: target)
    try view.reader.willRead(hints.keys(in: scope))
    for token in hints.tokens {
      if let found = try account(of: ScopedToken(scope, token)), found.isDecided { return found.id }
    }
    for id in hints.appTransactions {
      // Also one that is contested: a replay of the purchase contests it, and does not move it.
      let link = try view.link(of: ScopedTarget(scope, .appTransaction(id)))
      if let account = link?.account { return account }
    }
    let earliest = try claims.earliestOwner.flatMap { try knownOwner(ScopedAccount(scope, $0))?.id }
    return earliest ?? row.account
  }

  /// Events with the ids that merged accounts have now.
  private func presentNames(in events: [LinkEvent], _ scope: AppScope) throws -> [LinkEvent] {
    let names = Set(events.flatMap { [$0.from, $0.to] }.compactMap(\.self))
    try view.reader.willRead(Set(names.map { .account(ScopedAccount(scope, $0)) }))
    return try events.map { event in
      var event = event
      event.from = try event.from.map { try owner(ScopedAccount(scope, $0)).id }
      event.to = try event.to.map { try owner(ScopedAccount(scope, $0)).id }
      return event
    }
  }

  // MARK: Refused claims

  /// Keeps a refused claim (R91). One without a signature, or of an import, is the word of an operator.
  mutating func noteRefusal(of target: ScopedTarget, by claim: SubmissionClaim) throws {
    if claim.isUnsigned(for: target) || context.takesNothing { return }
    let key = RefusedClaim.Key(target, by: claim.account(in: target.scope))
    if let kept = try view.refusedClaim(key), kept <= context.at,
      context.at < kept.advanced(by: RefusedClaim.repetition)
    {
      return
    }
    view.write(
      RefusedClaim(
        key, author: context.author.map { LinkAuthor($0) }, traceID: context.author?.traceID,
        at: context.at))
  }

  // MARK: Access

  /// Whether a target of an account is in force at the time of the submission, by its own facts. An
  /// app transaction is also in force by a chain of the account that carries its id. An active
  /// customer must not lose the app transaction, as later chains are linked by it (R42).
  func isInForce(_ target: ScopedTarget, of owner: AccountID?) throws -> Bool {
    let scope = target.scope
    if isInForce(try view.facts(of: target), in: scope) { return true }
    guard case .appTransaction(let id) = target.target, let owner else { return false }
    let chains = try view.holdings(of: ScopedAccount(scope, owner)).targets
      .map { ScopedTarget(scope, $0) }.filter { $0.unlinkedSubject != nil }
    try view.reader.willRead(Set(chains.map { .facts($0) }))
    return try chains.contains { chain in
      let facts = try view.facts(of: chain)
      return facts.contains { FactHints($0).appTransactionID == id } && isInForce(facts, in: scope)
    }
  }

  /// A product that is not in the catalog confers nothing (R14), but counts here. An outdated
  /// catalog must not move a paid purchase to another account.
  private func isInForce(_ facts: [Fact], in scope: AppScope) -> Bool {
    let record = CustomerRecord(scope: scope, facts: facts)
    let state = Evaluation.state(of: record, catalog: context.catalog, at: context.at)
    return state.coreState == .active
      || state.products.contains { $0.standing.coreState == .active }
  }
}

extension AccountRow {
  var claimWindow: ClaimWindow {
    get { ClaimWindow(count: claims, since: claimsSince) }
    set {
      claims = newValue.count
      claimsSince = newValue.since
    }
  }
}

/// The account that a submission names, with the facts that it is named with.
struct SubmissionClaim {
  /// The id as named. In each app and environment it may be an alias of another account.
  let named: AccountID
  private let accounts: [AppScope: AccountID]
  private let signed: Set<ScopedTarget>

  /// - Parameter account: resolves an alias to its account.
  init(
    named: AccountID, merges: [FactMerge], account: (ScopedAccount) throws -> ScopedAccount
  ) rethrows {
    self.named = named
    var accounts: [AppScope: AccountID] = [:]
    var signed: Set<ScopedTarget> = []
    for merge in merges {
      let scope = merge.target.scope
      if accounts[scope] == nil {
        accounts[scope] = try account(ScopedAccount(scope, named)).id
      }
      if merge.fact.authority.isSigned { signed.insert(merge.target) }
    }
    self.accounts = accounts
    self.signed = signed
  }

  func account(in scope: AppScope) -> AccountID { accounts[scope] ?? named }

  /// Whether all facts of the submission about the target are unsigned.
  func isUnsigned(for target: ScopedTarget) -> Bool { !signed.contains(target) }
}
