import EntitlementDomain

// What the App Store is told about the consumption of purchases (R86–R88).
extension Ledger {
  /// Opens the request of a CONSUMPTION_REQUEST, with its job. A request that arrives after its
  /// deadline is not sent.
  ///
  /// - Returns: the ordinal of the change that tells so; nil for none.
  mutating func openConsumption(
    for notification: SignedNotification, _ findings: NotificationFindings
  ) throws -> Int? {
    guard [.production, .sandbox].contains(findings.scope.environment),
      let event = findings.events.first(where: { $0.kind == .consumptionRequested }),
      let transaction = event.transactionID, let requestedAt = notification.record.signedDate
    else { return nil }
    let key = ConsumptionKey(findings.scope, transaction)
    try view.reader.willRead([.consumption(key), .job(key.job)])
    var record = try view.consumption(key) ?? ConsumptionRecord(key)
    var ordinal: Int?
    if let known = record.request {
      guard known.isReplaced(byRequestOf: requestedAt, at: context.at) else { return nil }
      // Nothing attempted it at its deadline, as no server has a key.
      if known.state == .open {
        ordinal = try end(&record, known.cause ?? .deadlinePassed, known.detail)
      }
    }
    record.request = ConsumptionRequest(
      notificationUUID: notification.record.uuid,
      reason: notification.consumptionRequestReason?.bounded(toBytes: UnknownValue.maximumLength),
      requestedAt: requestedAt, openedAt: context.at, changedAt: context.at)
    guard let request = record.request, context.at < request.deadline else {
      return try end(&record, .arrivedLate)
    }
    view.write(record)
    try open(key.job, [], since: nil, at: context.jobsAt)
    try hasten(key.job)
    return ordinal
  }

  mutating func answer(_ change: ConsumptionChange) throws -> ConsumptionAnswer {
    let scope = change.scope
    switch change.change {
    case .consent(let account, let isGiven):
      return try setConsent(isGiven, of: ScopedAccount(scope, account))
    case .statement(let transaction, let statement):
      return try state(statement, of: ConsumptionKey(scope, transaction))
    case .begin(let transaction, let lease):
      return try begin(ConsumptionKey(scope, transaction), lease: lease)
    case .end(let transaction, let lease, let outcome):
      return try end(ConsumptionKey(scope, transaction), lease: lease, outcome)
    case .reopen(let transaction, let isDryRun):
      return try reopen(ConsumptionKey(scope, transaction), isDryRun: isDryRun)
    }
  }

  /// An operator cancelled the job of a request: it is not sent.
  mutating func endConsumption(ofCancelled job: AppStoreJobKey) throws {
    guard case .consumption(let transaction) = job.subject,
      var record = try view.consumption(ConsumptionKey(job.scope, transaction)),
      let request = record.request, request.state == .open
    else { return }
    try end(&record, request.sending == nil ? .jobCancelled : .outcomeUncertain)
  }

  // MARK: What callers record

  private mutating func setConsent(
    _ isGiven: Bool, of name: ScopedAccount
  ) throws -> ConsumptionAnswer {
    let account = try owner(name)
    let known = try view.consent(of: account)
    // A repeat keeps the moment and the author of the first.
    if let known, known.isGiven == isGiven { return .consent(known, isChanged: false) }
    try ensureAccount(account)
    let consent = ConsumptionConsent(
      isGiven: isGiven, at: context.at, author: context.caller.name,
      onBehalfOf: context.onBehalfOf, note: context.note ?? "")
    view.setConsent(consent, of: account)
    audit(
      "SetConsumptionConsent", in: account.scope, account.id,
      subject: isGiven ? "consented" : "not consented")
    return .consent(consent, isChanged: true)
  }

  private mutating func state(
    _ statement: ConsumptionStatement, of key: ConsumptionKey
  ) throws -> ConsumptionAnswer {
    var record = try view.consumption(key) ?? ConsumptionRecord(key)
    if record.statement == statement { return .record(record, isChanged: false) }
    record.statement = statement
    view.write(record)
    try hasten(key.job)
    audit("SetConsumptionPercentage", in: key.scope, try purchase(key).account)
    return .record(record, isChanged: true)
  }

