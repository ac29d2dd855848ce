import EntitlementDomain
package import EntitlementStore
package import Logging
package import Verification
import Workers

/// Verifies, merges, links and commits payloads that Apple signed. A result is returned after the
/// commit (R48, R49).
package struct SubmissionService: Sendable {
  private let store: any EntitlementStore
  let catalog: CatalogHolder
  let pool: VerificationPool
  let clock: ServiceClock
  /// The system's clock: of the jobs that notifications open.
  let jobClock: ServiceClock
  let journal: SubmissionJournal
  /// Invalidates the cached answers of changed customers, before the call is acknowledged.
  private let customersChanged: @Sendable (WrittenChanges) -> Void

  package init(
    store: any EntitlementStore, catalog: CatalogHolder, pool: VerificationPool,
    clock: ServiceClock, jobClock: ServiceClock = .system,
    counters: ServiceCounters = ServiceCounters(), logger: Logger,
    customersChanged: @escaping @Sendable (WrittenChanges) -> Void
  ) {
    self.store = store
    self.catalog = catalog
    self.pool = pool
    self.clock = clock
    self.jobClock = jobClock
    self.journal = SubmissionJournal(counters: counters, logger: logger)
    self.customersChanged = customersChanged
  }

  /// Verifies each payload on its own and commits all valid ones together. A refused payload does
  /// not affect the others. A repeated item is verified and committed once.
  ///
  /// - Parameters:
  ///   - deadline: verification that has not begun by then is not done. A submission that was
  ///     passed to the store is committed in any case.
  ///   - isCancelled: true when the caller cancelled the call; called on any thread. A submission
  ///     that was not passed to the store by then is dropped.
  /// - Throws: ``ServiceError/Code-swift.enum/cancelled``,
  ///   ``ServiceError/Code-swift.enum/deadlineExceeded``,
  ///   ``ServiceError/Code-swift.enum/resourceExhausted`` when the verification queue is full, and
  ///   faults of the store.
  package func submit(
    _ request: TransactionSubmission, deadline: ContinuousClock.Instant? = nil,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) async throws(ServiceError) -> SubmissionResult {
    // One catalog for the whole submission, as another may come in force meanwhile.
    let snapshot = catalog.snapshot
    let outcomes = try await verify(
      request.signedPayloads, as: nil, policy: snapshot.policy, priority: request.priority,
      of: request.source, deadline: deadline, isCancelled: isCancelled)
    var items = [ItemResult?](repeating: nil, count: outcomes.count)
    var binder = RenewalInfoBinder()
    for case .success(let payload) in outcomes { binder.add(payload) }

    var facts: [(position: Int, fact: SignedFact)] = []
    for (position, outcome) in outcomes.enumerated() {
      switch outcome {
      case .failure(let refusal):
        journal.refused(refusal)
        items[position] = ItemResult(refusal: refusal)
      case .success(let payload):
        switch try await fact(
          of: payload, for: request, binder: binder, policy: snapshot.policy)
        {
        case .success(let fact): facts.append((position, fact))
        case .failure(let refusal):
          journal.refused(refusal, of: payload.kind)
          items[position] = ItemResult(refusal: refusal, kind: payload.kind)
        }
      }
    }
    guard !facts.isEmpty else {
      return SubmissionResult(of: request, payloads: items.compactMap(\.self), customers: [])
    }

    let receipt = try await commit(
      Submission(
        facts: facts.map(\.fact), accountID: request.accountID,
        anonymousAccountID: request.anonymousAccountID, receivedAt: clock.now(),
        catalog: snapshot.catalog, takesNothing: request.takesNothing),
      unless: isCancelled)
    for (entry, result) in zip(facts, results(of: facts.map(\.fact), from: receipt)) {
      items[entry.position] = result
    }
    return SubmissionResult(
      of: request, payloads: items.compactMap(\.self), customers: receipt.customers)
  }

  /// Verifies a notification with its nested payloads and commits it with its facts. A known
  /// notification is a success (R48). Deadline and cancellation are as for a submission of
  /// transactions.
  package func submit(
    _ request: NotificationSubmission, deadline: ContinuousClock.Instant? = nil,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) async throws(ServiceError) -> NotificationResult {
    let snapshot = catalog.snapshot
    let outcomes = try await verify(
      [request.signedPayload], as: .notification, policy: snapshot.policy,
      priority: request.priority, of: request.source, deadline: deadline,
      isCancelled: isCancelled)
    switch outcomes.first {
    case .success(let payload):
      guard case .notification(let notification) = payload.content else { break }
      if let expected = request.bundleID,
        !notification.scopes.allSatisfy({ $0.bundleID == expected })
      {
        return refused(Self.otherApp)
      }
      guard notification.scopes.allSatisfy(request.permits) else {
        return refused(Self.notPermitted)
      }
      return try await commit(
        notification, signed: payload.signed, accountID: request.accountID,
        catalog: snapshot.catalog, unless: isCancelled)
    case .failure(let refusal):
      return refused(refusal)
    case nil:
      break
    }
    throw ServiceError(.internalFault, "verification gave no notification")
  }

  private func refused(_ refusal: Refusal) -> NotificationResult {
    journal.refused(refusal, of: .notification)
    return NotificationResult(
      verdict: refusal.verdict, detail: refusal.detail, record: nil, wasKnown: false, items: [],
      customers: [], events: [])
  }

  private func commit(
    _ notification: VerifiedNotification, signed: SignedPayload, accountID: AccountID?,
    catalog: Catalog, unless isCancelled: @Sendable () -> Bool
  ) async throws(ServiceError) -> NotificationResult {
    let facts = notification.facts
    let receipt = try await commit(
      Submission(
        facts: facts, accountID: accountID,
        notification: SignedNotification(
          record: notification.record, signed: signed,
          consumptionRequestReason: notification.consumptionRequestReason),
        receivedAt: clock.now(), jobsAt: jobClock.now(), catalog: catalog),
      unless: isCancelled)
    journal.notificationCommitted(notification.record, receipt)
    return NotificationResult(
      verdict: .ok, detail: nil, record: notification.record,
      wasKnown: receipt.notificationWasKnown,
      items: results(of: facts, from: receipt), customers: receipt.customers,
      events: receipt.events)
  }

  // MARK: Steps

  static let otherApp = Refusal(
    .wrongApp, "the payload belongs to another app than the request names")

  static let notPermitted = Refusal(
    .appNotPermitted, "the caller may not submit for this app and environment")

  private func verify(
    _ payloads: [[UInt8]], as kind: SignedKind?, policy: VerificationPolicy,
    priority: WorkPriority, of source: WorkSource, deadline: ContinuousClock.Instant?,
    isCancelled: @escaping @Sendable () -> Bool
  ) async throws(ServiceError) -> [Result<VerifiedPayload, Refusal>] {
    try await verifying(payloads.count, isCancelled) { isCancelled throws(PoolError) in
      let results = try await pool.run(
        payloads.map { VerificationPool.Item(jws: $0, kind: kind) },
        policy: policy, now: clock.now(), deadline: deadline, priority: priority,
        of: source, isCancelled: isCancelled)
      return (results, results.map(\.verdict))
    }
  }

  func results(of facts: [SignedFact], from receipt: CommitReceipt) -> [ItemResult] {
    zip(facts, zip(receipt.dispositions, receipt.links)).map { fact, outcome in
      ItemResult(stored: fact.fact, disposition: outcome.0, link: outcome.1)
    }
  }

  private func fact(
    of payload: VerifiedPayload, for request: TransactionSubmission, binder: RenewalInfoBinder,
    policy: VerificationPolicy
  ) async throws(ServiceError) -> Result<SignedFact, Refusal> {
    let fact: Fact
    switch payload.content {
    case .transaction(let transaction):
      fact = .transaction(transaction)
    case .appTransaction(let appTransaction):
      fact = .appTransaction(appTransaction)
    case .renewalInfo(let info):
      var bundleID = binder.bundleID(for: info)
      if bundleID == nil {
        // What is stored of an app that the caller may not use is not told.
        bundleID = try await knownBundleID(of: info).flatMap {
          request.permits(info.bound(to: $0).scope) ? $0 : nil
        }
      }
      guard let bundleID else { return .failure(RenewalInfoBinder.unbound) }
      let bound = info.bound(to: bundleID)
      guard policy.accepts(bound.scope) else {
        return .failure(RenewalInfoBinder.notAccepted)
      }
      fact = .renewalInfo(bound)
    case .notification:
      return .failure(
        Refusal(.malformed, "the payload is a notification; submit it with SubmitNotification"))
    }
    if let expected = request.bundleID, fact.scope.bundleID != expected {
      return .failure(Self.otherApp)
    }
    guard request.permits(fact.scope) else { return .failure(Self.notPermitted) }
    return .success(SignedFact(fact: fact, signed: payload.signed))
  }

  /// The app of the chain's stored transactions; nil when there is none, or more than one.
  private func knownBundleID(of info: UnboundRenewalInfo) async throws(ServiceError) -> BundleID? {
    do {
      let known = try await store.bundleIDs(
        ofChain: info.originalTransactionID, environment: info.environment)
      return known.count == 1 ? known[0] : nil
    } catch {
      throw ServiceError(error)
    }
  }

  func commit(
    _ submission: Submission, unless isCancelled: @Sendable () -> Bool
  ) async throws(ServiceError) -> CommitReceipt {
    if isCancelled() { throw ServiceError(PoolError.cancelled, of: .verification) }
    do {
      var submission = submission
      submission.caller = CallContext.caller
      let receipt = try await store.commit(submission)
      customersChanged(WrittenChanges(subjects: receipt.changed, latest: receipt.latest))
      journal.committed(submission.facts, receipt)
      return receipt
    } catch {
      throw ServiceError(error)
    }
  }
}

