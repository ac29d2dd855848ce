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
    let summary = try appendChanges(with: findings, by: claim)
    let dispositions = merges.map(\.disposition)
    let links = try merges.map { try linkOutcome(of: $0.target) }
    let events = findings?.events ?? []
    return { numbering in
      CommitReceipt(
        dispositions: dispositions, links: links, customers: summary.customers(numbering),
        changed: summary.changed, latest: summary.latest(numbering), notificationWasKnown: wasKnown,
        events: events)
    }
  }

  private mutating func record(_ notification: SignedNotification, _ merges: [FactMerge]) throws {
    guard case .jws = notification.signed.proof else {
      throw StoreError(.internalFault, "a notification must be a JWS")
    }
    let chains = merges.lazy.compactMap { merge -> OriginalTransactionID? in
      guard case .chain(let chain) = merge.target.target else { return nil }
      return chain
    }
    view.write(
      NotificationWrite(
        notification: notification, receivedAt: context.at, chain: chains.first))
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
      try noteAffected(target)
      if merge.isNew { affected[target]?.hasNewFacts = true }
    }
    if merge.isNew {
      view.write(signed, replacing: known)
      try ensureChainRow(merge.target)
    }
    return merge
  }

  /// Creates the row of a chain, which every known chain has, linked or not.
  private mutating func ensureChainRow(_ target: ScopedTarget) throws {
    guard case .chain = target.target, try view.link(of: target) == nil else { return }
    try view.updateLink(of: target, at: context.at)
  }
}

/// The outcome of one fact of a submission.
struct FactMerge {
  let fact: Fact
  var disposition: FactDisposition
  /// The target of the standing version (R7).
  var target: ScopedTarget
  /// The target of the replaced version, if it differs.
  var formerTarget: ScopedTarget?

  /// True when the version is new and stands.
  var isNew: Bool { disposition == .added || disposition == .replaced }
}
