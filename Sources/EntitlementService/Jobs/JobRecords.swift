package import EntitlementDomain
package import EntitlementStore

/// Jobs of the App Store Server API, for operators: their list, and what operators decide about them.
/// What does the work is elsewhere.
package struct JobRecords: Sendable {
  /// The environments in which this server asks the App Store about an app: those for which it has a
  /// key. Empty for an app without one.
  package typealias Reach = @Sendable (BundleID) -> Set<StoreEnvironment>

  private let store: any EntitlementStore
  private let catalog: CatalogHolder
  private let reach: Reach
  private let clock: ServiceClock
  private let jobClock: ServiceClock

  /// - Parameters:
  ///   - clock: the clock of the App Store's moments.
  ///   - jobClock: the clock of all moments of jobs: the system's, unless a test replaces it.
  package init(
    store: any EntitlementStore, catalog: CatalogHolder, clock: ServiceClock,
    jobClock: ServiceClock = .system, reach: @escaping Reach
  ) {
    self.store = store
    self.catalog = catalog
    self.reach = reach
    self.clock = clock
    self.jobClock = jobClock
  }

  /// The present by the clock of jobs.
  package var now: Milliseconds { jobClock.now() }

  // MARK: Queries

  /// A page of the jobs, in the order of their ids. Those of an app that the catalog names no more
  /// are among them.
  ///
  /// - Throws: ``ServiceError/Code-swift.enum/invalidArgument(field:)`` for text that is too long or
  ///   contains a NUL.
  package func jobs(_ query: AppStoreJobQuery) async throws(ServiceError) -> AppStoreJobPage {
    try query.check()
    do {
      return try await store.jobs(query)
    } catch {
      throw ServiceError(error)
    }
  }

  /// The job with an id, if it fits the other conditions of a query, and the caller may use its app;
  /// nil otherwise.
  package func job(
    _ id: Int64, in query: AppStoreJobQuery, permits: (AppScope) -> Bool
  ) async throws(ServiceError) -> AppStoreJob? {
    try query.check()
    guard let job = try await find(id), permits(job.key.scope), query.selects(job) else {
      return nil
    }
    return job
  }

  // MARK: Changes

  /// Opens a job that has ended. One that waits is due at once; one that is being done goes on.
  ///
  /// - Throws: ``ServiceError/Code-swift.enum/notFound`` for an unknown job, and for one of an app
  ///   that the caller may not use; ``ServiceError/Code-swift.enum/failedPrecondition`` when this
  ///   server has no key for its app.
  package func retry(
    _ id: Int64, permits: (AppScope) -> Bool, _ audit: ChangeAudit
  ) async throws(ServiceError) -> JobReceipt {
    let job = try await known(id, permits, audit)
    try checkReach(of: job.key.scope)
    return try await change(.retry(.id(id)), audit)
  }

  /// Ends an open job. Another one does not change.
  ///
  /// - Throws: ``ServiceError/Code-swift.enum/notFound`` for an unknown job, and for one of an app
  ///   that the caller may not use.
  package func cancel(
    _ id: Int64, permits: (AppScope) -> Bool, _ audit: ChangeAudit
  ) async throws(ServiceError) -> JobReceipt {
    _ = try await known(id, permits, audit)
    return try await change(.cancel(.id(id)), audit)
  }

  /// Opens the reconciliation of an app: its notifications since a moment are asked for. A moment
  /// before Apple's first one counts as the first.
  ///
  /// - Throws: ``ServiceError/Code-swift.enum/invalidArgument(field:)`` for an environment without
  ///   the App Store, an app that the catalog does not name and a moment in the future;
  ///   ``ServiceError/Code-swift.enum/failedPrecondition`` when this server has no key for the app.
  package func reconcile(
    _ scope: AppScope, since: Milliseconds, _ audit: ChangeAudit
  ) async throws(ServiceError) -> JobReceipt {
    try audit.checkJob()
    guard let window = scope.environment.notificationWindow else {
      throw ServiceError(
        .invalidArgument(field: "environment"),
        "the App Store sends no notifications of the environment \(scope.environment.rawValue)")
    }
    try catalog.snapshot.checkServed(scope)
    let present = clock.now()
    guard since <= present else {
      throw ServiceError(.invalidArgument(field: "since_ms"), "since_ms is in the future")
    }
    try checkReach(of: scope)
    return try await change(
      .open(
        AppStoreJobKey(scope, .reconciliation), since: max(since, present.advanced(by: -window))),
      audit)
  }

  // MARK: Steps

  private func checkReach(of scope: AppScope) throws(ServiceError) {
    try Self.check(reach(scope.bundleID), reach: scope)
  }

  /// - Parameter environments: those in which this server can ask the App Store about the app.
  /// - Throws: ``ServiceError/Code-swift.enum/failedPrecondition`` unless the scope is among them.
  package static func check(
    _ environments: Set<StoreEnvironment>, reach scope: AppScope
  ) throws(ServiceError) {
    if environments.contains(scope.environment) { return }
    guard !environments.isEmpty else { throw ServiceError.noKey(of: scope.bundleID) }
    let names = environments.map(\.rawValue).sorted().joined(separator: ", ")
    throw ServiceError(
      .failedPrecondition,
      "this server has no key of the App Store Server API for \(scope.bundleID) in "
        + "\(scope.environment.rawValue), only in \(names)")
  }

  private func known(
    _ id: Int64, _ permits: (AppScope) -> Bool, _ audit: ChangeAudit
  ) async throws(ServiceError) -> AppStoreJob {
    guard id > 0 else {
      throw ServiceError(.invalidArgument(field: "job_id"), "job_id must be at least 1")
    }
    try audit.checkJob()
    // The app of an id never changes. The message is that of an unknown job: a caller of some apps
    // does not learn which jobs others have.
    guard let job = try await find(id), permits(job.key.scope) else { throw Self.unknown }
    return job
  }

  private func find(_ id: Int64) async throws(ServiceError) -> AppStoreJob? {
    do {
      return try await store.job(.id(id))
    } catch {
      throw ServiceError(error)
    }
  }

  private func change(
    _ change: AppStoreJobRequest.Change, _ audit: ChangeAudit
  ) async throws(ServiceError) -> JobReceipt {
    let request = AppStoreJobRequest(
      change, at: now, caller: audit.caller, onBehalfOf: audit.onBehalfOf, reason: audit.reason)
    let answer: AppStoreJobAnswer
    do {
      answer = try await store.change(request)
    } catch {
      throw ServiceError(error)
    }
    switch answer {
    case .done(let job, let isChanged): return JobReceipt(job: job, isChanged: isChanged)
    case .unknown: throw Self.unknown
    case .leaseLost:
      throw ServiceError(.internalFault, "the store answered an operator as the holder of a lease")
    }
  }

  private static let unknown = ServiceError(.notFound, "the job is not known")
}