/// Finds the app of a renewal info, which names none: the app of a transaction of its chain in the
/// same submission. The store is queried if there is none.
///
/// The bundle id of the request is no evidence. An attacker could otherwise submit a renewal info
/// of another app, with a token of the attacker's choice, to this app (R8).
struct RenewalInfoBinder {
  static let unbound = Refusal(
    .wrongApp,
    "a renewal info names no app, and no transaction of its chain is known: submit it together "
      + "with one, or after it")

  static let notAccepted = Refusal(
    .wrongApp, "the app or the environment of the chain is not accepted")

  private var bundleIDs: [Chain: BundleID] = [:]

  private struct Chain: Hashable {
    let id: OriginalTransactionID
    let environment: StoreEnvironment
  }

  mutating func add(_ payload: VerifiedPayload) {
    guard case .transaction(let transaction) = payload.content else { return }
    let chain = Chain(
      id: transaction.originalTransactionID, environment: transaction.environment)
    bundleIDs[chain] = transaction.bundleID
  }

  func bundleID(for info: UnboundRenewalInfo) -> BundleID? {
    bundleIDs[Chain(id: info.originalTransactionID, environment: info.environment)]
  }
}

extension VerifiedNotification {
  /// The apps and environments that it names.
  var scopes: [AppScope] {
    (record.scope.map { [$0] } ?? []) + facts.map(\.fact.scope)
  }
}
