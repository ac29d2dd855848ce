import EntitlementDomain

// Jobs of the App Store Server API (R79–R81).
extension Ledger {
  /// A lease that ends later was written by a clock that was wrong. In milliseconds.
  private static var longestLease: Int64 { 10 * 60 * Milliseconds.secondsLength }

  /// Opens a job for the refetches that a notification made due. Events without a chain have none, nor
  /// those of environments without an App Store: nothing can be asked for.
  mutating func openJobs(for findings: NotificationFindings) throws {
    guard [.production, .sandbox].contains(findings.scope.environment) else { return }
    var reasons: [OriginalTransactionID: Set<RefetchReason>] = [:]
    for event in findings.events {
      guard let reason = event.refetchReason, let chain = event.originalTransactionID else {
        continue
      }
      reasons[chain, default: []].insert(reason)
    }
    let keys = reasons.keys.map { AppStoreJobKey(findings.scope, .refetch($0)) }
    try view.reader.willRead(Set(keys.map { .job($0) }))
    for key in keys {
      try open(key, key.chain.flatMap { reasons[$0] } ?? [], since: nil, at: context.jobsAt)
    }
  }

  mutating func answer(_ request: AppStoreJobRequest) throws -> AppStoreJobAnswer {
    switch request.change {
    case .open(let key, let since):
      try open(key, [], since: since, at: context.at)
      auditJob("ReconcileNotifications", try view.job(.key(key)))
      return try done(.key(key), isChanged: true)
    case .schedule(let key, let since):
      if let job = try view.job(.key(key)), job.state == .open {
        return .done(job, isChanged: false)
      }
      try open(key, [], since: since, at: context.at)
      return try done(.key(key), isChanged: true)
    case .retry(let reference):
      guard var job = try view.job(reference) else { return .unknown }
      // The attempt that is being made goes on.
      if job.state == .open, job.lease != nil,
        job.dueAt <= context.at.advanced(by: Self.longestLease)
      {
        return .done(job, isChanged: false)
      }
      if job.state == .open {
        job.lease = nil
        job.dueAt = context.at
        job.failures = 0
        job.unexplained = 0
      } else {
        job.reopen(at: context.at, dueAt: context.at)
      }
      // What was refused, for a reason that was mended meanwhile, is listed again.
      job.cursor = ""
      view.write(job)
      auditJob("RetryJob", job)
      return .done(job, isChanged: true)
    case .cancel(let reference):
      guard var job = try view.job(reference) else { return .unknown }
      guard job.state == .open else { return .done(job, isChanged: false) }
      job.end(.cancelled, at: context.at)
      view.write(job)
      try endConsumption(ofCancelled: job.key)
      auditJob("CancelJob", job)
      return .done(job, isChanged: true)
    case .report(let report):
      return try answer(report)
    }
  }

  private mutating func answer(_ report: AppStoreJobReport) throws -> AppStoreJobAnswer {
    guard var job = try view.job(.key(report.key)), job.state == .open,
      job.lease == report.lease
    else { return .leaseLost }
    let now = context.at
    // What opened it again came during the attempt, which does not cover it.
    let isCurrent = job.opening == report.opening
    job.progress += report.progress
    // Another reading begins at its own first page.
    job.cursor = isCurrent || job.key.kind == .refetch ? report.cursor : ""
    if case .working(let end) = report.outcome {
      // It has advanced.
      job.failures = 0
      job.lastFailure = ""
      job.dueAt = end
      view.write(job)
      return .done(job, isChanged: true)
    }
    job.lease = nil
    job.changedAt = now
    switch report.outcome {
    case .working: break
    case .paused(let end, let reason):
      job.dueAt = isCurrent || job.key.kind != .consumption ? end : now
      if !reason.isEmpty { job.fail(reason) }
    case .done(let completeUntil):
      job.completeUntil = completeUntil
      if isCurrent { job.end(.done, at: now) } else { job.beginAgain(at: now) }
    case .failed(let reason, let retryAt, let isUnexplained):
      job.failures += isUnexplained ? 0 : 1
      job.unexplained += isUnexplained ? 1 : 0
      job.fail(reason)
      job.dueAt = isCurrent || job.key.kind != .consumption ? retryAt : now
    case .givenUp(let reason):
      if isCurrent { job.end(.givenUp, at: now) } else { job.beginAgain(at: now) }
      job.fail(reason)
      if isCurrent { try appendGivenUp(job) }
    }
    view.write(job)
    return .done(job, isChanged: true)
  }

