package import EntitlementDomain
package import EntitlementStore

/// What the App Store is told about the consumption of purchases: what backends record for it, and what
/// operators see of it (R86). What sends it is elsewhere.
package struct ConsumptionRecords: Sendable {
  private let store: any EntitlementStore
  private let catalog: CatalogHolder
  private let reach: JobRecords.Reach
  private let clock: ServiceClock
  private let jobClock: ServiceClock

  /// - Parameters:
  ///   - clock: the clock of the App Store's moments.
  ///   - jobClock: the clock of jobs: the system's, unless a test replaces it.
  ///   - reach: where this server can send.
  package init(
    store: any EntitlementStore, catalog: CatalogHolder, clock: ServiceClock,
    jobClock: ServiceClock = .system, reach: @escaping JobRecords.Reach
  ) {
    self.store = store
    self.catalog = catalog
    self.clock = clock
    self.jobClock = jobClock
    self.reach = reach
  }

  // MARK: Consent

  /// Records whether a customer consents. The answer is durable when it returns.
  ///
  /// - Throws: ``ServiceError/Code-swift.enum/invalidArgument(field:)`` for an app or environment that
  ///   the catalog does not name, and for text that is too long or contains a NUL.
  package func setConsent(
    _ isGiven: Bool, of account: AccountID, in scope: AppScope, _ audit: ChangeAudit
  ) async throws(ServiceError) -> (consent: ConsumptionConsent, isChanged: Bool) {
    try check(account, scope)
    let answer = try await change(.consent(account, isGiven: isGiven), in: scope, audit)
    guard case .consent(let consent, let isChanged) = answer else { throw Self.unexpected }
    return (consent, isChanged)
  }

  /// Nil when nothing is recorded.
  ///
  /// - Throws: as ``setConsent(_:of:in:_:)``.
  package func consent(
    of account: AccountID, in scope: AppScope
  ) async throws(ServiceError) -> ConsumptionConsent? {
    try check(account, scope)
    do {
      return try await store.consumptionConsent(of: account, in: scope)
    } catch {
      throw ServiceError(error)
    }
  }

  // MARK: Purchases

  /// Records what the backend says of a purchase, which need not be known.
  ///
  /// - Returns: whether something changed.
  /// - Throws: as ``setConsent(_:of:in:_:)``, and for a percentage that Apple refuses.
  package func record(
    _ statement: ConsumptionStatement, of transaction: TransactionID, in scope: AppScope,
    _ audit: ChangeAudit
  ) async throws(ServiceError) -> Bool {
    try check(transaction, scope)
    if let percentage = statement.percentage {
      guard (0...ConsumptionInformation.allConsumed).contains(percentage) else {
        throw ServiceError(
          .invalidArgument(field: "percentage"),
          "percentage is in thousandths of a percent, 0 to \(ConsumptionInformation.allConsumed)")
      }
      guard percentage == 0 || (statement.deliveryStatus ?? .delivered) == .delivered else {
        throw ServiceError(
          .invalidArgument(field: "percentage"), "nothing is consumed of what was not delivered")
      }
    }
    let answer = try await change(.statement(transaction, statement), in: scope, audit)
    guard case .record(_, let isChanged) = answer else { throw Self.unexpected }
    return isChanged
  }

  // MARK: Requests

  /// A page of the App Store's requests, in the order of their ids.
  package func requests(
    _ query: ConsumptionQuery
  ) async throws(ServiceError) -> ConsumptionPage {
    do {
      return try await store.consumptionRequests(query)
    } catch {
      throw ServiceError(error)
    }
  }

  /// The record of a purchase, if the App Store asked about it; nil otherwise.
  package func request(
    about transaction: TransactionID, in scope: AppScope
  ) async throws(ServiceError) -> ConsumptionRecord? {
    let record: ConsumptionRecord?
    do {
      record = try await store.consumption(ConsumptionKey(scope, transaction))
    } catch {
      throw ServiceError(error)
    }
    return record?.request == nil ? nil : record
  }

  /// Opens a request that was not sent, so that a server with a key sends it.
  ///
  /// - Returns: the record, and whether it was opened, or would be.
  /// - Throws: ``ServiceError/Code-swift.enum/notFound`` when the App Store has not asked;
  ///   ``ServiceError/Code-swift.enum/failedPrecondition`` when something stands against it, or this
  ///   server has no key for the app.
  package func send(
    about transaction: TransactionID, in scope: AppScope, isDryRun: Bool, _ audit: ChangeAudit
  ) async throws(ServiceError) -> (record: ConsumptionRecord, isChanged: Bool) {
    try check(transaction, scope)
    guard reach(scope.bundleID).contains(scope.environment) else {
      throw ServiceError(
        .failedPrecondition,
        "this server has no key of the App Store Server API for \(scope.bundleID) in "
          + scope.environment.rawValue)
    }
    let answer = try await change(
      .reopen(transaction, isDryRun: isDryRun), in: scope, audit)
    switch answer {
    case .record(let record, let isChanged): return (record, isChanged)
    case .refused(let cause, _):
      throw ServiceError(.failedPrecondition, "nothing can be sent: \(cause.name)")
    case .unknown: throw Self.unknown
    case .consent, .decision, .leaseLost: throw Self.unexpected
    }
  }

  // MARK: Steps

  private func change(
    _ change: ConsumptionChange.Change, in scope: AppScope, _ audit: ChangeAudit
  ) async throws(ServiceError) -> ConsumptionAnswer {
    if !audit.reason.isEmpty {
      try RequestText.check(audit.reason, as: "reason", limit: LinkLimits.reason)
    }
    try RequestText.checkOnBehalfOf(audit.onBehalfOf)
    let request = ConsumptionChange(
      change, in: scope, at: clock.now(), jobsAt: jobClock.now(),
      catalog: catalog.snapshot.catalog, caller: audit.caller, onBehalfOf: audit.onBehalfOf,
      reason: audit.reason)
    do {
      return try await store.change(request)
    } catch {
      throw ServiceError(error)
    }
  }

  private func check(_ account: AccountID, _ scope: AppScope) throws(ServiceError) {
    try catalog.snapshot.checkServed(scope)
    try RequestText.check(account.rawValue, as: "account_id", limit: LinkLimits.identifier)
  }

  private func check(_ transaction: TransactionID, _ scope: AppScope) throws(ServiceError) {
    try catalog.snapshot.checkServed(scope)
    try RequestText.check(transaction.rawValue, as: "transaction_id", limit: LinkLimits.identifier)
  }

  private static let unknown = ServiceError(
    .notFound, "the App Store has not asked about this purchase")
  private static let unexpected = ServiceError(
    .internalFault, "the store gave an answer of another change")
}
