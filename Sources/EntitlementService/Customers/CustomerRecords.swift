package import EntitlementDomain
package import EntitlementStore
package import Workers

/// Administration of customer data: history, export and deletion of an account (R46), and the lists
/// of unlinked chains and of notifications.
package struct CustomerRecords: Sendable {
  private let store: any EntitlementStore
  private let catalog: CatalogHolder
  private let clock: ServiceClock
  private let changes: AuditedChange
  private let evaluations: EvaluationPool
  private let permits: ExportPermits
  package let exportLimits: ExportLimits

  package init(
    store: any EntitlementStore, catalog: CatalogHolder, clock: ServiceClock,
    changes: AuditedChange, evaluations: EvaluationPool = EvaluationPool(),
    limits: ExportLimits = ExportLimits(), timer: ServiceTimer = .system
  ) {
    self.store = store
    self.catalog = catalog
    self.clock = clock
    self.changes = changes
    self.evaluations = evaluations
    permits = ExportPermits(limits, timer: timer)
    exportLimits = limits
  }

  /// - Throws: ``ServiceError/Code-swift.enum/notFound`` for an unknown account.
  package func history(of account: AccountID, in scope: AppScope)
    async throws(ServiceError) -> CustomerHistory
  {
    let history = try await known(in: scope) { () async throws(StoreError) -> AccountHistory? in
      guard var history = try await store.history(of: account, in: scope) else { return nil }
      history.linkEvents = history.linkEvents.adding(
        try await store.refusedClaims(concerning: history.accountID, in: scope))
      return history
    }
    return CustomerHistory(history)
  }

  /// Everything that is stored about an account: from one snapshot, but for the rows of imports and its
  /// refused claims, which are read after it. The export has a permit until it is released. The front releases it within
  /// ``ExportLimits/time``. It is in the audit trail when this returns (R76).
  ///
  /// - Throws: ``ServiceError/Code-swift.enum/notFound`` for an account that is not known, and that no row
  ///   of an import names,
  ///   ``ServiceError/Code-swift.enum/tooManyExports`` when the source gets no permit.
  package func export(
    _ account: AccountID, in scope: AppScope, for source: WorkSource = .server,
    caller: AuditCaller = .server, onBehalfOf: String? = nil
  ) async throws(ServiceError) -> CustomerExport {
    try RequestText.checkOnBehalfOf(onBehalfOf)
    let permit = try permits.acquire(for: source)
    let (export, importRows) = try await stored(account, in: scope)
    do throws(StoreError) {
      try await store.record(
        AuditCall(
          method: "ExportCustomer", caller: caller, scope: scope, account: export.accountID,
          onBehalfOf: onBehalfOf, outcome: .disclosed, at: clock.now()))
    } catch {
      throw ServiceError(error)
    }
    let snapshot = catalog.snapshot
    do throws(PoolError) {
      let state = try await evaluations.run(
        facts: export.facts.count + export.grants.count, of: source
      ) { [clock] isCancelled -> CustomerState? in
        let record = CustomerRecord(
          scope: scope, accountID: export.accountID, revision: export.revision,
          changedAt: export.changedAt, facts: export.facts.map(\.fact), grants: export.grants)
        return Evaluation.evaluate(
          record, catalog: snapshot.catalog, at: clock.now(), isCancelled: isCancelled)?.state
      }
      return CustomerExport(
        export, in: scope, importRows: importRows, state: state, permit: permit)
    } catch {
      throw ServiceError(error, of: .evaluation)
    }
  }

  /// What is stored about an account, and the rows of imports that name it or an account that was merged
  /// into it.
  private func stored(
    _ account: AccountID, in scope: AppScope
  ) async throws(ServiceError) -> (AccountExport, [AccountImportRow]) {
    var rows: [AccountImportRow] = []
    let export = try await known(in: scope) { () async throws(StoreError) -> AccountExport? in
      var export = try await store.export(account, in: scope)
      // Its own ones: those of its purchases name other accounts.
      let refused = try await store.refusedClaims(
        of: [], by: export?.accountID ?? account, in: scope)
      rows = try await store.importRows(
        naming: export.map { [$0.accountID] + $0.merged } ?? [account], in: scope,
        limit: ExportLimits.importRows)
      // A team named it, or a refused claim, and nothing was stored for it.
      if export == nil, !rows.isEmpty || !refused.isEmpty {
        export = AccountExport(accountID: account)
      }
      guard var export else { return nil }
      export.linkEvents = export.linkEvents.adding(refused)
      return export
    }
    return (export, rows)
  }

  /// Unlinks everything of an account and deletes the data of the account itself, and the rows of imports
  /// that name it, also those of an account that is not known. Its signed facts stay as unlinked chains,
  /// which can be claimed again.
  ///
  /// - Throws: ``ServiceError/Code-swift.enum/notFound`` for an account that is not known, and that no row
  ///   of an import names.
  package func delete(_ account: AccountID, in scope: AppScope, _ audit: ChangeAudit)
    async throws(ServiceError) -> LinkReceipt
  {
    var receipt = LinkReceipt(
      targets: [], customers: [], changed: [], latest: 0, isChanged: false)
    var failure: ServiceError?
    do throws(ServiceError) {
      receipt = try await changes.perform(.delete(account), in: scope, audit)
    } catch {
      guard case .notFound = error.code else { throw error }
      failure = error
    }
    // The change has deleted the rows of the account that it found. Others are of one that is not known, or
    // were added to an import after its deletion.
    if try await deleteImportRows(naming: account, in: scope, audit) {
      receipt.isChanged = true
    } else if let failure {
      throw failure
    }
    return receipt
  }

  /// - Returns: whether there were any.
  private func deleteImportRows(
    naming account: AccountID, in scope: AppScope, _ audit: ChangeAudit
  ) async throws(ServiceError) -> Bool {
    do throws(StoreError) {
      let refused = try await store.refusedClaims(of: [], by: account, in: scope)
      if refused.isEmpty,
        try await store.importRows(naming: [account], in: scope, limit: 1).isEmpty
      {
        return false
      }
      try await store.record(
        AuditCall(
          method: "DeleteCustomer", caller: audit.caller, scope: scope, account: account,
          onBehalfOf: audit.onBehalfOf, reason: audit.reason,
          subject: refused.isEmpty ? "rows of imports" : "rows of imports, refused claims",
          at: clock.now()))
      try await store.eraseImportRows(naming: account, in: scope)
    } catch {
      throw ServiceError(error)
    }
    return true
  }

  /// At most `limit` unlinked chains, in the order of their ids, after `after`.
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

  /// A page of the notifications that were received, newest first. Those of an app that the catalog
  /// names no more are among them.
  ///
  /// - Throws: ``ServiceError/Code-swift.enum/invalidArgument(field:)`` for text that is too long or
  ///   contains a NUL.
  package func notifications(_ query: NotificationQuery) async throws(ServiceError)
    -> NotificationPage
  {
    for case (let text?, let field) in [
      (query.bundleID?.rawValue, "bundle_id"), (query.type, "notification_type"),
    ] {
      try RequestText.check(text, as: field, limit: LinkLimits.identifier)
    }
    do {
      return try await store.notifications(query)
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
      throw ServiceError(.notFound, "the account is not known")
    }
    return known
  }
}