  /// A job that waits is attempted at once, and one that is being attempted once more after that.
  private mutating func hasten(_ key: AppStoreJobKey) throws {
    guard var job = try view.job(.key(key)), job.state == .open else { return }
    if job.lease == nil {
      job.dueAt = min(job.dueAt, context.jobsAt)
    } else {
      job.opening += 1
    }
    view.write(job)
  }

  private mutating func reopen(
    _ key: ConsumptionKey, isDryRun: Bool
  ) throws -> ConsumptionAnswer {
    guard var record = try view.consumption(key), var request = record.request else {
      return .unknown
    }
    switch request.state {
    case .sent: return .record(record, isChanged: false)
    case .open:
      if !isDryRun { try hasten(key.job) }
      return .record(record, isChanged: false)
    case .notSent: break
    }
    // The process that made the call may be slow, and tell how it ended.
    if request.cause == .outcomeUncertain,
      context.at < request.changedAt.advanced(by: Self.longestCall)
    {
      return .refused(.outcomeUncertain, record)
    }
    if case .end(let cause) = try decision(of: record, request) { return .refused(cause, record) }
    request.state = .open
    request.cause = nil
    request.detail = ""
    request.sending = nil
    request.attempts = 0
    request.openedAt = context.at
    request.changedAt = context.at
    record.request = request
    if isDryRun { return .record(record, isChanged: true) }
    view.write(record)
    try open(key.job, [], since: nil, at: context.jobsAt)
    audit("SendConsumption", in: key.scope, try purchase(key).account)
    return .record(record, isChanged: true)
  }

  // MARK: What the holder of a lease does

  /// In this time a call has ended, and so has its lease. In milliseconds.
  private static var longestCall: Int64 { 60 * Milliseconds.secondsLength }

  private mutating func begin(_ key: ConsumptionKey, lease: String) throws -> ConsumptionAnswer {
    guard let job = try view.job(.key(key.job)), job.state == .open, job.lease == lease else {
      return .leaseLost
    }
    guard var record = try view.consumption(key), var request = record.request else {
      return .unknown
    }
    guard request.state == .open else { return .record(record, isChanged: false) }
    // The process that began a call did not tell how it ended: Apple may have the information.
    if let sending = request.sending {
      // The holder itself is in the call.
      if sending == lease { return .leaseLost }
      try end(&record, .outcomeUncertain, "the server ended during the call")
      return .decision(.end(.outcomeUncertain), record)
    }
    let decision = try decision(of: record, request)
    switch decision {
    case .send:
      request.sending = lease
      request.attempts += 1
      request.cause = nil
      request.changedAt = context.at
    case .wait(let cause):
      if request.cause == cause { return .decision(decision, record) }
      request.cause = cause
      request.changedAt = context.at
    case .end(let cause):
      try end(&record, cause, request.detail)
      return .decision(decision, record)
    }
    record.request = request
    view.write(record)
    return .decision(decision, record)
  }

  private mutating func end(
    _ key: ConsumptionKey, lease: String, _ outcome: ConsumptionOutcome
  ) throws -> ConsumptionAnswer {
    guard var record = try view.consumption(key), var request = record.request,
      request.sending == lease
    else { return .leaseLost }
    // Another process took over meanwhile, and gave the call up as uncertain. Now it is known.
    let wasGivenUp = request.state != .open
    switch outcome {
    case .sent(let information):
      request.state = .sent
      request.cause = nil
      request.sending = nil
      request.detail = information.summary
      request.changedAt = context.at
      record.request = request
      view.write(record)
      try report(record, .consumptionSent, detail: information.summary)
    case .failed(let reason):
      if wasGivenUp, try view.job(.key(key.job))?.state == .cancelled {
        try end(&record, .jobCancelled, reason)
        break
      }
      request.sending = nil
      request.detail = reason.bounded(toBytes: 256)
      request.changedAt = context.at
      if wasGivenUp {
        request.state = .open
        request.cause = nil
      }
      record.request = request
      view.write(record)
      if wasGivenUp { try open(key.job, [], since: nil, at: context.jobsAt) }
    case .refused(let reason): try end(&record, .appleRefused, reason)
    case .uncertain(let reason):
      if wasGivenUp { return .leaseLost }
      try end(&record, .outcomeUncertain, reason)
    }
    return .record(record, isChanged: true)
  }

