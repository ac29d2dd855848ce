package import EntitlementDomain
package import EntitlementStore

/// What is known of customers, for those who answer for it: history, export and deletion of an
/// account (R46), and the purchases that nobody has claimed.
package struct CustomerRecords: Sendable {
  private let store: any EntitlementStore
  private let catalog: CatalogHolder
  private let clock: ServiceClock
  private let changes: AuditedChange
  private let places: ExportPlaces
  package let exportLimits: ExportLimits

  package init(
    store: any EntitlementStore, catalog: CatalogHolder, clock: ServiceClock,
    changes: AuditedChange, limits: ExportLimits = ExportLimits()
  ) {
    self.store = store
    self.catalog = catalog
    self.clock = clock
    self.changes = changes
    places = ExportPlaces(limit: limits.exports)
    exportLimits = limits
  }

  /// - Throws: ``ServiceError/Code-swift.enum/notFound`` when nothing is known of the account.
  package func history(of account: AccountID, in scope: AppScope)
    async throws(ServiceError) -> CustomerHistory
  {
    let history = try await known(in: scope) { () async throws(StoreError) in
      try await store.history(of: account, in: scope)
    }
    return CustomerHistory(history)
  }

  /// All that is known of an account, on one snapshot. It takes up a place until it is released, which
  /// its sender does within ``ExportLimits/time``.
  ///
  /// - Throws: ``ServiceError/Code-swift.enum/notFound`` when nothing is known of the account,
  ///   ``ServiceError/Code-swift.enum/tooManyExports`` for one export too many.
  package func export(_ account: AccountID, in scope: AppScope)
    async throws(ServiceError) -> CustomerExport
  {
    let place = try places.take()
    let export = try await known(in: scope) { () async throws(StoreError) in
      try await store.export(account, in: scope)
    }
    let snapshot = catalog.snapshot
    let record = CustomerRecord(
      scope: scope, accountID: export.accountID, revision: export.revision,
      changedAt: export.changedAt, facts: export.facts.map(\.fact), grants: export.grants)
    return CustomerExport(
      export, in: scope,
      state: Evaluation.state(of: record, catalog: snapshot.catalog, at: clock.now()),
      place: place)
  }

  /// Unlinks everything of an account, and deletes what is known of the account itself. What Apple
  /// signed stays, without an owner, to be claimed again.
  ///
  /// - Throws: ``ServiceError/Code-swift.enum/notFound`` when nothing is known of the account.
  package func delete(_ account: AccountID, in scope: AppScope, _ audit: ChangeAudit)
    async throws(ServiceError) -> LinkReceipt
  {
    try await changes.perform(.delete(account), in: scope, audit)
  }

  /// Chains that no account has, in the order of their ids, after `after`; at most `limit` of them.
  package func unlinkedChains(in scope: AppScope, after: OriginalTransactionID?, limit: Int)
    async throws(ServiceError) -> [UnlinkedChain]
  {
    try catalog.snapshot.checkServed(scope)
    do {
      return try await store.unlinkedChains(in: scope, after: after, limit: limit)
    } catch {
      throw ServiceError(error)
    }
  }

  private func known<Known>(
    in scope: AppScope, _ read: () async throws(StoreError) -> Known?
  ) async throws(ServiceError) -> Known {
    try catalog.snapshot.checkServed(scope)
    let known: Known?
    do throws(StoreError) {
      known = try await read()
    } catch {
      throw ServiceError(error)
    }
    guard let known else {
      throw ServiceError(.notFound, "nothing is known of this account")
    }
    return known
  }
}
