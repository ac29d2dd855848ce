package import EntitlementDomain

// What a write will surely or probably read: a store that reads ahead loads it at once. Loading a
// link brings the row of its account, and loading an account that of the one it was merged into.
extension LedgerKey {
  /// The links of what hints name are among them, so that a store that locks what it loads lets
  /// nobody give these to an account meanwhile.
  package static func expected(by submission: Submission) -> Set<LedgerKey> {
    var keys: Set<LedgerKey> = []
    let isNamed = submission.accountID != nil
    for fact in submission.facts.map(\.fact) {
      let scope = fact.scope
      keys.insert(.standingFact(ScopedFact(scope, fact.key)))
      if let account = submission.accountID { keys.insert(.account(ScopedAccount(scope, account))) }
      add(fact.target, in: scope, isNamed: isNamed, to: &keys)
      guard case .chain(let chain) = fact.target else { continue }
      keys.insert(.hints(scope, chain))
      add(FactHints(fact), in: scope, isNamed: isNamed, to: &keys)
    }
    if let notification = submission.notification {
      keys.insert(.notification(notification.record.uuid))
      for fact in submission.facts.map(\.fact) where notification.record.scope != nil {
        keys.insert(.facts(ScopedTarget(fact.scope, fact.target)))
      }
    }
    return keys
  }

  package static func expected(by request: LinkRequest) -> Set<LedgerKey> {
    let scope = request.scope
    var keys: Set<LedgerKey> = []
    func add(_ account: AccountID) { keys.insert(.account(ScopedAccount(scope, account))) }
    func add(_ target: LinkTarget, isGiven: Bool) {
      Self.add(target, in: scope, isNamed: isGiven, to: &keys)
      switch target {
      case .chain(let chain):
        if isGiven { keys.insert(.hints(scope, chain)) }
      case .appTransaction(let id):
        let key = FactKey(kind: .appTransaction, identifier: id.rawValue)
        keys.insert(.standingFact(ScopedFact(scope, key)))
      }
    }
    switch request.change {
    case .link(let target, let account):
      add(target, isGiven: true)
      add(account)
    case .unlink(let target):
      add(target, isGiven: false)
    case .transfer(let target, let former, let account):
      add(target, isGiven: true)
      if let former { add(former) }
      add(account)
    case .merge(let former, let account):
      add(former)
      add(account)
      keys.insert(.holdings(ScopedAccount(scope, former)))
    case .delete(let account):
      add(account)
      keys.insert(.holdings(ScopedAccount(scope, account)))
    }
    return keys
  }

  package static func expected(by grant: Grant) -> Set<LedgerKey> {
    [
      .grant(ScopedGrant(grant.scope, grant.id)),
      .account(ScopedAccount(grant.scope, grant.accountID)),
    ]
  }

  /// The account is known when the grant is.
  package static func expected(byWithdrawing id: GrantID, in scope: AppScope) -> Set<LedgerKey> {
    [.grant(ScopedGrant(scope, id))]
  }

  // MARK: Steps

  /// - Parameter isNamed: whether it may get an account now that leads others to itself.
  private static func add(
    _ target: LinkTarget, in scope: AppScope, isNamed: Bool, to keys: inout Set<LedgerKey>
  ) {
    keys.insert(.link(ScopedTarget(scope, target)))
    if isNamed { keys.insert(.unlinkedChains(ScopedTarget(scope, target).hint)) }
  }

  private static func add(
    _ hints: FactHints, in scope: AppScope, isNamed: Bool, to keys: inout Set<LedgerKey>
  ) {
    if let token = hints.appAccountToken {
      keys.insert(.token(ScopedToken(scope, token)))
      if isNamed { keys.insert(.unlinkedChains(ScopedHint(scope, .token(token)))) }
    }
    if let id = hints.appTransactionID {
      add(.appTransaction(id), in: scope, isNamed: isNamed, to: &keys)
    }
    if let chain = hints.previousChain {
      keys.insert(.link(ScopedTarget(scope, .chain(chain))))
    }
  }
}
