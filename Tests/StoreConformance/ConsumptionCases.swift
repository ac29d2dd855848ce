import EntitlementDomain
import EntitlementStore
import TestSupport

// What the App Store is told about the consumption of purchases (R86–R88).
extension StoreConformanceSuite {
  static let consumptionCases: [ConformanceCase] =
    consumptionRequestCases + consumptionSendingCases + consentCases

  private static let consumptionRequestCases: [ConformanceCase] = [
    ConformanceCase("A CONSUMPTION_REQUEST opens a request with its job in its commit (R86)") {
      store, harness in
      try await store.requestConsumption(1)
      let record = try await store.consumptionRecord()
      let expected = ConsumptionRequest(
        notificationUUID: uuid(1), reason: "OTHER", requestedAt: 4_000, openedAt: 5_000,
        changedAt: 5_000)
      try expectEqual(record.request, expected)
      try expectEqual(record.request?.deadline, 43_204_000)
      let job = try await store.job(.key(consumptionKey.job))
      try expectEqual(job?.state, .open)
      try expectEqual(job?.dueAt, 5_000)
      try expectEqual(job?.key.transactionID, "1")
      try expectEqual(
        try await store.consumptionCounts(doing: [readerScope]),
        ConsumptionCounts(open: 1, earliestDeadline: 43_204_000))
      // Nothing is counted that waits for the key of another server.
      try expectEqual(try await store.consumptionCounts(doing: []), ConsumptionCounts())
      // Apple asks again while it has not decided.
      try await store.requestConsumption(2, signedAt: 9_000)
      try expectEqual(try await store.consumptionRecord(), record)
      let page = try await store.consumptionRequests(
        ConsumptionQuery(bundleID: readerScope.bundleID, state: .open, limit: 10))
      try expectEqual(page, ConsumptionPage(records: [record], next: nil))
      let none = try await store.consumptionRequests(ConsumptionQuery(state: .sent, limit: 10))
      try expectEqual(none.records, [])
      let reopened = try await harness.reopen(store)
      try expectEqual(try await reopened.consumptionRecord(), record)
      await reopened.close()
    },

    ConformanceCase("A request that arrives after its 12 hours is not sent, and told (R86)") {
      store, _ in
      let late = Milliseconds(43_204_000)
      try await store.requestConsumption(1, at: late)
      let record = try await store.consumptionRecord()
      try expectEqual(record.request?.state, .notSent)
      try expectEqual(record.request?.cause, .arrivedLate)
      try expectEqual(try await store.job(.key(consumptionKey.job)), nil)
      try expectEqual(try await store.consumptionEvents(), ["15 ARRIVED_LATE"])
      try expectEqual(try await store.consumptionCounts(doing: [readerScope]), ConsumptionCounts())
      // A later request is another one.
      try await store.requestConsumption(2, signedAt: 43_000_000, at: late)
      try expectEqual(try await store.consumptionRecord().request?.state, .open)
      try expectEqual(try await store.consumptionRecord().id, record.id)
      // An earlier one that arrives late changes nothing.
      try await store.requestConsumption(3, signedAt: 3_000, at: late)
      try expectEqual(try await store.consumptionRecord().request?.notificationUUID, uuid(2))
    },

    ConformanceCase("What a backend says of a purchase is stored, and hastens its job (R87)") {
      store, _ in
      let statement = ConsumptionStatement(percentage: 42_500, deliveryStatus: .delivered)
      try expectEqual(try await store.state(statement), true)
      try expectEqual(try await store.state(statement), false)
      try expectEqual(try await store.consumptionRecord().request, nil)
      let all = try await store.consumptionRequests(ConsumptionQuery(limit: 10))
      try expectEqual(all.records, [], "a record without a request is none")
      try await store.requestConsumption(1)
      try expectEqual(try await store.consumptionRecord().statement, statement)
      let lease = try await store.leaseConsumption(at: 5_000)
      let key = consumptionKey.job
      guard let job = try await store.job(.key(key)) else {
        throw ConformanceFailure("there is no job", file: #fileID, line: #line)
      }
      _ = try await store.change(
        AppStoreJobRequest(
          .report(
            AppStoreJobReport(
              of: job, lease: lease, .paused(until: 900_000, reason: "waits"), cursor: "")),
          at: 6_000))
      try expectEqual(try await store.state(ConsumptionStatement(percentage: 1)), true)
      try expectEqual(try await store.job(.key(key))?.dueAt, 8_000)
    },
  ]

  private static let consumptionSendingCases: [ConformanceCase] = [
    ConformanceCase("What is sent is decided and marked in one step, once (R86, R88)") { store, _ in
      try await store.requestConsumption(1)
      try await store.consent(true)
      let lease = try await store.leaseConsumption(at: 5_000)
      try expectEqual(try await store.begin("another lease"), .leaseLost)
      let answer = try await store.begin(lease)
      guard case .decision(.send(let information), let record) = answer else {
        throw ConformanceFailure("\(answer)", file: #fileID, line: #line)
      }
      try expectEqual(information.deliveryStatus, .delivered)
      try expectEqual(information.consumptionPercentage, nil, "of a subscription")
      try expectEqual(record.request?.sending, lease)
      try expectEqual(record.request?.attempts, 1)
      try expectEqual(try await store.end(lease, .failed("HTTP 503")), true)
      let failed = try await store.consumptionRecord().request
      try expectEqual(failed?.state, .open)
      try expectEqual(failed?.sending, nil)
      try expectEqual(failed?.detail, "HTTP 503")
      _ = try await store.begin(lease)
      try expectEqual(try await store.end(lease, .sent(information)), true)
      let sent = try await store.consumptionRecord().request
      try expectEqual(sent?.state, .sent)
      try expectEqual(sent?.attempts, 2)
      try expectEqual(
        try await store.consumptionEvents(), ["14 DELIVERED, no sample"], "the feed")
      // Nothing sends it again.
      guard case .record(_, isChanged: false) = try await store.begin(lease) else {
        throw ConformanceFailure("it was sent again", file: #fileID, line: #line)
      }
      try await store.requestConsumption(2, signedAt: 9_000)
      try expectEqual(try await store.consumptionRecord().request, sent)
      let again = try await store.change(consumptionChange(.reopen("1", isDryRun: false)))
      guard case .record(_, isChanged: false) = again else {
        throw ConformanceFailure("\(again)", file: #fileID, line: #line)
      }
      let audited = try await store.auditMethods()
      try expect(audited.contains("ConsumptionSent"), "\(audited)")
    },

    ConformanceCase("A call whose end nobody told is not repeated by itself (R88)") { store, _ in
      try await store.requestConsumption(1)
      try await store.consent(true)
      let first = try await store.leaseConsumption(at: 5_000)
      let answer = try await store.begin(first)
      guard case .decision(.send(let information), _) = answer else {
        throw ConformanceFailure("\(answer)", file: #fileID, line: #line)
      }
      // The process was killed; its lease ends.
      let second = try await store.leaseConsumption(at: 70_000)
      guard case .decision(.end(.outcomeUncertain), let record) = try await store.begin(second)
      else { throw ConformanceFailure("it was repeated", file: #fileID, line: #line) }
      try expectEqual(record.request?.state, .notSent)
      try await store.requestConsumption(2, signedAt: 9_000)
      try expectEqual(try await store.consumptionRecord(), record)
      // It was only slow: what it tells counts.
      try expectEqual(try await store.end(first, .sent(information)), true)
      try expectEqual(try await store.consumptionRecord().request?.state, .sent)
      try expectEqual(
        try await store.consumptionEvents(),
        [
          "15 OUTCOME_UNCERTAIN: the server ended during the call", "14 DELIVERED, no sample",
        ])
    },

    ConformanceCase("A slow process tells that its call changed nothing, or was refused (R88)") {
      store, _ in
      try await store.requestConsumption(1)
      try await store.consent(true)
      let first = try await store.leaseConsumption(at: 5_000)
      _ = try await store.begin(first)
      let second = try await store.leaseConsumption(at: 70_000)
      guard case .decision(.end(.outcomeUncertain), let record) = try await store.begin(second)
      else { throw ConformanceFailure("it was repeated", file: #fileID, line: #line) }
      try await store.finishConsumption(second)
      // By hand it is too early: the outcome may still become known.
      let reopen = ConsumptionChange.Change.reopen("1", isDryRun: true)
      try expectEqual(
        try await store.change(consumptionChange(reopen, at: 67_999)),
        .refused(.outcomeUncertain, record))
      guard
        case .record(_, isChanged: true) = try await store.change(
          consumptionChange(reopen, at: 68_000))
      else { throw ConformanceFailure("it was refused", file: #fileID, line: #line) }
      try expectEqual(try await store.end(first, .failed("no connection")), true)
      let opened = try await store.consumptionRecord().request
      try expectEqual(opened?.state, .open)
      try expectEqual(opened?.cause, nil)
      try expectEqual(opened?.sending, nil)
      try expectEqual(try await store.job(.key(consumptionKey.job))?.state, .open)
      let third = try await store.leaseConsumption(at: 80_000)
      _ = try await store.begin(third)
      _ = try await store.begin(try await store.leaseConsumption(at: 150_000))
      try expectEqual(try await store.end(third, .refused("4000036")), true)
      let refused = try await store.consumptionRecord().request
      try expectEqual(refused?.cause, .appleRefused)
      try expectEqual(refused?.detail, "4000036")
      try expectEqual(try await store.end(third, .refused("4000036")), false)
    },

    ConformanceCase("Another request takes the place of one that nothing ended (R88)") { store, _ in
      try await store.requestConsumption(1)
      try await store.requestConsumption(2, signedAt: 40_000_000, at: 43_203_999)
      try expectEqual(try await store.consumptionRecord().request?.notificationUUID, uuid(1))
      try await store.requestConsumption(3, signedAt: 40_000_001, at: 43_204_000)
      let request = try await store.consumptionRecord().request
      try expectEqual(request?.notificationUUID, uuid(3))
      try expectEqual(request?.state, .open)
      try expectEqual(try await store.consumptionEvents(), ["15 DEADLINE_PASSED"])
    },

    ConformanceCase("What is stated during an attempt is looked at at once after it (R87)") {
      store, _ in
      try await store.requestConsumption(1)
      let lease = try await store.leaseConsumption(at: 5_000)
      guard let job = try await store.job(.key(consumptionKey.job)) else {
        throw ConformanceFailure("there is no job", file: #fileID, line: #line)
      }
      try expectEqual(try await store.state(ConsumptionStatement(percentage: 1)), true)
      _ = try await store.change(
        AppStoreJobRequest(
          .report(
            AppStoreJobReport(
              of: job, lease: lease, .paused(until: 900_000, reason: "waits"), cursor: "")),
          at: 9_000))
      try expectEqual(try await store.job(.key(consumptionKey.job))?.dueAt, 9_000)
    },

    ConformanceCase("Consumption is leased before refetches that wait longer (R88)") { store, _ in
      try await store.requestConsumption(1)
      for chain in 0..<5 {
        let key = AppStoreJobKey(readerScope, .refetch(OriginalTransactionID("chain-\(chain)")))
        _ = try await store.change(AppStoreJobRequest(.open(key, since: nil), at: 1_000))
      }
      let jobs = try await store.leaseJobs(
        AppStoreJobLease(
          scopes: [readerScope], now: 100_000, until: 160_000, lease: "a lease", limit: 1))
      try expectEqual(jobs.map(\.key), [consumptionKey.job])
      let others = try await store.leaseJobs(
        AppStoreJobLease(
          scopes: [readerScope], now: 100_000, until: 160_000, lease: "others", limit: 10))
      try expectEqual(others.count, 5)
      try expect(others.allSatisfy { $0.key.kind == .refetch }, "\(others)")
    },

    ConformanceCase("What was not sent can be opened by hand, with the same checks (R88)") {
      store, _ in
      let reopen = consumptionChange(.reopen("1", isDryRun: false), by: sampleCaller("otto"))
      try expectEqual(try await store.change(reopen), .unknown)
      try await store.requestConsumption(1)
      var lease = try await store.leaseConsumption(at: 5_000)
      guard case .decision(.end(.consentMissing), let record) = try await store.begin(lease) else {
        throw ConformanceFailure("it was sent without consent", file: #fileID, line: #line)
      }
      try await store.finishConsumption(lease)
      try expectEqual(try await store.change(reopen), .refused(.consentMissing, record))
      try await store.consent(true)
      let dryRun = try await store.change(consumptionChange(.reopen("1", isDryRun: true)))
      guard case .record(let would, isChanged: true) = dryRun else {
        throw ConformanceFailure("\(dryRun)", file: #fileID, line: #line)
      }
      try expectEqual(would.request?.state, .open)
      try expectEqual(try await store.consumptionRecord(), record)
      guard case .record(_, isChanged: true) = try await store.change(reopen) else {
        throw ConformanceFailure("it was not opened", file: #fileID, line: #line)
      }
      lease = try await store.leaseConsumption(at: 9_000)
      guard case .decision(.send, _) = try await store.begin(lease) else {
        throw ConformanceFailure("it was not sent", file: #fileID, line: #line)
      }
    },

    ConformanceCase("The request of a job that is cancelled is not sent (R88)") { store, _ in
      try await store.requestConsumption(1)
      _ = try await store.change(
        AppStoreJobRequest(.cancel(.key(consumptionKey.job)), at: 6_000))
      try expectEqual(try await store.consumptionRecord().request?.cause, .jobCancelled)
      try expectEqual(try await store.consumptionEvents(), ["15 JOB_CANCELLED"])
    },

    ConformanceCase("Concurrent workers send it once (R88)") { store, _ in
      try await store.requestConsumption(1)
      try await store.consent(true)
      let leases: [String] = await withTaskGroup(of: String?.self) { group in
        for _ in 0..<8 {
          group.addTask { try? await store.leaseConsumption(at: 5_000) }
        }
        return await group.reduce(into: []) { if let lease = $1 { $0.append(lease) } }
      }
      try expectEqual(leases.count, 1)
      guard let holder = leases.first else { return }
      // Only the holder of the lease sends, and only one of its attempts.
      let answers: [ConsumptionAnswer] = await withTaskGroup(of: ConsumptionAnswer?.self) { group in
        for number in 0..<8 {
          let lease = number.isMultiple(of: 2) ? holder : "another lease"
          group.addTask { try? await store.begin(lease) }
        }
        group.addTask {
          _ = try? await store.consent(false, at: 9_000)
          return nil
        }
        return await group.reduce(into: []) { if let answer = $1 { $0.append(answer) } }
      }
      try expectEqual(answers.count, 8)
      let sending = answers.count {
        if case .decision(.send, _) = $0 { true } else { false }
      }
      let request = try await store.consumptionRecord().request
      if sending == 0 {
        // The withdrawal was first.
        try expectEqual(request?.cause, .consentRefused)
      } else {
        try expectEqual(sending, 1)
        try expectEqual(request?.sending, holder)
        try expectEqual(request?.attempts, 1)
      }
      // After the withdrawal nothing is sent.
      _ = try await store.end(holder, .failed("HTTP 503"))
      if case .decision(.send, _) = try await store.begin(holder) {
        throw ConformanceFailure("it was sent without consent", file: #fileID, line: #line)
      }
      try expectEqual(try await store.consumptionRecord().request?.cause, .consentRefused)
    },
  ]

  private static let consentCases: [ConformanceCase] = [
    ConformanceCase("Consent is recorded with its author, and counts until it is withdrawn (R86)") {
      store, harness in
      try expectEqual(try await store.consumptionConsent(of: "anna", in: readerScope), nil)
      try expectEqual(try await store.consent(true), true)
      let consent = ConsumptionConsent(
        isGiven: true, at: 8_000, author: "otto", onBehalfOf: "ada", note: "a form")
      try expectEqual(try await store.consumptionConsent(of: "anna", in: readerScope), consent)
      try expectEqual(try await store.export("anna", in: readerScope)?.consent, consent)
      // A repeat keeps the first moment.
      try expectEqual(try await store.consent(true, at: 9_000), false)
      let reopened = try await harness.reopen(store)
      try expectEqual(try await reopened.consumptionConsent(of: "anna", in: readerScope), consent)
      try await reopened.requestConsumption(1)
      try expectEqual(try await reopened.consent(false, at: 9_000), true)
      let lease = try await reopened.leaseConsumption(at: 5_000)
      guard case .decision(.end(.consentRefused), _) = try await reopened.begin(lease) else {
        throw ConformanceFailure("it was sent without consent", file: #fileID, line: #line)
      }
      let audited = try await reopened.auditMethods()
      try expectEqual(audited.filter { $0 == "SetConsumptionConsent" }.count, 2)
      await reopened.close()
    },

    ConformanceCase("Consent is deleted with its account (R86)") { store, _ in
      try await store.requestConsumption(1)
      try await store.consent(true)
      try await store.done(.delete("anna"))
      try expectEqual(try await store.consumptionConsent(of: "anna", in: readerScope), nil)
      let lease = try await store.leaseConsumption(at: 5_000)
      guard case .decision(.wait(.ownerUnknown), _) = try await store.begin(lease) else {
        throw ConformanceFailure("it was sent for nobody", file: #fileID, line: #line)
      }
      try expectEqual(try await store.consumptionRecord().request?.cause, .ownerUnknown)
    },

    ConformanceCase("Of merged accounts both must have consented (R86)") { store, _ in
      for (index, row) in [
        (true, true, true), (true, false, false), (false, true, false), (true, nil, nil),
        (nil, true, nil), (nil, false, false), (false, nil, false), (nil, nil, nil),
      ].enumerated() {
        let (former, account) = (AccountID("former-\(index)"), AccountID("account-\(index)"))
        for (name, isGiven) in [(former, row.0), (account, row.1)] {
          let transaction = TransactionSample("\(name)", "\(name)")
          try await store.submit(transaction, by: name)
          if let isGiven { try await store.consent(isGiven, of: name) }
        }
        try await store.done(.merge(former, into: account))
        for name in [former, account] {
          let consent = try await store.consumptionConsent(of: name, in: readerScope)
          try expectEqual(consent?.isGiven, row.2, "row \(index), \(name)")
        }
      }
      // The trail has what each merge deleted: in the rows 1 to 4.
      let entries = try await store.auditEntries(
        AuditQuery(isByChain: true, after: .start, limit: 100))
      try expectEqual(entries.filter { $0.subject == "deleted by a merge" }.count, 4)
    },

    ConformanceCase("An account that brings nothing leaves the consent of the other (R86)") {
      store, _ in
      try await store.submit(TransactionSample("1", "1"), by: "anna")
      try await store.consent(true)
      // It has a grant only.
      _ = try await store.addGrant(sampleGrant(1))
      try await store.done(.merge("alice", into: "anna"))
      let consent = try await store.consumptionConsent(of: "anna", in: readerScope)
      try expectEqual(consent?.isGiven, true)
    },
  ]

  /// For stores whose database several processes share.
  static let sharedConsumptionCases: [ConformanceCase] = [
    ConformanceCase("Consent that another process withdrew before counts (R86)") {
      store, harness in
      let other = try await harness.open()
      try await store.requestConsumption(1)
      try await store.consent(true)
      try await other.consent(false, at: 9_000)
      let lease = try await store.leaseConsumption(at: 5_000)
      guard case .decision(.end(.consentRefused), _) = try await store.begin(lease) else {
        throw ConformanceFailure("it was sent without consent", file: #fileID, line: #line)
      }
      await other.close()
    }
  ]
}

/// The purchase of the cases.
private let consumptionKey = ConsumptionKey(readerScope, "1")

private let consumptionCatalog: Catalog = {
  var catalog = PolicySample.catalog(nil)
  catalog.products["com.example.reader.monthly"]?.consumption = ConsumptionPolicy()
  return catalog
}()

private func consumptionChange(
  _ change: ConsumptionChange.Change, at: Milliseconds = 8_000,
  by caller: AuditCaller = .server
) -> ConsumptionChange {
  ConsumptionChange(
    change, in: readerScope, at: at, jobsAt: at, catalog: consumptionCatalog, caller: caller,
    onBehalfOf: "ada", reason: "a form")
}

extension EntitlementStore {
  /// Anna's purchase, and the App Store's request about it.
  fileprivate func requestConsumption(
    _ number: Int, signedAt: Milliseconds = 4_000, at: Milliseconds = 5_000
  ) async throws {
    var request = StoreConformance.notification(number, "CONSUMPTION_REQUEST") {
      $0.signedDate = signedAt
    }
    request.consumptionRequestReason = "OTHER"
    try await submit(
      [TransactionSample("1", "1").signed()], by: "anna", notification: request, at: at,
      under: consumptionCatalog)
  }

  fileprivate func consumptionRecord() async throws -> ConsumptionRecord {
    guard let record = try await consumption(consumptionKey) else {
      throw ConformanceFailure("nothing is stored", file: #fileID, line: #line)
    }
    return record
  }

  fileprivate func auditMethods() async throws -> [String] {
    try await auditEntries(AuditQuery(isByChain: true, after: .start, limit: 100)).map(\.method)
  }

  /// The kinds and details of its events.
  fileprivate func consumptionEvents() async throws -> [String] {
    try await feed().flatMap(\.events)
      .filter { [.consumptionSent, .consumptionNotSent].contains($0.kind) }
      .map { "\($0.kind.rawValue) \($0.detail ?? "")" }
  }

  @discardableResult
  fileprivate func consent(
    _ isGiven: Bool, of account: AccountID = "anna", at: Milliseconds = 8_000
  ) async throws -> Bool {
    let answer = try await change(
      consumptionChange(.consent(account, isGiven: isGiven), at: at, by: sampleCaller("otto")))
    guard case .consent(let consent, let isChanged) = answer else {
      throw ConformanceFailure("\(answer)", file: #fileID, line: #line)
    }
    try expectEqual(consent.isGiven, isGiven)
    return isChanged
  }

  fileprivate func state(_ statement: ConsumptionStatement) async throws -> Bool {
    let answer = try await change(
      consumptionChange(.statement("1", statement), by: sampleCaller("otto")))
    guard case .record(let record, let isChanged) = answer else {
      throw ConformanceFailure("\(answer)", file: #fileID, line: #line)
    }
    try expectEqual(record.statement, statement)
    try expect(record.id != nil, "the record has no id")
    return isChanged
  }

  /// - Returns: the name of the lease.
  fileprivate func leaseConsumption(at now: Milliseconds) async throws -> String {
    let lease = "lease at \(now) \(UInt64.random(in: .min ... .max))"
    let jobs = try await leaseJobs(
      AppStoreJobLease(
        scopes: [readerScope], now: now, until: now.advanced(by: 60_000), lease: lease, limit: 10))
    guard jobs.map(\.key) == [consumptionKey.job] else {
      throw ConformanceFailure("leased: \(jobs)", file: #fileID, line: #line)
    }
    return lease
  }

  fileprivate func begin(_ lease: String) async throws -> ConsumptionAnswer {
    try await change(consumptionChange(.begin("1", lease: lease)))
  }

  /// - Returns: whether it was taken.
  fileprivate func end(_ lease: String, _ outcome: ConsumptionOutcome) async throws -> Bool {
    if case .record = try await change(consumptionChange(.end("1", lease: lease, outcome))) {
      return true
    }
    return false
  }

  fileprivate func finishConsumption(_ lease: String) async throws {
    guard let job = try await job(.key(consumptionKey.job)) else { return }
    _ = try await change(
      AppStoreJobRequest(
        .report(
          AppStoreJobReport(of: job, lease: lease, .done(completeUntil: nil), cursor: "")),
        at: 8_000))
  }
}
