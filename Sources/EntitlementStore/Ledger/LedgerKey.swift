package import EntitlementDomain

/// A read of a ``Ledger``, with one case for each method of ``LedgerReading``.
package enum LedgerKey: Hashable, Sendable {
  case standingFact(ScopedFact)
  case link(ScopedTarget)
  case events(ScopedTarget)
  case refusedClaim(RefusedClaim.Key)
  case account(ScopedAccount)
  case token(ScopedToken)
  case hints(AppScope, OriginalTransactionID)
  case facts(ScopedTarget)
  case unlinkedChains(ScopedHint)
  case grant(ScopedGrant)
  case holdings(ScopedAccount)
  case notification(NotificationUUID)
  case job(AppStoreJobKey)
  case consumption(ConsumptionKey)
  case consent(ScopedAccount)
}

// The reads that a write will make, certainly or probably, for a store that loads rows ahead. A
// store that loads a link also loads the row of its account, and for an account that of the account
// that it was merged into.
extension LedgerKey {
  /// The keys include the links that hints name. A store that locks the rows it loads thereby
  /// prevents concurrent changes of their accounts.
  package static func expected(by submission: Submission) -> Set<LedgerKey> {
    var keys: Set<LedgerKey> = []
    let isNamed = submission.accountID != nil
    for fact in submission.facts.map(\.fact) {
      let scope = fact.scope
      keys.insert(.standingFact(ScopedFact(scope, fact.key)))
      if let account = submission.accountID {
        keys.insert(.account(ScopedAccount(scope, account)))
        if let token = submission.catalog.derivedToken(of: account, in: scope) {
          keys.insert(.token(token))
        }
        if let anonymous = submission.anonymousAccountID {
          keys.insert(.account(ScopedAccount(scope, anonymous)))
          keys.insert(.holdings(ScopedAccount(scope, anonymous)))
          keys.insert(.consent(ScopedAccount(scope, anonymous)))
          keys.insert(.consent(ScopedAccount(scope, account)))
        }
      }
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
      keys.insert(.consent(ScopedAccount(scope, former)))
      keys.insert(.consent(ScopedAccount(scope, account)))
    case .delete(let account):
      add(account)
      keys.insert(.holdings(ScopedAccount(scope, account)))
      keys.insert(.consent(ScopedAccount(scope, account)))
    case .bindToken(let token, let account):
      keys.insert(.token(ScopedToken(scope, token)))
      if let account {
        add(account)
        keys.insert(.unlinkedChains(ScopedHint(scope, .token(token))))
      }
    }
    return keys
  }

  package static func expected(by grant: Grant) -> Set<LedgerKey> {
    [
      .grant(ScopedGrant(grant.scope, grant.id)),
      .account(ScopedAccount(grant.scope, grant.accountID)),
    ]
  }

  package static func expected(by call: AuditCall) -> Set<LedgerKey> {
    Set(call.accounts.map { .account($0) })
  }

  /// None for a job that is named by its id: a store that loads rows ahead looks up its key before.
  package static func expected(by request: AppStoreJobRequest) -> Set<LedgerKey> {
    switch request.change {
    case .cancel(.key(let key)):
      guard case .consumption(let transaction) = key.subject else { return [.job(key)] }
      let consumption = ConsumptionKey(key.scope, transaction)
      return [.job(key), .consumption(consumption), .standingFact(consumption.fact)]
    case .open(let key, _), .schedule(let key, _), .retry(.key(let key)):
      return [.job(key)]
    case .retry(.id), .cancel(.id): return []
    case .report(let report):
      var keys: Set<LedgerKey> = [.job(report.key)]
      // Its event is one of the customer.
      if case .givenUp = report.outcome, let chain = report.key.chain {
        keys.insert(.link(ScopedTarget(report.key.scope, .chain(chain))))
      }
      return keys
    }
  }

  /// Without the chain and the owner of a purchase, which are known once its fact is loaded.
  package static func expected(by change: ConsumptionChange) -> Set<LedgerKey> {
    let scope = change.scope
    switch change.change {
    case .consent(let account, _):
      return [.account(ScopedAccount(scope, account)), .consent(ScopedAccount(scope, account))]
    case .statement(let transaction, _), .begin(let transaction, _), .end(let transaction, _, _),
      .reopen(let transaction, _):
      let key = ConsumptionKey(scope, transaction)
      return [.consumption(key), .job(key.job), .standingFact(key.fact)]
    }
  }

  /// Without the account, which is known once the grant is loaded.
  package static func expected(byWithdrawing id: GrantID, in scope: AppScope) -> Set<LedgerKey> {
    [.grant(ScopedGrant(scope, id))]
  }

  // MARK: Steps

  /// - Parameter isNamed: whether the target may get an account that is propagated to other chains.
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

// Identifiers of rows, each within an app and environment.

package struct ScopedFact: Hashable, Sendable {
  package let scope: AppScope
  package let key: FactKey

  package init(_ scope: AppScope, _ key: FactKey) {
    self.scope = scope
    self.key = key
  }
}

package struct ScopedTarget: Hashable, Sendable {
  package let scope: AppScope
  package let target: LinkTarget

  package init(_ scope: AppScope, _ target: LinkTarget) {
    self.scope = scope
    self.target = target
  }
}

package struct ScopedAccount: Hashable, Sendable {
  package let scope: AppScope
  package let id: AccountID

  package init(_ scope: AppScope, _ id: AccountID) {
    self.scope = scope
    self.id = id
  }
}

package struct ScopedToken: Hashable, Sendable {
  package let scope: AppScope
  package let token: AppAccountToken

  package init(_ scope: AppScope, _ token: AppAccountToken) {
    self.scope = scope
    self.token = token
  }
}

package struct ScopedGrant: Hashable, Sendable {
  package let scope: AppScope
  package let id: GrantID

  package init(_ scope: AppScope, _ id: GrantID) {
    self.scope = scope
    self.id = id
  }
}

package struct ScopedHint: Hashable, Sendable {
  package let scope: AppScope
  package let hint: LinkHint

  package init(_ scope: AppScope, _ hint: LinkHint) {
    self.scope = scope
    self.hint = hint
  }
}
