package import EntitlementDomain
package import EntitlementStore
package import Workers

/// Reads customer states that are neither cached nor encoded. Each call reads the store.
package struct CustomerStates: Sendable {
  private let store: any EntitlementStore
  private let catalog: CatalogHolder
  private let clock: ServiceClock
  private let evaluations: EvaluationPool

  package init(
    store: any EntitlementStore, catalog: CatalogHolder, clock: ServiceClock,
    evaluations: EvaluationPool = EvaluationPool()
  ) {
    self.store = store
    self.catalog = catalog
    self.clock = clock
    self.evaluations = evaluations
  }

  /// The state of one customer.
  ///
  /// - Parameters:
  ///   - moment: nil: now.
  ///   - knowledge: what the state of the moment is computed from.
  /// - Throws: ``ServiceError/Code-swift.enum/invalidArgument(field:)`` for an app or environment
  ///   that the catalog does not name, never NEW (R27).
  package func state(
    of selector: CustomerSelector, in scope: AppScope, at moment: Milliseconds? = nil,
    knowledge: Knowledge = .signedByThen
  ) async throws(ServiceError) -> CustomerState {
    let snapshot = catalog.snapshot
    try snapshot.checkServed(scope)
    return try await state(
      of: selector, in: scope, at: moment, knowledge, snapshot.catalog, for: .server)
  }

  /// One page of an app's customers, in the order of their account ids.
  ///
  /// - Parameter source: the source whose turn the computations for large customers wait for.
  package func page(
    in scope: AppScope, after: AccountID?, limit: Int, for source: WorkSource = .server
  ) async throws(ServiceError) -> [CustomerState] {
    let snapshot = catalog.snapshot
    try snapshot.checkServed(scope)
    let accounts: [AccountSummary]
    do {
      accounts = try await store.accounts(in: scope, after: after, limit: limit)
    } catch {
      throw ServiceError(error)
    }
    var states: [CustomerState] = []
    // One customer at a time: the facts of a page of large customers take much memory.
    for account in accounts {
      if Task.isCancelled { throw ServiceError(.cancelled, "the caller cancelled the call") }
      states.append(
        try await state(
          of: .account(account.accountID), in: scope, at: nil, .now, snapshot.catalog,
          for: source))
    }
    return states
  }

  private func state(
    of selector: CustomerSelector, in scope: AppScope, at moment: Milliseconds?,
    _ knowledge: Knowledge, _ catalog: Catalog, for source: WorkSource
  ) async throws(ServiceError) -> CustomerState {
    let record: CustomerRecord
    do {
      record = try await store.record(of: selector, in: scope, at: moment, knowledge)
    } catch {
      throw ServiceError(error)
    }
    do {
      return try await evaluations.run(facts: record.itemCount, of: source) {
        [clock] isCancelled -> CustomerState? in
        let known = record.known(at: moment, knowledge)
        return Evaluation.evaluate(
          known, catalog: catalog, at: moment ?? clock.now(), isCancelled: isCancelled)?.state
      }
    } catch {
      throw ServiceError(error, of: .evaluation)
    }
  }
}
