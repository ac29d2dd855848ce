import EntitlementDomain
import EntitlementService
import EntitlementStore
import Framing
import RPCClient
import SQLiteStore
import ServiceSupport
import Testing
import Wire

@Suite("Jobs of the App Store Server API on the wire", .timeLimit(.minutes(1)))
struct JobEndpointTests {
  private static let scope = ServiceBench.scope
  private static let sandbox = AppScope(bundleID: scope.bundleID, environment: .sandbox)
  private static let other = AppScope(bundleID: "com.example.other", environment: .production)
  /// A key for every environment of the app.
  private static let reach: JobRecords.Reach = {
    $0 == scope.bundleID ? [.production, .sandbox] : []
  }

  private func refetch(_ chain: OriginalTransactionID, of scope: AppScope = scope) -> AppStoreJobKey
  {
    AppStoreJobKey(scope, .refetch(chain))
  }

  /// Opens a job, as the server does by itself.
  private func open(
    _ bench: ServiceBench, _ key: AppStoreJobKey, since: Milliseconds? = nil
  ) async throws -> Int64 {
    let answer = try await bench.store.change(
      AppStoreJobRequest(.open(key, since: since), at: bench.jobTime.now))
    guard case .done(let job, true) = answer else {
      throw UnexpectedAnswer(answer: answer)
    }
    return try #require(job.id)
  }

  private struct UnexpectedAnswer: Error {
    let answer: AppStoreJobAnswer
  }

  /// Leases all jobs of a scope that are due in an hour, until a minute later.
  @discardableResult
  private func lease(
    _ bench: ServiceBench, _ scope: AppScope = scope
  ) async throws -> [AppStoreJob] {
    let later = bench.jobTime.now.advanced(by: 3_600_000)
    bench.jobTime.set(later)
    return try await bench.store.leaseJobs(
      AppStoreJobLease(
        scopes: [scope], now: later, until: later.advanced(by: 60_000), lease: "l", limit: 10))
  }

  private func report(
    _ bench: ServiceBench, _ job: AppStoreJob, _ outcome: AppStoreJobReport.Outcome,
    _ progress: AppStoreJobProgress = AppStoreJobProgress()
  ) async throws {
    let answer = try await bench.store.change(
      AppStoreJobRequest(
        .report(AppStoreJobReport(of: job, lease: "l", outcome, cursor: "", progress: progress)),
        at: bench.jobTime.now))
    guard case .done = answer else { throw UnexpectedAnswer(answer: answer) }
  }

  private func client(_ bench: ServiceBench, _ member: BenchAccess.Member) -> EntitlementClient {
    EntitlementClient(
      bench.addresses[0],
      configuration: EntitlementClientConfiguration(
        metadata: member.metadata, waitingTime: .seconds(60), retries: .off))
  }