  /// Opens a job, or adds to an open one.
  mutating func open(
    _ key: AppStoreJobKey, _ reasons: Set<RefetchReason>, since: Milliseconds?, at now: Milliseconds
  ) throws {
    let settled = key.kind == .refetch ? now.advanced(by: AppStoreJob.settlingTime) : now
    guard var job = try view.job(.key(key)) else {
      view.write(
        AppStoreJob(
          key: key, reasons: reasons, since: since, openedAt: now, dueAt: settled))
      return
    }
    if job.state == .open {
      // A refetch keeps its wait: what made it fail has not changed.
      job.opening += 1
      if !reasons.isSubset(of: job.reasons) {
        job.reasons.formUnion(reasons)
        job.unexplained = 0
      }
      if let since {
        job.since = min(since, job.since ?? since)
        job.cursor = ""
        if job.lease == nil { job.dueAt = min(job.dueAt, settled) }
      }
    } else {
      // What was not read before, as it was cancelled or given up, is not passed over.
      let left = job.state == .done ? job.completeUntil : job.since
      job.since = since.map { since in min(since, left ?? since) }
      job.reopen(at: now, dueAt: settled)
      job.reasons = reasons
    }
    view.write(job)
  }

  /// Appends the event of a job that was given up (R80), for the customer of its chain. Of a chain that is
  /// not known it is an event of the app only, as that of a reconciliation.
  private mutating func appendGivenUp(_ job: AppStoreJob) throws {
    var event = FeedEvent(kind: .jobGivenUp, notificationUUID: "", detail: job.lastFailure)
    event.originalTransactionID = job.key.chain
    var subject: CustomerSubject?
    if let chain = job.key.chain {
      let link = try view.link(of: ScopedTarget(job.key.scope, .chain(chain)))
      subject = link.map { link in
        link.account.map { .account(job.key.scope, $0) } ?? .unlinkedChain(job.key.scope, chain)
      }
    }
    _ = view.append(
      ChangeWrite(
        scope: job.key.scope, subject: subject, kinds: .events, events: [event],
        committedAt: context.at))
  }

  /// What the server does by itself needs no entry (R76).
  private mutating func auditJob(_ method: String, _ job: AppStoreJob?) {
    guard let job, context.caller != .server else { return }
    audit(method, in: job.key.scope, nil, subject: job.id.map { "job \($0)" } ?? "")
  }

  private func done(_ reference: AppStoreJobReference, isChanged: Bool) throws
    -> AppStoreJobAnswer
  {
    guard let job = try view.job(reference) else { return .unknown }
    return .done(job, isChanged: isChanged)
  }
}

extension AppStoreJob {
  fileprivate mutating func reopen(at moment: Milliseconds, dueAt: Milliseconds) {
    state = .open
    opening += 1
    openedAt = moment
    changedAt = moment
    self.dueAt = dueAt
    lease = nil
    failures = 0
    unexplained = 0
    lastFailure = ""
    progress = AppStoreJobProgress()
    // A refetch continues from the stored revision.
    if key.kind == .reconciliation { cursor = "" }
  }

  /// Does an open job again that was opened during an attempt.
  fileprivate mutating func beginAgain(at moment: Milliseconds) {
    dueAt =
      key.kind == .refetch
      ? moment.advanced(by: Self.settlingTime) : moment
    failures = 0
    unexplained = 0
    lastFailure = ""
  }

  /// - Parameter reason: empty for none.
  fileprivate mutating func fail(_ reason: String) {
    lastFailure = reason.bounded(toBytes: 256)
  }

  fileprivate mutating func end(_ state: State, at moment: Milliseconds) {
    self.state = state
    changedAt = moment
    lease = nil
    if state == .done { lastFailure = "" }
  }
}
