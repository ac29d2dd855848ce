import EntitlementDomain

/// The affected customers of a write, for its receipt.
struct WriteSummary: Sendable {
  /// The customers that the receipt lists.
  var revisions: [(subject: CustomerSubject, revision: LedgerRevision)]
  /// All customers that changed.
  var changed: [CustomerSubject]
  /// The ordinal of the last change that the write appended to the feed; nil when it appended none.
  var lastOrdinal: Int?

  func customers(_ numbering: ChangeNumbering) -> [CustomerRevision] {
    revisions.map {
      CustomerRevision(subject: $0.subject, revision: $0.revision.number(numbering))
    }
  }

  /// The latest change of the write. Without one, the latest revision of the listed customers.
  func latest(_ numbering: ChangeNumbering) -> Int64 {
    if let lastOrdinal { return numbering.sequence(lastOrdinal) }
    return customers(numbering).map(\.revision).max() ?? 0
  }
}

extension Ledger {
  /// Appends one change for each customer whose facts or links changed, and increases its revision.
  /// The events of a notification go to the change of its customer.
  ///
  /// - Parameter claim: the claim of the submission. The summary lists no other account.
  mutating func appendChanges(
    with findings: NotificationFindings? = nil, by claim: SubmissionClaim? = nil
  ) throws -> WriteSummary {
    let customers = try affectedCustomers(with: findings)
    var summary = WriteSummary(revisions: [], changed: [])
    for customer in customers.ordered {
      let kinds = customers[customer]
      let events = findings?.customer == customer ? findings?.events ?? [] : []
      if let ordinal = try append(kinds, of: customer, events: events) {
        summary.lastOrdinal = ordinal
      }
      if try !isConcealed(customer, from: claim) {
        summary.revisions.append((customer, try view.revision(of: customer)))
      }
      if kinds.increasesRevision { summary.changed.append(customer) }
    }
    // Of no customer: the other account must not learn of it.
    for (scope, event) in ambiguities {
      summary.lastOrdinal = view.append(
        ChangeWrite(
          scope: scope, subject: nil, kinds: .events, events: [event], committedAt: context.at))
    }
    for full in fullAccounts {
      var event = FeedEvent(
        kind: .accountFull, notificationUUID: "", detail: "\(full.refusedChains)")
      event.originalTransactionID = full.chain
      summary.lastOrdinal = view.append(
        ChangeWrite(
          scope: full.account.scope, subject: full.account.subject, kinds: .events,
          events: [event], committedAt: context.at))
    }
    if let findings, findings.customer == nil {
      summary.lastOrdinal = view.append(
        ChangeWrite(
          scope: findings.scope, subject: nil, kinds: .events, events: findings.events,
          committedAt: context.at))
    }
    return summary
  }

  /// - Returns: the ordinal of the change; nil when nothing changed.
  private mutating func append(
    _ kinds: ChangeKinds, of customer: CustomerSubject, events: [FeedEvent]
  ) throws -> Int? {
    if kinds.isEmpty { return nil }
    let ordinal = view.append(
      ChangeWrite(
        scope: customer.scope, subject: customer, kinds: kinds, events: events,
        committedAt: context.at))
    guard kinds.increasesRevision else { return ordinal }
    switch customer {
    case .account(let scope, let id):
      try view.updateAccount(ScopedAccount(scope, id), at: context.at, ordinal: ordinal)
    case .unlinkedChain(let scope, let chain):
      try view.updateLink(
        of: ScopedTarget(scope, .chain(chain)), at: context.at, ordinal: ordinal)
    }
    return ordinal
  }

  // MARK: Affected customers

  private func affectedCustomers(with findings: NotificationFindings?) throws -> AffectedCustomers {
    var customers = AffectedCustomers()
    let targets = affected.targets
    for target in targets where target.unlinkedSubject != nil { try add(target, to: &customers) }
    for target in targets where target.unlinkedSubject == nil { try add(target, to: &customers) }
    for account in affected.accounts {
      add(affected.kinds[account] ?? [], to: account, &customers)
    }
    if let customer = findings?.customer {
      let group: AffectedCustomers.Group = if case .account = customer { .account } else { .chain }
      customers.add(.events, to: customer, group)
    }
    return customers
  }

