import EntitlementDomain

// What a claim is judged by (R44).
extension Ledger {
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
    return row.claimWindow
      .allowsClaim(at: occasion.at, limit: occasion.catalog.claimsPerDay(in: scope))
  }

  mutating func countClaim(of claimer: ScopedAccount) throws {
    try view.updateAccount(claimer, at: occasion.at) { row in
      row.claimWindow.countClaim(at: occasion.at)
    }
  }

  /// The claims of an account that still count; none where its window is over.
  func openClaims(of account: ScopedAccount) throws -> ClaimWindow {
    var claims = ClaimWindow()
    if let row = try view.account(account) { claims.add(row.claimWindow, at: occasion.at) }
    return claims
  }

  // MARK: What is in force

  /// Whether what belongs to an account is in force at the moment of the submission: by its own
  /// facts, and an app transaction also by a chain of the account that carries its id. A customer who
  /// is active by such a chain must not lose the app transaction, which later chains follow (R42).
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

  /// A product that the catalog does not name confers nothing (R14), and is paid for all the same: a
  /// catalog that lags behind the App Store must give nobody's purchase away.
  private func isInForce(_ facts: [Fact], in scope: AppScope) -> Bool {
    let record = CustomerRecord(scope: scope, facts: facts)
    let state = Evaluation.state(of: record, catalog: occasion.catalog, at: occasion.at)
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
