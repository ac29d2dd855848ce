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
    // After the merges, which note the targets that existed before.
    try forEach(merges) { ledger, merge in try ledger.noteFormerChains(of: merge) }
    try mergeAnonymousAccount(of: submission, in: merges.map(\.target.scope))
    let claim = try submission.accountID.map { named in
      try SubmissionClaim(named: named, merges: merges) { try owner($0) }
    }
    try link(merges, by: claim)
    var findings: NotificationFindings?
    if let notification, !wasKnown {
      try record(notification, merges)
      findings = try self.findings(of: notification, merges: merges)
      if let findings { try openJobs(for: findings) }
    }
    if let caller = submission.importedBy { try audit(submission, by: caller, merges) }
    var summary = try appendChanges(with: findings, by: claim)
    if let notification, let findings {
      // After the event that tells of the request.
      let ordinal = try openConsumption(for: notification, findings)
      summary.lastOrdinal = ordinal ?? summary.lastOrdinal
    }
    let dispositions = merges.map(\.disposition)
    let links = try merges.map { try linkOutcome(of: $0.target) }
    let events = findings?.events ?? []
    return { [summary] numbering in
      CommitReceipt(
        dispositions: dispositions, links: links, customers: summary.customers(numbering),
        changed: summary.changed, latest: summary.latest(numbering), notificationWasKnown: wasKnown,
        events: events)
    }
  }

  /// Audits an import by an operator that changed something (R76).
  private mutating func audit(
    _ submission: Submission, by caller: AuditCaller, _ merges: [FactMerge]
  ) throws {
    guard !view.pending.changes.isEmpty, let scope = merges.first?.fact.scope else { return }
    // An account that got nothing may be unknown. Its pseudonym could not be erased (R77).
    let account = try submission.accountID.flatMap { named in
      try knownOwner(ScopedAccount(scope, named))?.id
    }
    context.caller = caller
    context.onBehalfOf = submission.onBehalfOf
    audit("ImportArchivedResponse", in: scope, account)
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
    let supplement = try known?.supplement(with: signed, stands: merge.isNew)
    let hasNewFacts = try merge.isNew || known?.saysMore(with: supplement, of: fact) == true
    for target in [merge.target, merge.formerTarget].compactMap(\.self) {
      try noteAffected(target)
      if hasNewFacts { affected[target]?.hasNewFacts = true }
    }
    if let known, merge.disposition != .duplicate {
      try addVersion(signed, to: known, isNew: merge.isNew, supplement: supplement)
    } else if merge.isNew {
      view.write(signed, replacing: nil)
    }
    if merge.isNew { try ensureChainRow(merge.target) }
    return merge
  }

  /// Adds a version to a known fact (R53). App transactions have no versions: the standing one
  /// replaces the former one.
  private mutating func addVersion(
    _ signed: SignedFact, to known: StandingFact, isNew: Bool, supplement: [UInt8]?
  ) throws {
    let fact = ScopedFact(signed.fact.scope, signed.fact.key)
    if fact.key.kind == .appTransaction {
      if isNew { view.write(signed, replacing: known) }
      return
    }
    let before = try known.history()
    let precedence = signed.fact.precedence
    let statement = try StatementDigest(
      of: signed.signed.payload, authority: precedence.authority)
    var history = before
    history.add(statement, signedAt: precedence.signedDate, stands: isNew)
    // Compared with the former standing version, so before that is replaced.
    view.updateVersions(of: fact, from: before, to: history, adding: statement, signed)
    if isNew {
      view.write(signed, replacing: known, history: history, supplement: supplement)
    } else if history != before || supplement != known.supplement {
      view.write(history, supplement: supplement, of: fact, target: known.target)
    }
  }

  /// Notes the chains of a transaction in which it does not stand (R7, R55).
  private mutating func noteFormerChains(of merge: FactMerge) throws {
    let fact = merge.fact
    guard case .transaction = fact, fact.authority.isSigned else { return }
    let named = ScopedTarget(fact.scope, fact.target)
    for target in [named, merge.formerTarget].compactMap(\.self) where target != merge.target {
      if try view.link(of: target)?.isFormerChain == true { continue }
      try view.updateLink(of: target, at: context.at) { $0.isFormerChain = true }
    }
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
