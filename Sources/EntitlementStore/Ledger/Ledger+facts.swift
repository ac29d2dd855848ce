import EntitlementDomain

extension Ledger {
  mutating func merge(_ submission: Submission) throws
    -> @Sendable (ChangeNumbering) -> CommitReceipt
  {
    let notification = submission.notification
    let wasKnown = try notification.map { try view.isKnown($0.record.uuid) } ?? false
    var merges: [FactMerge] = []
    merges.reserveCapacity(submission.facts.count)
    try forEach(submission.facts) { ledger, signed in merges.append(try ledger.merge(signed)) }
    let claim = try submission.accountID.map { named in
      try SubmissionClaim(named: named, merges: merges) { try owner($0) }
    }
    try link(merges, by: claim)
    var findings: NotificationFindings?
    if let notification, !wasKnown {
      try record(notification, merges)
      findings = try self.findings(of: notification, merges: merges)
    }
    let told = try appendChanges(with: findings, by: claim)
    let dispositions = merges.map(\.disposition)
    let links = try merges.map { try linkOutcome(of: $0.target) }
    let events = findings?.events ?? []
    return { numbering in
      CommitReceipt(
        dispositions: dispositions, links: links, customers: told.customers(numbering),
        changed: told.changed, latest: told.latest(numbering), notificationWasKnown: wasKnown,
        events: events)
    }
  }

  private mutating func record(_ notification: SignedNotification, _ merges: [FactMerge]) throws {
    guard case .jws = notification.signed.proof else {
      throw StoreError(.internalFault, "a notification comes as a JWS only")
    }
    let chains = merges.lazy.compactMap { merge -> OriginalTransactionID? in
      guard case .chain(let chain) = merge.target.target else { return nil }
      return chain
    }
    view.write(
      NotificationWrite(
        notification: notification, receivedAt: occasion.at, chain: chains.first))
  }

  private mutating func merge(_ signed: SignedFact) throws -> FactMerge {
    let fact = signed.fact
    let target = ScopedTarget(fact.scope, fact.target)
    let known = try view.standingFact(ScopedFact(fact.scope, fact.key))
    var merge = FactMerge(fact: fact, disposition: .added, target: target)
    if let known {
      let standing = ScopedTarget(fact.scope, known.target)
      let precedence = fact.precedence
      if precedence.digest == known.precedence.digest,
        precedence.authority == known.precedence.authority
      {
        merge.disposition = .duplicate
        merge.target = standing
      } else if known.precedence < precedence {
        merge.disposition = .replaced
        merge.formerTarget = standing == target ? nil : standing
      } else {
        merge.disposition = .superseded
        merge.target = standing
      }
    }
    for target in [merge.target, merge.formerTarget].compactMap(\.self) {
      try concern(target)
      if merge.isNew { concerns[target]?.hasNewFacts = true }
    }
    if merge.isNew {
      view.write(signed, replacing: known)
      try keepChain(merge.target)
    }
    return merge
  }

  /// A chain that is known has a row, whether it has an account or not.
  private mutating func keepChain(_ target: ScopedTarget) throws {
    guard case .chain = target.target, try view.link(of: target) == nil else { return }
    try view.updateLink(of: target, at: occasion.at)
  }
}
