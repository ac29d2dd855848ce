import EntitlementDomain
import EntitlementStore
import TestSupport

// Jobs of the App Store Server API: what opens one (R79), and how one ends (R80). Moments are those of a
// clock that the cases set.
extension StoreConformanceSuite {
  static let jobCases: [ConformanceCase] =
    openingCases + leasingCases + endingCases + decisionCases + reconciliationCases + jobListCases

  private static let openingCases: [ConformanceCase] = [
    ConformanceCase("A notification that makes a refetch due opens a job in its commit (R79)") {
      store, _ in
      let receipt = try await store.refetchDue(1, chain: "1", at: 5_000)
      var expected = AppStoreJob(
        key: refetch("1"), reasons: Set(receipt.events.compactMap(\.refetchReason)),
        openedAt: 5_000, dueAt: 15_000)
      try expect(expected.reasons.contains(.successorMissing), "reasons: \(expected.reasons)")
      let job = try await store.storedJob("1")
      expected.id = job.id
      try expectEqual(job, expected)
      try expectEqual(try await store.job(.id(job.id ?? 0)), job)
      // Apple sends again what was not answered.
      try await store.refetchDue(1, chain: "1", at: 9_000)
      try expectEqual(try await store.storedJob("1"), job)
      // The clock of jobs may be another one than that of facts.
      _ = try await store.commit(
        Submission(
          facts: [upgraded("2")], notification: upgrade(2), receivedAt: 6_000, jobsAt: 70_000,
          catalog: PolicySample.catalog(nil)))
      let other = try await store.storedJob("2")
      try expectEqual([other.openedAt, other.dueAt], [70_000, 80_000])
      try expect((other.id ?? 0) > (job.id ?? 0), "ids do not increase")
      try expectEqual(try await store.job(.key(refetch("3"))), nil)
      try expectEqual(try await store.job(.id(99)), nil)
    },

    ConformanceCase("An event that names no chain, and one of another kind, open no job (R79)") {
      store, _ in
      let nameless = try await store.submit([], notification: notification(1, "DID_RENEW"))
      let due = nameless.events.filter { $0.refetchReason != nil }
      try expectEqual(due.map(\.originalTransactionID), [nil], "chains of \(nameless.events)")
      let other = try await store.submit(
        [TransactionSample("1", "1").signed()],
        notification: notification(2, "REFUND_DECLINED"))
      try expectEqual(other.events.map(\.kind), [.refundDeclined])
      try expectEqual(try await store.allJobs(), [])
      try expectEqual(try await store.jobCounts(doing: [readerScope]), AppStoreJobCounts())
    },

    ConformanceCase("What asks for an open job adds to it, and keeps its wait (R79)") { store, _ in
      // Without Apple's status, which differs.
      let first = try await store.submit(
        [upgraded("1")],
        notification: notification(1, "DID_CHANGE_RENEWAL_PREF") { $0.subtype = "UPGRADE" },
        at: 5_000, under: PolicySample.catalog(nil))
      let leased = try await store.leased(at: 15_000)
      try await store.report(
        leased[0], .failed("no route", retryAt: 60_000, isUnexplained: false), at: 16_000)
      let second = try await store.refetchDue(2, chain: "1", at: 20_000)
      let reasons = [first, second].map { Set($0.events.compactMap(\.refetchReason)) }
      try expect(!reasons[1].isSubset(of: reasons[0]), "reasons: \(reasons)")
      let job = try await store.storedJob("1")
      try expectEqual(job.reasons, reasons[0].union(reasons[1]))
      try expectEqual(job.opening, 2)
      try expectEqual([job.openedAt, job.dueAt], [5_000, 60_000])
      try expectEqual(job.failures, 1)
      // Once it is done, it begins anew.
      let again = try await store.leased(at: 60_000)
      try await store.report(again[0], .done(completeUntil: nil), at: 61_000)
      let third = try await store.refetchDue(3, chain: "1", at: 70_000)
      let reopened = try await store.storedJob("1")
      try expectEqual(reopened.id, job.id)
      try expectEqual(reopened.reasons, Set(third.events.compactMap(\.refetchReason)))
      try expectEqual(reopened.opening, 3)
      try expectEqual([reopened.openedAt, reopened.dueAt], [70_000, 80_000])
      try expectEqual(reopened.failures, 0)
    },

    ConformanceCase("A job is stored together with its notification, or not at all (R79)") {
      store, _ in
      // No store accepts a NUL in an identifier: the second fact fails, and with it the submission.
      var bad = try TransactionSample("4", "4").signed()
      if case .transaction(var fact) = bad.fact {
        fact.transactionID = "4\u{0}5"
        bad.fact = .transaction(fact)
      }
      do {
        try await store.submit(
          [upgraded("1"), bad], notification: upgrade(1), under: PolicySample.catalog(nil))
        throw ConformanceFailure("the submission was stored", file: #fileID, line: #line)
      } catch is StoreError {}
      try expectEqual(try await store.allJobs(), [])
      try await store.refetchDue(1, chain: "1", at: 5_000)
      let job = try await store.storedJob("1")
      let holder = try await store.leased(at: 15_000)[0]
      do {
        try await store.report(holder, .givenUp("refused\u{0}"), at: 16_000)
        throw ConformanceFailure("the report was stored", file: #fileID, line: #line)
      } catch is StoreError {}
      var kept = job
      kept.lease = holder.lease
      kept.dueAt = holder.dueAt
      try expectEqual(try await store.storedJob("1"), kept)
      try expectEqual(
        try await store.feed().flatMap(\.events).filter { $0.kind == .jobGivenUp }, [])
    },

    ConformanceCase("A job with all that it has is kept when the database is reopened") {
      store, harness in
      let key = AppStoreJobKey(readerScope, .reconciliation)
      try await store.opened(key, since: 1_000, at: 2_000)
      var holder = try await store.leased(at: 2_000)[0]
      try await store.report(holder, .done(completeUntil: 1_900), at: 3_000)
      try await store.opened(key, since: 1_500, at: 4_000)
      holder = try await store.leased(at: 4_000)[0]
      try await store.report(
        holder, .failed("HTTP 500", retryAt: 9_000, isUnexplained: false), at: 5_000,
        cursor: "page é 2",
        progress: AppStoreJobProgress(calls: 1, payloads: 20, added: 3, refused: 4))
      holder = try await store.leased(at: 9_000)[0]
      try await store.report(
        holder, .failed("unclear", retryAt: 20_000, isUnexplained: true), at: 10_000,
        cursor: "page é 3",
        progress: AppStoreJobProgress(calls: 10, payloads: 200, added: 30, refused: 40))
      holder = try await store.leased(at: 20_000)[0]
      for number in 1...2 {
        try await store.refetchDue(number, chain: number == 1 ? "1" : "2", at: 30_000)
      }
      let jobs = try await store.allJobs()
      let expected = AppStoreJob(
        key: key, id: jobs.first?.id ?? 0, state: .open, opening: 2, reasons: [],
        openedAt: 4_000, changedAt: 10_000, dueAt: holder.dueAt, lease: holder.lease, failures: 1,
        unexplained: 1, lastFailure: "unclear", since: 1_500, completeUntil: 1_900,
        cursor: "page é 3",
        progress: AppStoreJobProgress(calls: 11, payloads: 220, added: 33, refused: 44))
      try expectEqual(jobs.first, expected)
      try expectEqual(jobs.count, 3)
      let reopened = try await harness.reopen(store)
      try expectEqual(try await reopened.allJobs(), jobs)
      try await reopened.report(holder, .done(completeUntil: 3_900), at: 21_000)
      try expectEqual(try await reopened.job(.key(key))?.state, .done)
      await reopened.close()
    },

    ConformanceCase("The deletion of a customer keeps the jobs of its chains (R46)") { store, _ in
      try await store.refetchDue(1, chain: "1", at: 5_000, by: "alice")
      let job = try await store.storedJob("1")
      try await store.done(.delete("alice"), at: 6_000)
      try expectEqual(try await store.storedJob("1"), job)
    },
  ]

  // MARK: Leases

  private static let leasingCases: [ConformanceCase] = [
    ConformanceCase("A job is leased when it is due, and again when its lease has ended (R79)") {
      store, _ in
      try await store.refetchDue(1, chain: "1", at: 5_000)
      let before = try await store.storedJob("1")
      try expectEqual(try await store.leased(at: 14_999), [])
      try expectEqual(try await store.storedJob("1"), before)
      let first = try await store.leased("a", at: 15_000, until: 45_000)
      var expected = before
      expected.lease = "a"
      expected.dueAt = 45_000
      try expectEqual(first, [expected])
      try expectEqual(try await store.storedJob("1"), expected)
      try expectEqual(try await store.leased("b", at: 44_999, until: 90_000), [])
      let second = try await store.leased("b", at: 45_000, until: 90_000)
      try expectEqual(second.map(\.lease), ["b"])
      // What its former holder did may be what ended it.
      try expectEqual(second.map(\.failures), [1])
      try expectEqual(second.map(\.lastFailure), ["the lease ended without a report"])
      let held = try await store.storedJob("1")
      for outcome: AppStoreJobReport.Outcome in [
        .working(until: 99_000), .paused(until: 99_000, reason: ""), .done(completeUntil: 9),
        .failed("no", retryAt: 99_000, isUnexplained: false), .givenUp("no"),
      ] {
        let answer = try await store.answer(first[0], outcome, at: 46_000)
        try expectEqual(answer, .leaseLost, "answer to \(outcome)")
      }
      try expectEqual(try await store.storedJob("1"), held)
      try await store.report(second[0], .done(completeUntil: nil), at: 47_000)
      let late = try await store.answer(second[0], .done(completeUntil: nil), at: 48_000)
      try expectEqual(late, .leaseLost)
      let stranger = AppStoreJob(key: refetch("9"), openedAt: 1, dueAt: 1)
      try expectEqual(
        try await store.change(
          AppStoreJobRequest(
            .report(AppStoreJobReport(of: stranger, lease: "a", .givenUp("no"), cursor: "")),
            at: 48_000)), .leaseLost)
    },

    ConformanceCase("Each job is leased to one of many holders at once (R79)") { store, _ in
      for number in 1...40 {
        try await store.opened(refetch(number), at: Milliseconds(Int64(number)))
      }
      let leased = try await withThrowingTaskGroup(of: [AppStoreJob].self) { group in
        for number in 0..<16 {
          group.addTask {
            var mine: [AppStoreJob] = []
            for round in 0..<4 {
              mine += try await store.leased(
                "\(number)-\(round)", at: 50_000, until: 90_000, limit: 3)
            }
            return mine
          }
        }
        return try await group.reduce(into: []) { $0 += $1 }
      }
      let rest = try await store.leased("rest", at: 50_000, until: 90_000, limit: 100)
      let all = (leased + rest).sorted { ($0.id ?? 0) < ($1.id ?? 0) }
      try expectEqual(all.count, 40, "leases")
      try expectEqual(Set(all.map(\.key)).count, 40, "leased jobs")
      // Each was told the lease that is stored.
      try expectEqual(try await store.allJobs(), all)
    },

    ConformanceCase("Jobs that wait longest are leased first, and apps take turns (R79)") {
      store, _ in
      let other = AppScope(bundleID: "com.example.other", environment: .sandbox)
      let third = AppScope(bundleID: "com.example.third", environment: .production)
      for number in (1...20).shuffled() {
        try await store.opened(
          refetch(100 + number), at: Milliseconds(Int64(number) * 100))
      }
      for number in 1...3 {
        try await store.opened(
          AppStoreJobKey(other, .refetch(OriginalTransactionID("\(number)"))),
          at: Milliseconds(20_000))
      }
      try await store.opened(AppStoreJobKey(third, .refetch("1")), at: 20_000)
      let scopes = [readerScope, other, readerScope]
      let leased = try await store.leased("a", at: 30_000, until: 90_000, limit: 4, scopes: scopes)
      try expectEqual(leased.count, 4)
      try expectEqual(
        Set(leased.filter { $0.key.scope == readerScope }.compactMap(\.key.chain)), ["101", "102"])
      try expectEqual(leased.count { $0.key.scope == other }, 2, "jobs of the other app")
      let more = try await store.leased("b", at: 30_000, until: 90_000, limit: 9, scopes: scopes)
      try expectEqual(more.count, 9)
      try expectEqual(more.count { $0.key.scope == other }, 1, "jobs of the other app")
      try expectEqual(
        Set(more.filter { $0.key.scope == readerScope }.compactMap(\.key.chain)),
        Set((103...110).map { OriginalTransactionID("\($0)") }))
      for nothing: [AppScope] in [[], [AppScope(bundleID: "com.example.4", environment: .xcode)]] {
        try expectEqual(
          try await store.leased("c", at: 30_000, until: 90_000, scopes: nothing), [])
      }
      try expectEqual(try await store.leased("c", at: 30_000, until: 90_000, limit: 0), [])
      try expectEqual(
        try await store.leased("c", at: 30_000, until: 90_000, limit: 1, scopes: [third]).count, 1)
    },

    ConformanceCase("A lease of one job at a time comes to each app in the end (R79)") { store, _ in
      let other = AppScope(bundleID: "com.example.other", environment: .sandbox)
      for number in 1...200 {
        try await store.opened(refetch(number), at: Milliseconds(Int64(number)))
      }
      try await store.opened(AppStoreJobKey(other, .refetch("1")), at: 20_000)
      // By chance: one in 2^200 runs fails although the store does what it should.
      var leases = 0
      var scope: AppScope?
      while scope != other, leases < 200 {
        let leased = try await store.leased(
          "\(leases)", at: 50_000, until: 90_000, limit: 1, scopes: [readerScope, other])
        scope = leased.first?.key.scope
        leases += 1
      }
      try expect(scope == other, "the other app waits for all jobs of the first")
    },

    ConformanceCase("Jobs that are opened while others do them are all done (R79, R80)") {
      store, _ in
      let chains = (1...12).map { OriginalTransactionID("\($0)") }
      let openings = 4
      var random = SeededRandom(for: "Jobs that are opened while others do them")
      let orders = (0..<openings).map { _ in chains.shuffled(using: &random) }
      try await withThrowingTaskGroup(of: Void.self) { group in
        for order in orders {
          group.addTask {
            for chain in order { try await store.opened(refetch(chain), at: 1_000) }
          }
        }
        for holder in 0..<4 {
          group.addTask {
            for round in 0..<20 {
              for job in try await store.leased(
                "\(holder)-\(round)", at: 500_000, until: 900_000, limit: 2)
              {
                // Due again at once, if it was opened meanwhile.
                let answer = try await store.answer(job, .done(completeUntil: nil), at: 1_000)
                guard case .done = answer else {
                  throw ConformanceFailure("the lease was lost", file: #fileID, line: #line)
                }
              }
            }
          }
        }
        try await group.waitForAll()
      }
      while case let rest = try await store.leased("rest", at: 500_000, until: 900_000),
        !rest.isEmpty
      {
        for job in rest { try await store.report(job, .done(completeUntil: nil), at: 1_000) }
      }
      let jobs = try await store.allJobs()
      try expectEqual(Set(jobs.compactMap(\.key.chain)), Set(chains))
      try expectEqual(jobs.map(\.opening), chains.map { _ in Int64(openings) }, "openings")
      try expect(jobs.allSatisfy { $0.state == .done && $0.lease == nil }, "\(jobs)")
    },
  ]

  // MARK: Ends

  private static let endingCases: [ConformanceCase] = [
    ConformanceCase("A job that was opened again during its attempt stays open (R80)") { store, _ in
      try await store.refetchDue(1, chain: "1", at: 5_000)
      let holder = try await store.leased(at: 15_000)[0]
      try await store.refetchDue(2, chain: "1", at: 16_000)
      try expectEqual(try await store.storedJob("1").lease, holder.lease)
      let job = try await store.report(holder, .done(completeUntil: nil), at: 20_000, cursor: "r1")
      try expectEqual(job.state, .open)
      try expectEqual(job.lease, nil)
      try expectEqual(job.dueAt, 30_000)
      try expectEqual(job.cursor, "r1")
      let again = try await store.leased(at: 30_000)[0]
      let done = try await store.report(again, .done(completeUntil: nil), at: 31_000, cursor: "r2")
      try expectEqual(done.state, .done)
      try expectEqual(done.changedAt, 31_000)
      try expectEqual(try await store.storedJob("1"), done)
      try expectEqual(try await store.leased(at: 900_000), [])
    },

    ConformanceCase("Failures are counted until a job is opened again or retried (R80)") {
      store, _ in
      try await store.opened(refetch("1"), at: 5_000)
      var now: Int64 = 15_000
      func next(_ outcome: AppStoreJobReport.Outcome) async throws -> AppStoreJob {
        let holder = try await store.leased("l\(now)", at: Milliseconds(now))[0]
        let job = try await store.report(
          holder, outcome, at: Milliseconds(now + 1), cursor: "c\(now)",
          progress: AppStoreJobProgress(calls: 1, payloads: 2))
        try expectEqual(try await store.storedJob("1"), job)
        try expectEqual(job.cursor, "c\(now)")
        now += 10_000
        return job
      }
      func retry(after outcome: (Milliseconds) -> AppStoreJobReport.Outcome) async throws
        -> AppStoreJob
      {
        let until = Milliseconds(now + 10_000)
        let job = try await next(outcome(until))
        try expectEqual(job.dueAt, until)
        try expectEqual(job.lease, nil)
        return job
      }
      var job = try await retry { .failed("no route", retryAt: $0, isUnexplained: false) }
      try expectEqual([job.failures, job.unexplained], [1, 0])
      try expectEqual(job.lastFailure, "no route")
      job = try await retry { .failed("unclear", retryAt: $0, isUnexplained: true) }
      try expectEqual([job.failures, job.unexplained], [1, 1])
      job = try await retry { .paused(until: $0, reason: "rate limit") }
      try expectEqual([job.failures, job.unexplained], [1, 1])
      try expectEqual(job.lastFailure, "rate limit")
      job = try await retry { .paused(until: $0, reason: String(repeating: "é", count: 200)) }
      try expectEqual(job.lastFailure, String(repeating: "é", count: 128))
      let holder = try await store.leased("w", at: Milliseconds(now))[0]
      let working = try await store.report(
        holder, .working(until: 200_000), at: Milliseconds(now), cursor: "page 2",
        progress: AppStoreJobProgress(calls: 1, payloads: 2))
      try expectEqual(working.lease, "w")
      // It advances.
      try expectEqual([working.failures, working.unexplained], [0, 1])
      try expectEqual(working.dueAt, 200_000)
      try expectEqual(working.changedAt, job.changedAt)
      try expectEqual(try await store.leased("v", at: 199_999, until: 300_000), [])
      now = 201_000
      job = try await next(.done(completeUntil: nil))
      try expectEqual(job.state, .done)
      try expectEqual(job.progress, AppStoreJobProgress(calls: 6, payloads: 12))
      job = try await store.opened(refetch("1"), at: 300_000)
      try expectEqual([job.failures, job.unexplained], [0, 0])
      try expectEqual(job.progress, AppStoreJobProgress())
      // Apple lists only what is new after it.
      try expectEqual(job.cursor, "c201000")
    },

    ConformanceCase("A job that is given up appends one event for its customer (R80)") { store, _ in
      try await store.refetchDue(1, chain: "1", at: 5_000, by: "alice")
      try await store.refetchDue(2, chain: "2", at: 5_000)
      // Of a chain that is not known, and of no chain.
      try await store.opened(refetch("3"), at: 5_000)
      let reconciliation = AppStoreJobKey(readerScope, .reconciliation)
      try await store.opened(reconciliation, since: 1, at: 5_000)
      let alice = try await store.customer(.account("alice"))
      let start = try await store.feed().last?.sequence ?? 0
      let subjects: [(AppStoreJobKey, CustomerSubject?)] = [
        (refetch("1"), account("alice")), (refetch("2"), unlinked("2")), (refetch("3"), nil),
        (reconciliation, nil),
      ]
      let holders = try await store.leased(at: 15_000)
      try expectEqual(holders.count, 4)
      for (number, (key, subject)) in subjects.enumerated() {
        let holder = try unwrap(holders.first { $0.key == key }, "holder")
        let moment = Milliseconds(Int64(16_000 + number))
        let job = try await store.report(holder, .givenUp("HTTP 404: 4040010"), at: moment)
        try expectEqual(job.state, .givenUp)
        try expectEqual(job.lastFailure, "HTTP 404: 4040010")
        let late = try await store.answer(holder, .givenUp("again"), at: 17_000)
        try expectEqual(late, .leaseLost)
        let told = try await store.feed(after: start)
        try expectEqual(told.count, number + 1)
        var event = FeedEvent(
          kind: .jobGivenUp, notificationUUID: "", detail: "HTTP 404: 4040010")
        event.originalTransactionID = key.chain
        try expectEqual(
          told.last,
          Change(
            sequence: told.last?.sequence ?? 0, scope: readerScope, subject: subject,
            kinds: .events, events: [event], committedAt: moment))
      }
      // As all events, it is no change of the state.
      try expectEqual(try await store.customer(.account("alice")), alice)
      try expectEqual(try await store.leased(at: 900_000), [])
      // A notification opens it again.
      try await store.refetchDue(3, chain: "2", at: 20_000)
      let job = try await store.storedJob("2")
      try expectEqual(job.state, .open)
      try expectEqual(job.lastFailure, "")
    },
  ]

  // MARK: Decisions of operators

  private static let decisionCases: [ConformanceCase] = [
    ConformanceCase("A job is retried and cancelled by an operator, with entries (R76, R80)") {
      store, _ in
      try await store.opened(refetch("1"), at: 5_000)
      let id = try await store.storedJob("1").id ?? 0
      var holder = try await store.leased(at: 15_000)[0]
      let busy = try await store.decided(.retry(.id(id)), at: 16_000)
      try expectEqual(busy.isChanged, false)
      try await store.report(
        holder, .failed("no route", retryAt: 90_000, isUnexplained: false), at: 16_000)
      // Without the rest of its wait.
      let waiting = try await store.decided(.retry(.id(id)), at: 17_000)
      try expectEqual(waiting.isChanged, true)
      try expectEqual(waiting.job.dueAt, 17_000)
      try expectEqual(waiting.job.failures, 0)
      try expectEqual(waiting.job.opening, 1)
      holder = try await store.leased(at: 17_000)[0]
      let cancelled = try await store.decided(.cancel(.key(refetch("1"))), at: 18_000)
      try expectEqual(cancelled.isChanged, true)
      try expectEqual(cancelled.job.state, .cancelled)
      try expectEqual(cancelled.job.lease, nil)
      try expectEqual(cancelled.job.changedAt, 18_000)
      let late = try await store.answer(holder, .done(completeUntil: nil), at: 19_000)
      try expectEqual(late, .leaseLost)
      try expectEqual(try await store.storedJob("1"), cancelled.job)
      try expectEqual(try await store.decided(.cancel(.id(id)), at: 19_000).isChanged, false)
      let retried = try await store.decided(.retry(.id(id)), at: 20_000)
      try expectEqual(retried.isChanged, true)
      try expectEqual(retried.job.state, .open)
      try expectEqual(retried.job.opening, 2)
      try expectEqual([retried.job.openedAt, retried.job.dueAt], [20_000, 20_000])
      for reference: AppStoreJobReference in [
        .id(id + 1_000), .key(refetch("9")),
        .key(
          AppStoreJobKey(AppScope(bundleID: "com.example.x", environment: .xcode), .reconciliation)),
      ] {
        for change: AppStoreJobRequest.Change in [.retry(reference), .cancel(reference)] {
          let answer = try await store.change(
            AppStoreJobRequest(change, at: 21_000, caller: sampleCaller("otto")))
          try expectEqual(answer, .unknown, "answer to \(change)")
        }
      }
      // The server's own work has no entries.
      _ = try await store.change(AppStoreJobRequest(.cancel(.id(id)), at: 22_000))
      let entries = try await store.trail()
      try expectEqual(entries.map(\.method), ["RetryJob", "CancelJob", "RetryJob"])
      for entry in entries {
        try expectEqual(entry.subject, "job \(id)")
        try expectEqual(
          [entry.author, entry.onBehalfOf, entry.reason, entry.bundleID, entry.account],
          ["otto", "ada", "a ticket", readerScope.bundleID.rawValue, ""])
      }
      _ = try await store.verifiedTrail()
    }
  ]

  // MARK: Reconciliations

  private static let reconciliationCases: [ConformanceCase] = [
    ConformanceCase("A reconciliation goes back to the earliest moment that was asked for (R79)") {
      store, _ in
      let key = AppStoreJobKey(readerScope, .reconciliation)
      let sandbox = AppScope(bundleID: readerScope.bundleID, environment: .sandbox)
      let opened = try await store.decided(.open(key, since: 50_000), at: 60_000)
      try expectEqual(opened.isChanged, true)
      try expect(opened.job.id != nil, "the new job has no id")
      try expectEqual(try await store.job(.key(key)), opened.job)
      // Nothing is on its way: it is due at once.
      try expectEqual(opened.job.dueAt, 60_000)
      var holder = try await store.leased("a", at: 60_000, until: 70_000)[0]
      try await store.report(
        holder, .paused(until: 90_000, reason: ""), at: 60_500, cursor: "p2")
      // What is scheduled adds nothing to an open one.
      let scheduled = try await store.change(
        AppStoreJobRequest(.schedule(key, since: 1), at: 60_600))
      guard case .done(var job, isChanged: false) = scheduled else {
        throw ConformanceFailure("\(scheduled)", file: #fileID, line: #line)
      }
      try expectEqual(job.cursor, "p2")
      // It is read again, up to a later end, and at once.
      job = try await store.opened(key, since: 55_000, at: 61_000)
      try expectEqual(job.since, 50_000)
      try expectEqual(job.cursor, "")
      try expectEqual(job.dueAt, 61_000)
      job = try await store.opened(key, since: 40_000, at: 61_000)
      try expectEqual(job.since, 40_000)
      try expectEqual(job.cursor, "")
      try expectEqual(job.opening, 3)
      holder = try await store.leased("b", at: 61_000, until: 70_000)[0]
      job = try await store.report(
        holder, .done(completeUntil: 60_000), at: 62_000, cursor: "p9")
      try expectEqual(job.state, .done)
      try expectEqual(job.completeUntil, 60_000)
      // A later one begins at its own moment. What is complete is what the last one says: a clock may have
      // been wrong.
      job = try await store.opened(key, since: 59_000, at: 80_000)
      try expectEqual(job.since, 59_000)
      try expectEqual(job.cursor, "")
      holder = try await store.leased("c", at: 80_000, until: 90_000)[0]
      job = try await store.report(holder, .done(completeUntil: 30_000), at: 81_000)
      try expectEqual(job.completeUntil, 30_000)
      // What was asked for and not read, and what is not complete, is not passed over.
      try await store.opened(key, since: 20_000, at: 81_100)
      _ = try await store.change(AppStoreJobRequest(.cancel(.key(key)), at: 81_200))
      job = try await store.opened(key, since: 80_000, at: 81_300)
      try expectEqual(job.since, 20_000)
      holder = try await store.leased("d", at: 81_300, until: 90_000)[0]
      try await store.report(holder, .done(completeUntil: 81_000), at: 81_400)
      job = try await store.opened(key, since: 81_300, at: 81_500)
      try expectEqual(job.since, 81_000)
      // Each environment has its own.
      try await store.opened(AppStoreJobKey(sandbox, .reconciliation), since: 1, at: 82_000)
      try expectEqual(try await store.job(.key(key)), job)
      try expectEqual(try await store.trail().map(\.method), ["ReconcileNotifications"])
    },

    ConformanceCase("An attempt does not pass over what was asked for meanwhile (R79)") {
      store, _ in
      let key = AppStoreJobKey(readerScope, .reconciliation)
      try await store.opened(key, since: 50_000, at: 60_000)
      let holder = try await store.leased("a", at: 60_000, until: 70_000)[0]
      try await store.report(holder, .working(until: 71_000), at: 60_100, cursor: "p2")
      var job = try await store.report(
        holder, .working(until: 71_000), at: 60_200, cursor: "p3")
      try expectEqual(job.cursor, "p3")
      try await store.opened(key, since: 40_000, at: 60_300)
      for outcome: AppStoreJobReport.Outcome in [
        .working(until: 71_000), .paused(until: 62_000, reason: ""),
      ] {
        job = try await store.report(holder, outcome, at: 60_400, cursor: "p4")
        try expectEqual([job.since], [40_000])
        try expectEqual(job.cursor, "", "cursor after \(outcome)")
      }
      let next = try await store.leased("b", at: 62_000, until: 70_000)[0]
      job = try await store.report(next, .done(completeUntil: 60_000), at: 63_000)
      try expectEqual(job.state, .done)
    },
  ]

  // MARK: Lists

  private static let jobListCases: [ConformanceCase] = [
    ConformanceCase("Jobs are listed by their ids, in pages, by what is asked for") { store, _ in
      var random = SeededRandom(for: "Jobs are listed by their ids")
      let scopes = [
        readerScope, AppScope(bundleID: readerScope.bundleID, environment: .sandbox),
        AppScope(bundleID: "com.example.other", environment: .sandbox),
      ]
      for scope in scopes {
        try await store.opened(AppStoreJobKey(scope, .reconciliation), since: 1, at: 1_000)
        for number in 1...12 {
          try await store.opened(
            AppStoreJobKey(scope, .refetch(OriginalTransactionID("\(number)"))), at: 1_000)
        }
      }
      for job in try await store.leased("a", at: 20_000, limit: 100, scopes: scopes) {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: try await store.report(job, .done(completeUntil: nil), at: 21_000)
        case 1: try await store.report(job, .givenUp("no"), at: 21_000)
        case 2:
          _ = try await store.change(AppStoreJobRequest(.cancel(.key(job.key)), at: 21_000))
        default: break
        }
      }
      let all = try await store.allJobs()
      try expectEqual(all.count, 39)
      try expectEqual(all.compactMap(\.id), all.compactMap(\.id).sorted())
      for _ in 0..<200 {
        func maybe<Value>(_ values: [Value]) -> Value? {
          Bool.random(using: &random) ? values.randomElement(using: &random) : nil
        }
        let query = AppStoreJobQuery(
          bundleID: maybe([readerScope.bundleID, "com.example.other", "com.example.none"]),
          environment: maybe([.production, .sandbox, .xcode]),
          state: maybe(AppStoreJob.State.allCases), kind: maybe(AppStoreJobKind.allCases),
          chain: Int.random(in: 0..<3, using: &random) == 0 ? maybe(["1", "7", "99"]) : nil,
          limit: .random(in: 1...50, using: &random),
          scanLimit: [1, 7, 1_000].randomElement(using: &random) ?? 7)
        let expected = all.filter { job in
          (query.bundleID ?? job.key.scope.bundleID) == job.key.scope.bundleID
            && (query.environment ?? job.key.scope.environment) == job.key.scope.environment
            && (query.state ?? job.state) == job.state
            && (query.kind ?? job.key.kind) == job.key.kind
            && (query.chain == nil || query.chain == job.key.chain)
        }
        try expectEqual(try await store.jobs(inPagesOf: query), expected, "jobs of \(query)")
      }
      for limit in [0, -1] {
        try expectEqual(
          try await store.jobs(AppStoreJobQuery(limit: limit)),
          AppStoreJobPage(jobs: [], next: nil))
      }
    },

    ConformanceCase("A page of jobs looks through a limited number of them") { store, _ in
      for number in 1...9 { try await store.opened(refetch(number), at: 1_000) }
      let ids = try await store.allJobs().compactMap(\.id)
      let first = try await store.jobs(
        AppStoreJobQuery(kind: .reconciliation, limit: 5, scanLimit: 4))
      try expectEqual(first, AppStoreJobPage(jobs: [], next: ids[3]))
      let last = try await store.jobs(
        AppStoreJobQuery(kind: .reconciliation, after: ids[7], limit: 5, scanLimit: 4))
      try expectEqual(last, AppStoreJobPage(jobs: [], next: nil))
      let open = try await store.jobs(
        AppStoreJobQuery(state: .open, after: ids[1], limit: 3, scanLimit: 100))
      try expectEqual(open.jobs.compactMap(\.id), Array(ids[2...4]))
      try expectEqual(open.next, ids[4])
      let done = try await store.jobs(AppStoreJobQuery(state: .done, limit: 3, scanLimit: 100))
      try expectEqual(done, AppStoreJobPage(jobs: [], next: nil))
    },

    ConformanceCase("Jobs that need attention are counted") { store, _ in
      let sandbox = AppScope(bundleID: readerScope.bundleID, environment: .sandbox)
      for number in 1...6 {
        try await store.opened(refetch(number), at: Milliseconds(Int64(number) * 1_000))
      }
      try await store.opened(AppStoreJobKey(sandbox, .refetch("1")), at: 500)
      try expectEqual(
        try await store.jobCounts(doing: [readerScope, sandbox]),
        AppStoreJobCounts(open: 7, givenUp: 0, earliestDue: 10_500))
      // Jobs of other apps wait for a key.
      try expectEqual(
        try await store.jobCounts(doing: [readerScope]),
        AppStoreJobCounts(open: 7, givenUp: 0, earliestDue: 11_000))
      let jobs = try await store.leased(
        "a", at: 12_000, until: 99_000, scopes: [readerScope, sandbox])
      try expectEqual(jobs.count, 3)
      for job in jobs { try await store.report(job, .givenUp("no"), at: 13_000) }
      try expectEqual(
        try await store.jobCounts(doing: [readerScope, sandbox]),
        AppStoreJobCounts(open: 4, givenUp: 3, earliestDue: 13_000))
      for job in try await store.leased("b", at: 16_000, until: 99_000) {
        try await store.report(job, .done(completeUntil: nil), at: 17_000)
      }
      try expectEqual(
        try await store.jobCounts(doing: [readerScope, sandbox]),
        AppStoreJobCounts(open: 0, givenUp: 3, earliestDue: nil))
    },
  ]

  /// Several nodes with one database.
  static let sharedJobCases: [ConformanceCase] = [
    ConformanceCase("Nodes lease each job once, while it is opened and reported elsewhere (R79)") {
      store, harness in
      let nodes = [store, try await harness.open(), try await harness.open()]
      for number in 1...60 { try await store.opened(refetch(number), at: 1_000) }
      let done = try await withThrowingTaskGroup(of: [AppStoreJobKey].self) { group in
        for (index, node) in nodes.enumerated() {
          for holder in 0..<3 {
            group.addTask {
              var mine: [AppStoreJobKey] = []
              for round in 0..<12 {
                for job in try await node.leased(
                  "\(index)-\(holder)-\(round)", at: 20_000, until: 90_000, limit: 4)
                {
                  // Each node's report is decided with the lease that is stored.
                  try await nodes[(index + 1) % 3].report(
                    job, .done(completeUntil: nil), at: 21_000)
                  mine.append(job.key)
                }
              }
              return mine
            }
          }
          group.addTask {
            // Opened while it is leased, done, or waits.
            for number in 1...5 { try await node.opened(refetch(number), at: 30_000) }
            return []
          }
        }
        return try await group.reduce(into: []) { $0 += $1 }
      }
      let once = done.filter { key in !(1...5).contains { key == refetch($0) } }
      try expectEqual(Set(once).count, once.count, "jobs that were done once")
      let jobs = try await store.allJobs()
      try expectEqual(jobs.count, 60)
      try expectEqual(jobs.reduce(0) { $0 + $1.opening }, 60 + 15, "openings")
      try expect(jobs.allSatisfy { $0.lease == nil }, "a job is still leased")
      for node in nodes.dropFirst() { await node.close() }
    }
  ]
}

private func refetch(_ chain: OriginalTransactionID) -> AppStoreJobKey {
  AppStoreJobKey(readerScope, .refetch(chain))
}

private func refetch(_ chain: Int) -> AppStoreJobKey {
  refetch(OriginalTransactionID("\(chain)"))
}

private func upgraded(_ chain: OriginalTransactionID) throws -> SignedFact {
  try TransactionSample(chain.rawValue, chain.rawValue).with { $0.isUpgraded = true }.signed()
}

private func upgrade(_ number: Int) -> SignedNotification {
  notification(number, "DID_CHANGE_RENEWAL_PREF", status: 2) { $0.subtype = "UPGRADE" }
}

extension EntitlementStore {
  /// Submits a notification about a period whose successor is missing (R17).
  @discardableResult
  fileprivate func refetchDue(
    _ number: Int, chain: OriginalTransactionID, at: Milliseconds, by account: AccountID? = nil
  ) async throws -> CommitReceipt {
    try await submit(
      [upgraded(chain)], by: account, notification: upgrade(number), at: at,
      under: PolicySample.catalog(nil))
  }

  fileprivate func storedJob(
    _ chain: OriginalTransactionID, file: StaticString = #fileID, line: UInt = #line
  ) async throws -> AppStoreJob {
    try unwrap(try await job(.key(refetch(chain))), "job of \(chain)", file: file, line: line)
  }

  @discardableResult
  fileprivate func opened(
    _ key: AppStoreJobKey, since: Milliseconds? = nil, at: Milliseconds
  ) async throws -> AppStoreJob {
    let answer = try await change(AppStoreJobRequest(.open(key, since: since), at: at))
    guard case .done(let job, isChanged: true) = answer else {
      throw ConformanceFailure("not opened: \(answer)", file: #fileID, line: #line)
    }
    return job
  }

  /// Asks as an operator does.
  fileprivate func decided(
    _ change: AppStoreJobRequest.Change, at: Milliseconds
  ) async throws -> (job: AppStoreJob, isChanged: Bool) {
    let answer = try await self.change(
      AppStoreJobRequest(
        change, at: at, caller: sampleCaller("otto"), onBehalfOf: "ada", reason: "a ticket"))
    guard case .done(let job, let isChanged) = answer else {
      throw ConformanceFailure("\(change): \(answer)", file: #fileID, line: #line)
    }
    return (job, isChanged)
  }

  /// In the order of the ids.
  fileprivate func leased(
    _ lease: String = "lease", at now: Milliseconds, until: Milliseconds? = nil, limit: Int = 100,
    scopes: [AppScope] = [readerScope]
  ) async throws -> [AppStoreJob] {
    try await leaseJobs(
      AppStoreJobLease(
        scopes: scopes, now: now, until: until ?? now.advanced(by: 30_000), lease: lease,
        limit: limit)
    ).sorted { ($0.id ?? 0) < ($1.id ?? 0) }
  }

  /// Reports as the holder of a leased job.
  fileprivate func answer(
    _ job: AppStoreJob, _ outcome: AppStoreJobReport.Outcome, at: Milliseconds, cursor: String = "",
    progress: AppStoreJobProgress = AppStoreJobProgress()
  ) async throws -> AppStoreJobAnswer {
    try await change(
      AppStoreJobRequest(
        .report(
          AppStoreJobReport(
            of: job, lease: job.lease ?? "", outcome, cursor: cursor, progress: progress)),
        at: at))
  }

  /// Like ``answer(_:_:at:cursor:progress:)``, for a holder that still has its lease.
  @discardableResult
  fileprivate func report(
    _ job: AppStoreJob, _ outcome: AppStoreJobReport.Outcome, at: Milliseconds, cursor: String = "",
    progress: AppStoreJobProgress = AppStoreJobProgress()
  ) async throws -> AppStoreJob {
    let answer = try await answer(job, outcome, at: at, cursor: cursor, progress: progress)
    guard case .done(let stored, isChanged: true) = answer else {
      throw ConformanceFailure("\(outcome): \(answer)", file: #fileID, line: #line)
    }
    return stored
  }

  fileprivate func allJobs() async throws -> [AppStoreJob] {
    try await jobs(inPagesOf: AppStoreJobQuery(limit: 7))
  }

  /// All that a query selects. Each page keeps the limits of the query.
  fileprivate func jobs(inPagesOf query: AppStoreJobQuery) async throws -> [AppStoreJob] {
    var query = query
    var found: [AppStoreJob] = []
    while true {
      let page = try await jobs(query)
      try expect(page.jobs.count <= query.limit, "a page has \(page.jobs.count) jobs")
      found += page.jobs
      guard let next = page.next else { return found }
      try expect(next > query.after, "a page does not go on")
      query.after = next
    }
  }
}
