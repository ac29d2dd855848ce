package import AppStoreServerAPI
package import EntitlementDomain
package import EntitlementService
package import EntitlementStore
package import Logging
import Synchronization
import Verification

/// Does the jobs of the App Store Server API (R79–R81, R86). It leases jobs that are due, and works at
/// ``RecoveryLimits/attempts`` of them at a time. Every process of a database may run one. A process that
/// ends gives its leases back. One that is killed leaves its jobs to the others when their leases end; where
/// there can be no other, to its successor at once.
package final class AppStoreRecovery: Sendable {
  let store: any EntitlementStore
  let client: AppStoreServerClient
  let submissions: SubmissionService
  /// Binds the tokens of imported accounts.
  let links: AuditedChange
  let catalog: CatalogHolder
  /// What is asked for is decided by the clock of the facts, when it is asked for by ``jobClock``.
  let clock: ServiceClock
  let jobClock: ServiceClock
  let timer: ServiceTimer
  let limits: RecoveryLimits
  let logger: Logger
  let counters = RecoveryCounters()
  let reports: ImportReports
  /// Until when no row of an app and environment is begun, by ``jobClock``.
  let importPauses = Mutex<[AppScope: Milliseconds]>([:])
  /// The leases of the rows that are being done.
  let heldRows = Mutex<[AccountImportRow.Place: String]>([:])

  /// - Parameters:
  ///   - clock: of the service.
  ///   - jobClock: the system's.
  package init(
    store: any EntitlementStore, client: AppStoreServerClient, submissions: SubmissionService,
    links: AuditedChange, catalog: CatalogHolder, clock: ServiceClock,
    jobClock: ServiceClock = .system,
    timer: ServiceTimer = .system, limits: RecoveryLimits = RecoveryLimits(), logger: Logger
  ) {
    self.store = store
    self.client = client
    self.submissions = submissions
    self.links = links
    self.catalog = catalog
    self.clock = clock
    self.jobClock = jobClock
    self.timer = timer
    self.limits = limits
    self.logger = logger
    reports = ImportReports(target: store, logger: logger)
  }

  package var values: [StatisticValue] { counters.values(limits) + client.statistics.values }

  /// The environments of an app in which jobs are done: none without a key.
  package func environments(of app: BundleID) -> Set<StoreEnvironment> {
    guard client.keys.bundleIDs.contains(app) else { return [] }
    let policy = catalog.snapshot.policy
    return Set(
      [StoreEnvironment.production, .sandbox].filter {
        policy.accepts(AppScope(bundleID: app, environment: $0))
      })
  }

  /// The apps that have a key, in the environments that the catalog accepts.
  var scopes: [AppScope] {
    client.keys.bundleIDs.flatMap { app in
      environments(of: app).map { AppScope(bundleID: app, environment: $0) }
    }
  }

  /// Works until the task is cancelled. Call it once.
  package func run() async {
    do throws(StoreError) {
      try await store.endLeasesOfFormerProcesses(in: scopes, at: jobClock.now())
    } catch {
      // They end by themselves.
      logger.warning(
        "the leases of former processes cannot be ended", metadata: ["reason": "\(error)"])
    }
    await withDiscardingTaskGroup { group in
      group.addTask { await self.followSchedule() }
      group.addTask { await self.work() }
      group.addTask { await self.importAccounts() }
      group.addTask { await self.renewImportLeases() }
    }
  }

  // MARK: The schedule

  private func followSchedule() async {
    var schedule = ReconciliationSchedule(limits: limits)
    repeat {
      let scopes = scopes
      do throws(StoreError) {
        counters.counted(
          try await store.jobCounts(doing: scopes),
          waitingRows: try await store.waitingImportRows(limit: RecoveryCounters.countedRows))
        counters.counted(try await store.consumptionCounts(doing: scopes))
      } catch {
        logger.warning("jobs cannot be counted", metadata: ["reason": "\(error)"])
      }
      for scope in scopes where !Task.isCancelled {
        let key = AppStoreJobKey(scope, .reconciliation)
        do throws(StoreError) {
          guard
            let since = schedule.since(
              try await store.job(.key(key)), of: key, now: clock.now(), jobsNow: jobClock.now())
          else { continue }
          _ = try await store.change(
            AppStoreJobRequest(.schedule(key, since: since), at: jobClock.now()))
          schedule.scheduled(key)
        } catch {
          logger.warning(
            "a reconciliation cannot be scheduled",
            metadata: ["bundle_id": "\(scope.bundleID)", "reason": "\(error)"])
        }
      }
    } while (try? await timer.sleep(limits.scheduleInterval)) != nil
  }

  // MARK: Work

  /// Leases jobs while fewer than ``RecoveryLimits/attempts`` are done.
  private func work() async {
    await withDiscardingTaskGroup { group in
      while !Task.isCancelled {
        let free = limits.attempts - counters.running
        let leased = free > 0 ? await lease(free) : []
        for (job, lease) in leased {
          counters.began()
          group.addTask { await self.attempt(job, lease) }
        }
        // More may be due when no attempt is free, or the last one was just taken.
        let isBusy = leased.count == free
        let pause = isBusy ? limits.pollInterval / 20 : limits.pollInterval
        if (try? await timer.sleep(pause)) == nil { return }
      }
    }
  }

  private func lease(_ count: Int) async -> [(AppStoreJob, lease: String)] {
    let scopes = scopes
    guard !scopes.isEmpty else { return [] }
    let now = jobClock.now()
    let name = String(UInt64.random(in: .min ... .max), radix: 16)
    do throws(StoreError) {
      return try await store.leaseJobs(
        AppStoreJobLease(
          scopes: scopes, now: now, until: now.advanced(by: limits.leaseTime), lease: name,
          limit: count)
      ).map { ($0, name) }
    } catch {
      logger.warning("jobs cannot be leased", metadata: ["reason": "\(error)"])
      return []
    }
  }

  private func attempt(_ job: AppStoreJob, _ lease: String) async {
    let attempt = JobAttempt(job, lease: lease, of: self)
    let outcome =
      switch job.key.subject {
      case .refetch(let chain):
        await attempt.outcome { (attempt) async throws(AttemptFault) in
          try await attempt.refetch(chain)
        }
      case .reconciliation:
        await attempt.outcome { (attempt) async throws(AttemptFault) in
          try await attempt.reconcile()
        }
      case .consumption(let transaction):
        await attempt.outcome { (attempt) async throws(AttemptFault) in
          try await attempt.sendConsumption(about: transaction)
        }
      }
    counters.ended(job.key.kind, outcome)
  }
}
