package import EntitlementDomain
package import EntitlementStore

/// Reads customer states that are neither cached nor encoded. Each call reads the store.
package struct CustomerStates: Sendable {
  private let store: any EntitlementStore
  private let catalog: CatalogHolder
  private let clock: ServiceClock

  package init(store: any EntitlementStore, catalog: CatalogHolder, clock: ServiceClock) {
    self.store = store
    self.catalog = catalog
    self.clock = clock
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
      of: selector, in: scope, at: moment, knowledge, snapshot.catalog)
  }

  /// One page of an app's customers, in the order of their account ids.
  package func page(in scope: AppScope, after: AccountID?, limit: Int)
    async throws(ServiceError) -> [CustomerState]
  {
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
          of: .account(account.accountID), in: scope, at: nil, .now, snapshot.catalog))
    }
    return states
  }

  private func state(
    of selector: CustomerSelector, in scope: AppScope, at moment: Milliseconds?,
    _ knowledge: Knowledge, _ catalog: Catalog
  ) async throws(ServiceError) -> CustomerState {
    do {
      let record = try await store.record(of: selector, in: scope, at: moment, knowledge)
      return Evaluation.state(of: record, catalog: catalog, at: moment ?? clock.now())
    } catch {
      throw ServiceError(error)
    }
  }
}