  private func expect(
    _ code: RPCCode, _ message: String? = nil,
    at location: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
  ) async {
    let failure = await #expect(throws: RPCClientError.self, sourceLocation: location) {
      try await body()
    }
    #expect(failure?.code == .status(code), sourceLocation: location)
    if let message {
      #expect(failure?.description.contains(message) == true, sourceLocation: location)
    }
  }

  // MARK: Lists

  @Test("A list has every job with its progress, in pages of any size, and filters select")
  func list() async throws {
    try await ServiceBench.run { bench async throws in
      let opened = bench.jobTime.now
      let first = try await open(bench, refetch("1"))
      let second = try await open(bench, refetch("2"))
      let third = try await open(
        bench, AppStoreJobKey(Self.sandbox, .reconciliation), since: 1_700_000_000_000)
      let fourth = try await open(bench, refetch("1", of: Self.other))
      let leased = try await lease(bench)
      let now = bench.jobTime.now
      let failing = try #require(leased.first { $0.id == first })
      try await report(
        bench, failing,
        .failed("the App Store is unavailable", retryAt: now.advanced(by: 5), isUnexplained: false),
        AppStoreJobProgress(calls: 3, payloads: 9, added: 2, refused: 1))

      let all = try await bench.client.listJobs(ListJobsRequest())
      #expect(all.nextPageToken == nil)
      #expect(all.jobs.map(\.jobID) == [first, second, third, fourth])
      #expect(
        all.jobs[0]
          == JobEntry(
            jobID: first, kind: .refetch, scope: Self.scope, originalTransactionID: "1",
            state: .open, openedAt: opened, changedAt: now, dueAt: now.advanced(by: 5),
            failures: 1, lastFailure: "the App Store is unavailable", calls: 3, payloads: 9,
            added: 2, refused: 1))
      #expect(all.jobs[1].isRunning)
      #expect(all.jobs[1].dueAt == nil)
      #expect(all.jobs[2].kind == .reconciliation)
      #expect(all.jobs[2].since == 1_700_000_000_000)
      #expect(all.jobs[2].originalTransactionID == nil)

      var paged: [JobEntry] = []
      for try await job in bench.client.jobs(ListJobsRequest(pageSize: 1)) { paged.append(job) }
      #expect(paged == all.jobs)

      func found(_ request: ListJobsRequest) async throws -> [Int64] {
        try await bench.client.listJobs(request).jobs.map(\.jobID)
      }
      let app = Self.scope.bundleID
      #expect(try await found(ListJobsRequest(bundleID: app)) == [first, second, third])
      #expect(try await found(ListJobsRequest(environment: .sandbox)) == [third])
      #expect(try await found(ListJobsRequest(kind: .refetch)) == [first, second, fourth])
      #expect(try await found(ListJobsRequest(state: .done)) == [])
      #expect(try await found(ListJobsRequest(originalTransactionID: "1")) == [first, fourth])
      #expect(try await found(ListJobsRequest(jobID: second)) == [second])
      #expect(try await found(ListJobsRequest(bundleID: app, jobID: fourth)) == [])
      #expect(try await found(ListJobsRequest(state: .done, jobID: second)) == [])
      #expect(try await found(ListJobsRequest(jobID: fourth + 1)) == [])
    }
  }

  @Test("A lease that has ended is none: the job is due again")
  func endedLease() async throws {
    try await ServiceBench.run { bench async throws in
      let id = try await open(bench, refetch("1"))
      try await lease(bench)
      let end = bench.jobTime.now.advanced(by: 60_000)
      #expect(try await bench.client.job(id)?.isRunning == true)
      bench.jobTime.set(end)
      let job = try #require(try await bench.client.job(id))
      #expect(!job.isRunning)
      #expect(job.dueAt == end)
    }
  }

  @Test("Requests that cannot be meant are INVALID_ARGUMENT")
  func invalid() async throws {
    try await ServiceBench.run(reach: Self.reach) { bench async throws in
      for request in [
        ListJobsRequest(pageToken: "next"), ListJobsRequest(pageToken: "0"),
        ListJobsRequest(pageToken: "-1"), ListJobsRequest(pageSize: -1),
        ListJobsRequest(bundleID: BundleID(String(repeating: "b", count: 257))),
        ListJobsRequest(jobID: 1, pageToken: "x"),
      ] {
        await expect(.invalidArgument) { _ = try await bench.client.listJobs(request) }
      }
      for id: Int64 in [0, -1] {
        await expect(.invalidArgument, "job_id") {
          _ = try await bench.client.retryJob(RetryJobRequest(jobID: id))
        }
        await expect(.invalidArgument, "job_id") {
          _ = try await bench.client.cancelJob(CancelJobRequest(jobID: id))
        }
      }
    }
  }

  // MARK: Retry and cancel

  @Test("A job that was given up is opened by a retry, and an open one ended by a cancel")
  func retryAndCancel() async throws {
    try await ServiceBench.run(reach: Self.reach) { bench async throws in
      let id = try await open(bench, refetch("1"))
      let leased = try #require(try await lease(bench).first)
      try await report(bench, leased, .givenUp("it failed 12 times"))
      let givenUp = try #require(try await bench.client.job(id))
      #expect(givenUp.state == .givenUp)
      #expect(givenUp.lastFailure == "it failed 12 times")
      #expect(givenUp.dueAt == nil)

      let retried = try await bench.client.retryJob(
        RetryJobRequest(jobID: id, onBehalfOf: "ada", reason: "the key was renewed"))
      #expect(retried.isChanged)
      #expect(retried.job.state == .open)
      #expect(retried.job.failures == 0)
      // The clock of jobs, not that of the App Store's moments.
      #expect(retried.job.dueAt == bench.jobTime.now)
      #expect(retried.job.openedAt == bench.jobTime.now)

      let cancelled = try await bench.client.cancelJob(
        CancelJobRequest(jobID: id, onBehalfOf: "ada", reason: "not needed"))
      #expect(cancelled.isChanged)
      #expect(cancelled.job.state == .cancelled)
      let again = try await bench.client.cancelJob(CancelJobRequest(jobID: id))
      #expect(!again.isChanged)
      #expect(again.job == cancelled.job)

      var entries: [AuditedCallEntry] = []
      for try await entry in bench.client.auditEntries(ListAuditEntriesRequest()) {
        entries.append(entry)
      }
      #expect(
        entries.sorted { $0.position < $1.position }.map { [$0.method, $0.reason, $0.onBehalfOf] }
          == [
            ["RetryJob", "the key was renewed", "ada"], ["CancelJob", "not needed", "ada"],
          ])
      #expect(entries.allSatisfy { $0.app == Self.scope.bundleID.rawValue && $0.author == "local" })
    }
  }

  @Test("An unknown job is NOT_FOUND, and a retry without a key FAILED_PRECONDITION")
  func refusals() async throws {
    try await ServiceBench.run { bench async throws in
      let id = try await open(bench, refetch("1"))
      await expect(.notFound, "the job is not known") {
        _ = try await bench.client.retryJob(RetryJobRequest(jobID: id + 1))
      }
      await expect(.notFound, "the job is not known") {
        _ = try await bench.client.cancelJob(CancelJobRequest(jobID: id + 1))
      }
      await expect(
        .failedPrecondition,
        "this server has no key of the App Store Server API for \(Self.scope.bundleID)"
      ) {
        _ = try await bench.client.retryJob(RetryJobRequest(jobID: id))
      }
      // It can be ended without a key.
      #expect(try await bench.client.cancelJob(CancelJobRequest(jobID: id)).isChanged)
    }
  }

  // MARK: Reconciliations

  @Test("A reconciliation is opened once, and again from the earlier moment on")
  func reconcile() async throws {
    try await ServiceBench.run(reach: Self.reach) { bench async throws in
      let since = ServiceBench.now.advanced(by: -3_600_000)
      let first = try await bench.client.reconcileNotifications(
        ReconcileNotificationsRequest(
          scope: Self.scope, since: since, onBehalfOf: "ada", reason: "an outage"))
      #expect(first.isChanged)
      #expect(
        first.job
          == JobEntry(
            jobID: first.job.jobID, kind: .reconciliation, scope: Self.scope, state: .open,
            openedAt: bench.jobTime.now, changedAt: bench.jobTime.now, dueAt: bench.jobTime.now,
            failures: 0, since: since, calls: 0, payloads: 0, added: 0, refused: 0))
      let earlier = since.advanced(by: -1)
      let second = try await bench.client.reconcileNotifications(
        ReconcileNotificationsRequest(scope: Self.scope, since: earlier))
      #expect(second.job.jobID == first.job.jobID)
      #expect(second.job.since == earlier)
      let other = try await bench.client.reconcileNotifications(
        ReconcileNotificationsRequest(scope: Self.sandbox, since: since))
      #expect(other.job.jobID != first.job.jobID)

      var methods: [String] = []
      for try await entry in bench.client.auditEntries(ListAuditEntriesRequest()) {
        methods.append(entry.method)
      }
      #expect(methods == [String](repeating: "ReconcileNotifications", count: 3))
    }
  }

  @Test(
    "A moment that Apple keeps no longer counts as the first one that it keeps",
    arguments: [(StoreEnvironment.production, Int64(180)), (.sandbox, 30)])
  func window(environment: StoreEnvironment, days: Int64) async throws {
    try await ServiceBench.run(reach: Self.reach) { bench async throws in
      let scope = AppScope(bundleID: Self.scope.bundleID, environment: environment)
      // By the clock of the App Store's moments, not that of jobs.
      let first = ServiceBench.now.advanced(by: -days * Milliseconds.dayLength)
      let later = try await bench.client.reconcileNotifications(
        ReconcileNotificationsRequest(scope: scope, since: first.advanced(by: 1)))
      #expect(later.job.since == first.advanced(by: 1))
      for since in [Milliseconds(.min), 0, first.advanced(by: -1), first] {
        let key = AppStoreJobKey(scope, .reconciliation)
        let response = try await bench.client.reconcileNotifications(
          ReconcileNotificationsRequest(scope: scope, since: since))
        #expect(response.job.since == first, "\(since)")
        _ = try await bench.store.change(
          AppStoreJobRequest(.cancel(.key(key)), at: bench.jobTime.now))
      }
    }
  }

  @Test("A reconciliation needs the App Store, a past moment, an app of the catalog, and a key")
  func reconcileRefusals() async throws {
    let reach: JobRecords.Reach = { $0 == "com.example.other" ? [] : [.sandbox] }
    try await ServiceBench.run(reach: reach) { bench async throws in
      func reconcile(_ scope: AppScope, since: Milliseconds = 0) async throws {
        _ = try await bench.client.reconcileNotifications(
          ReconcileNotificationsRequest(scope: scope, since: since))
      }
      for environment in [StoreEnvironment.xcode, .localTesting] {
        await expect(.invalidArgument, "sends no notifications") {
          try await reconcile(
            AppScope(bundleID: Self.scope.bundleID, environment: environment))
        }
      }
      await expect(.invalidArgument, "since_ms is in the future") {
        try await reconcile(Self.sandbox, since: ServiceBench.now.advanced(by: 1))
      }
      await expect(.invalidArgument, "the catalog names no app") {
        try await reconcile(Self.other)
      }
      await expect(
        .failedPrecondition,
        "for \(Self.scope.bundleID) in Production, only in Sandbox"
      ) { try await reconcile(Self.scope) }
      #expect(try await bench.client.listJobs(ListJobsRequest()).jobs == [])
      try await reconcile(Self.sandbox, since: ServiceBench.now)
    }
  }

  // MARK: Access

  @Test("A caller of one app sees and changes the jobs of that app alone")
  func scopes() async throws {
    let limited = BenchAccess.Member(
      name: "limited", fields: "roles: [operator]\napps: {\(Self.scope.bundleID): [Production]}")
    let access = try BenchAccess([limited])
    let everywhere: JobRecords.Reach = { _ in [.production, .sandbox] }
    try await ServiceBench.run(access: access, reach: everywhere) { bench async throws in
      let own = try await open(bench, refetch("1"))
      let foreign = [
        try await open(bench, refetch("1", of: Self.sandbox)),
        try await open(bench, refetch("1", of: Self.other)),
      ]
      let client = client(bench, limited)
      let listed = try await client.listJobs(
        ListJobsRequest(bundleID: Self.scope.bundleID, environment: .production))
      #expect(listed.jobs.map(\.jobID) == [own])
      #expect(try await client.job(own)?.jobID == own)
      #expect(try await client.retryJob(RetryJobRequest(jobID: own)).isChanged)
      for request in [
        ListJobsRequest(), ListJobsRequest(bundleID: Self.scope.bundleID),
        ListJobsRequest(environment: .production), ListJobsRequest(kind: .refetch),
        ListJobsRequest(bundleID: Self.scope.bundleID, environment: .sandbox),
        ListJobsRequest(bundleID: Self.other.bundleID, environment: .production),
      ] {
        await expect(.permissionDenied) { _ = try await client.listJobs(request) }
      }
      for id in foreign {
        #expect(try await client.job(id) == nil)
        await expect(.notFound, "the job is not known") {
          _ = try await client.retryJob(RetryJobRequest(jobID: id))
        }
        await expect(.notFound, "the job is not known") {
          _ = try await client.cancelJob(CancelJobRequest(jobID: id))
        }
        #expect(try await bench.client.job(id)?.state == .open)
      }
      await expect(.permissionDenied) {
        _ = try await client.reconcileNotifications(
          ReconcileNotificationsRequest(scope: Self.sandbox, since: 0))
      }
      #expect(
        try await client.reconcileNotifications(
          ReconcileNotificationsRequest(scope: Self.scope, since: 0)
        ).isChanged)
      await client.close()
    }
  }
}
