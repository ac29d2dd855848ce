import EntitlementDomain

/// Whom to tell of a write.
struct ToldChanges: Sendable {
  /// The customers to tell whoever wrote of.
  var revisions: [(subject: CustomerSubject, revision: LedgerRevision)]
  /// All those that changed.
  var changed: [CustomerSubject]
  /// Of the last change that the write appended to the feed, whoever it concerns; nil when it
  /// appended none.
  var lastOrdinal: Int?

  func customers(_ numbering: ChangeNumbering) -> [CustomerRevision] {
    revisions.map {
      CustomerRevision(subject: $0.subject, revision: $0.revision.number(numbering))
    }
  }

  /// The latest change of the write; where it made none, that of the customers to tell of.
  func latest(_ numbering: ChangeNumbering) -> Int64 {
    if let lastOrdinal { return numbering.sequence(lastOrdinal) }
    return customers(numbering).map(\.revision).max() ?? 0
  }
}

extension Ledger {
  /// Appends one change for each customer whose facts or links changed, and moves its revision on;
  /// what a notification brought goes to the customer whom it is about.
  ///
  /// - Parameter claim: that of whoever wrote, and is told of no other account.
  mutating func appendChanges(
    with findings: NotificationFindings? = nil, by claim: SubmissionClaim? = nil
  ) throws -> ToldChanges {
    let tally = try tally(with: findings)
    var told = ToldChanges(revisions: [], changed: [])
    for customer in tally.customers {
      let kinds = tally[customer]
      let events = findings?.customer == customer ? findings?.events ?? [] : []
      if let ordinal = try append(kinds, of: customer, events: events) {
        told.lastOrdinal = ordinal
      }
      if try !isConcealed(customer, from: claim) {
        told.revisions.append((customer, try view.revision(of: customer)))
      }
      if kinds.movesRevision { told.changed.append(customer) }
    }
    if let findings, findings.customer == nil {
      told.lastOrdinal = view.append(
        ChangeWrite(
          scope: findings.scope, subject: nil, kinds: .events, events: findings.events,
          committedAt: occasion.at))
    }
    return told
  }

  /// - Returns: the ordinal of the change; nil when there was nothing to tell.
  private mutating func append(
    _ kinds: ChangeKinds, of customer: CustomerSubject, events: [FeedEvent]
  ) throws -> Int? {
    if kinds.isEmpty { return nil }
    let ordinal = view.append(
      ChangeWrite(
        scope: customer.scope, subject: customer, kinds: kinds, events: events,
        committedAt: occasion.at))
    guard kinds.movesRevision else { return ordinal }
    switch customer {
    case .account(let scope, let id):
      try view.updateAccount(ScopedAccount(scope, id), at: occasion.at, ordinal: ordinal)
    case .unlinkedChain(let scope, let chain):
      try view.updateLink(
        of: ScopedTarget(scope, .chain(chain)), at: occasion.at, ordinal: ordinal)
    }
    return ordinal
  }

  // MARK: What happened to whom

  private func tally(with findings: NotificationFindings?) throws -> CustomerTally {
    var tally = CustomerTally()
    let targets = concerns.targets
    for target in targets where target.unlinkedSubject != nil { try add(target, to: &tally) }
    for target in targets where target.unlinkedSubject == nil { try add(target, to: &tally) }
    for account in concerns.accounts {
      add(concerns.kinds[account] ?? [], to: account, &tally)
    }
    if let customer = findings?.customer {
      let place: CustomerTally.Place = if case .account = customer { .account } else { .chain }
      tally.add(.events, to: customer, place)
    }
    return tally
  }

  private func add(_ target: ScopedTarget, to tally: inout CustomerTally) throws {
    guard let item = concerns[target] else { return }
    let now = try view.link(of: target)?.account.map { ScopedAccount(target.scope, $0) }
    let before = item.accountBefore.map { ScopedAccount(target.scope, $0) }
    let facts: ChangeKinds = item.hasNewFacts ? .facts : []
    switch (before, now) {
    case (let before, let now?) where before == now:
      add(facts, to: now, &tally)
    case (let before, let now?):
      add(facts.union(.linked), to: now, &tally)
      if let before {
        add(.unlinked, to: before, &tally)
      } else if item.existedBefore, let chain = target.unlinkedSubject {
        tally.add(.unlinked, to: chain, .chain)
      }
    case (let before?, nil):
      add(.unlinked, to: before, &tally)
      if let chain = target.unlinkedSubject {
        tally.add(facts.union(.unlinked), to: chain, .lostChain)
      }
    case (nil, nil):
      // An app transaction without an account is nobody's yet: there is no customer to tell of it.
      if let chain = target.unlinkedSubject { tally.add(facts, to: chain, .chain) }
    }
  }

  private func add(_ kinds: ChangeKinds, to account: ScopedAccount, _ tally: inout CustomerTally) {
    tally.add(
      kinds, to: account.subject,
      concerns.mergedAway.contains(account) ? .mergedAccount : .account)
  }

  // MARK: What a submission is told

  /// What the whole submission meant for the owner: the same for all facts of one chain, in
  /// whatever order they came.
  func linkOutcome(of target: ScopedTarget) throws -> LinkOutcome {
    guard let item = concerns[target] else { return .unlinked }
    switch (item.refusal, item.accountBefore, try view.link(of: target)?.account) {
    case (.policy?, _, _): return .alreadyLinked
    case (.limit?, _, _): return .claimLimited
    case (nil, _, nil): return .unlinked
    case (nil, nil, _?): return .linked
    case (nil, let before?, let now?): return before == now ? .unchanged : .transferred
    }
  }

  /// Whoever submits for an account learns nothing of others: neither who keeps what it claims, nor
  /// who loses it (R44). A chain that went to another account is told of no more than that account.
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
  /// Who it is while no account has it; nil for an app transaction.
  var unlinkedSubject: CustomerSubject? {
    guard case .chain(let chain) = target else { return nil }
    return .unlinkedChain(scope, chain)
  }
}