  // MARK: Steps

  /// Consent is read in the same transaction as the mark of the call is written: what was withdrawn
  /// before it counts, and what is withdrawn after it is later than the call (R86).
  private func decision(
    of record: ConsumptionRecord, _ request: ConsumptionRequest
  ) throws -> ConsumptionDecision {
    let purchase = try purchase(record.key)
    let account = purchase.account.map { ScopedAccount(record.key.scope, $0) }
    return ConsumptionSituation(
      deadline: request.deadline, transaction: purchase.transaction, isOwned: account != nil,
      consent: try account.flatMap { try view.consent(of: $0) }?.isGiven,
      statement: record.statement,
      policy: purchase.transaction.flatMap { context.catalog.products[$0.productID]?.consumption }
    ).decision(at: context.at)
  }

  /// The standing version of a purchase, its chain and the account that owns it.
  private func purchase(
    _ key: ConsumptionKey
  ) throws -> (transaction: TransactionFact?, chain: OriginalTransactionID?, account: AccountID?) {
    guard let target = try view.standingFact(key.fact)?.target else { return (nil, nil, nil) }
    let scoped = ScopedTarget(key.scope, target)
    try view.reader.willRead([.facts(scoped), .link(scoped)])
    let transaction = try view.facts(of: scoped).lazy.compactMap { fact -> TransactionFact? in
      guard case .transaction(let fact) = fact, fact.transactionID == key.transactionID else {
        return nil
      }
      return fact
    }.first
    var chain: OriginalTransactionID?
    if case .chain(let id) = target { chain = id }
    return (transaction, chain, try view.link(of: scoped)?.account)
  }

  /// Ends a request without a call, or without a known one.
  ///
  /// - Returns: the ordinal of the change that tells it.
  @discardableResult
  private mutating func end(
    _ record: inout ConsumptionRecord, _ cause: ConsumptionCause, _ detail: String = ""
  ) throws -> Int? {
    guard var request = record.request else { return nil }
    request.state = .notSent
    request.cause = cause
    request.detail = detail.bounded(toBytes: 256)
    if cause != .outcomeUncertain { request.sending = nil }
    request.changedAt = context.at
    record.request = request
    view.write(record)
    let name = cause.name
    return try report(
      record, .consumptionNotSent,
      detail: request.detail.isEmpty ? name : "\(name): \(request.detail)")
  }

  /// Appends the event, and the entry of the audit trail, whose author is the server.
  ///
  /// - Returns: the ordinal of the change.
  @discardableResult
  private mutating func report(
    _ record: ConsumptionRecord, _ kind: FeedEventKind, detail: String
  ) throws -> Int {
    let purchase = try purchase(record.key)
    let scope = record.key.scope
    var event = FeedEvent(
      kind: kind, notificationUUID: record.request?.notificationUUID ?? "", detail: detail)
    event.originalTransactionID = purchase.chain
    event.transactionID = record.key.transactionID
    let subject = purchase.chain.map { chain -> CustomerSubject in
      purchase.account.map { .account(scope, $0) } ?? .unlinkedChain(scope, chain)
    }
    let ordinal = view.append(
      ChangeWrite(
        scope: scope, subject: subject, kinds: .events, events: [event], committedAt: context.at))
    let caller = context.caller
    context.caller = .server
    audit(
      kind == .consumptionSent ? "ConsumptionSent" : "ConsumptionNotSent", in: scope,
      purchase.account, subject: record.request?.cause?.name ?? "")
    context.caller = caller
    return ordinal
  }
}

extension ConsumptionRequest {
  /// Whether a notification that was signed then is another request (R88).
  ///
  /// - Parameter now: by the clock of the service.
  fileprivate func isReplaced(byRequestOf moment: Milliseconds, at now: Milliseconds) -> Bool {
    guard moment > requestedAt else { return false }
    switch state {
    case .open: return sending == nil && now >= deadline
    case .sent: return false
    case .notSent: return cause != .outcomeUncertain
    }
  }
}