extension ServiceError {
  static func noKey(of app: BundleID) -> ServiceError {
    ServiceError(
      .failedPrecondition, "this server has no key of the App Store Server API for \(app)")
  }
}

/// The result of a change of a job.
package struct JobReceipt: Hashable, Sendable {
  /// After the change.
  package let job: AppStoreJob
  /// False when nothing had to be changed.
  package let isChanged: Bool
}

extension AppStoreJobQuery {
  fileprivate func check() throws(ServiceError) {
    for case (let text?, let field) in [
      (bundleID?.rawValue, "bundle_id"), (chain?.rawValue, "original_transaction_id"),
    ] {
      try RequestText.check(text, as: field, limit: LinkLimits.identifier)
    }
  }

  fileprivate func selects(_ job: AppStoreJob) -> Bool {
    let key = job.key
    return (bundleID ?? key.scope.bundleID) == key.scope.bundleID
      && (environment ?? key.scope.environment) == key.scope.environment
      && (state ?? job.state) == job.state && (kind ?? key.kind) == key.kind
      && (chain == nil || chain == key.chain) && job.id.map { $0 > after } == true
  }
}

extension ChangeAudit {
  /// The check where a reason is not needed. A job changes nothing that a customer has.
  package func checkJob() throws(ServiceError) {
    if !reason.isEmpty { try RequestText.check(reason, as: "reason", limit: LinkLimits.reason) }
    try RequestText.checkOnBehalfOf(onBehalfOf)
  }
}

extension StoreEnvironment {
  /// How long Apple keeps the history of notifications, in milliseconds: 180 days, in Sandbox 30
  /// (App Store Server API, Get Notification History). Nil where no App Store sends any.
  fileprivate var notificationWindow: Int64? {
    switch self {
    case .production: 180 * Milliseconds.dayLength
    case .sandbox: 30 * Milliseconds.dayLength
    case .xcode, .localTesting: nil
    }
  }
}