  private func add(_ target: ScopedTarget, to customers: inout AffectedCustomers) throws {
    guard let item = affected[target] else { return }
    let now = try view.link(of: target)?.account.map { ScopedAccount(target.scope, $0) }
    let before = item.accountBefore.map { ScopedAccount(target.scope, $0) }
    let facts: ChangeKinds = item.hasNewFacts ? .facts : []
    switch (before, now) {
    case (let before, let now?) where before == now:
      add(facts, to: now, &customers)
    case (let before, let now?):
      add(facts.union(.linked), to: now, &customers)
      if let before {
        add(.unlinked, to: before, &customers)
      } else if item.existedBefore, let chain = target.unlinkedSubject {
        customers.add(.unlinked, to: chain, .chain)
      }
    case (let before?, nil):
      add(.unlinked, to: before, &customers)
      if let chain = target.unlinkedSubject {
        customers.add(facts.union(.unlinked), to: chain, .lostChain)
      }
    case (nil, nil):
      // An unlinked app transaction has no customer, so there is no change to append.
      if let chain = target.unlinkedSubject { customers.add(facts, to: chain, .chain) }
    }
  }

  private func add(
    _ kinds: ChangeKinds, to account: ScopedAccount, _ customers: inout AffectedCustomers
  ) {
    customers.add(
      kinds, to: account.subject,
      affected.mergedAway.contains(account) ? .mergedAccount : .account)
  }

  // MARK: Receipts

  /// The effect of the whole submission on the owner, the same for all facts of a chain in any
  /// order.
  func linkOutcome(of target: ScopedTarget) throws -> LinkOutcome {
    guard let item = affected[target] else { return .unlinked }
    switch (item.refusal, item.accountBefore, try view.link(of: target)?.account) {
    case (.policy?, _, _): return .alreadyLinked
    case (.limit?, _, _): return .claimLimited
    case (.disputed?, _, _): return .disputed
    case (.accountFull?, _, _): return .accountFull
    case (nil, _, nil): return .unlinked
    case (nil, nil, _?): return .linked
    case (nil, let before?, let now?):
      return before == now ? .unchanged : item.isReturn ? .reclaimed : .transferred
    }
  }

  /// Whether the receipt must not list a customer. A submission that names an account learns
  /// nothing of other accounts, neither the owner that keeps a chain nor the one that loses it
  /// (R44). The same holds for a chain that belongs to another account.
  private func isConcealed(_ customer: CustomerSubject, from claim: SubmissionClaim?) throws
    -> Bool
  {
    guard let claim else { return false }
    let owner =
      switch customer {
      case .account(_, let id): id
      case .unlinkedChain(let scope, let chain):
        try view.link(of: ScopedTarget(scope, .chain(chain)))?.account
      }
    return owner != nil && owner != claim.account(in: customer.scope)
  }
}

extension CustomerSubject {
  fileprivate var scope: AppScope {
    switch self {
    case .account(let scope, _), .unlinkedChain(let scope, _): scope
    }
  }
}

extension ScopedAccount {
  var subject: CustomerSubject { .account(scope, id) }
}

extension ScopedTarget {
  /// The customer while the target is unlinked; nil for an app transaction.
  var unlinkedSubject: CustomerSubject? {
    guard case .chain(let chain) = target else { return nil }
    return .unlinkedChain(scope, chain)
  }
}

/// The customers that a write affects, with the kinds of their changes. The kinds may be empty.
struct AffectedCustomers {
  private var kinds: [CustomerSubject: ChangeKinds] = [:]
  private var gainedChains: [CustomerSubject] = []
  private var mergedAccounts: [CustomerSubject] = []
  private var accounts: [CustomerSubject] = []
  private var lostChains: [CustomerSubject] = []

  /// The groups of ``ordered``.
  enum Group {
    case chain, mergedAccount, account, lostChain
  }

  /// The customers in the order of their changes: chains, then merged accounts, then the other
  /// accounts, then chains that lost their account. Each group is in the order in which the write
  /// reached them.
  ///
  /// A chain that an account gets is read as that account from then on. The last revision of the
  /// chain must be lower than the account's, or a read that requires it would find no such
  /// revision. The same holds for an account that is merged into another. A chain that loses its
  /// account is read as itself from then on.
  var ordered: [CustomerSubject] { gainedChains + mergedAccounts + accounts + lostChains }

  subscript(customer: CustomerSubject) -> ChangeKinds { kinds[customer] ?? [] }

  mutating func add(_ added: ChangeKinds, to customer: CustomerSubject, _ group: Group) {
    if kinds[customer] == nil {
      switch group {
      case .chain: gainedChains.append(customer)
      case .mergedAccount: mergedAccounts.append(customer)
      case .account: accounts.append(customer)
      case .lostChain: lostChains.append(customer)
      }
    }
    kinds[customer, default: []].formUnion(added)
  }
}
