package import EntitlementDomain
package import EntitlementStore

/// Who owns what, by the caller's own decision (R46): no policy of the catalog applies, every change
/// is audited, and repeats are harmless.
package struct LinkService: Sendable {
  private let store: any EntitlementStore
  private let catalog: CatalogHolder
  private let changes: AuditedChange

  package init(store: any EntitlementStore, catalog: CatalogHolder, changes: AuditedChange) {
    self.store = store
    self.catalog = catalog
    self.changes = changes
  }

  // MARK: Changes

  /// Gives what has no account to one.
  ///
  /// - Throws: ``ServiceError/Code-swift.enum/notFound`` when nothing is known of it,
  ///   ``ServiceError/Code-swift.enum/alreadyExists`` when it belongs to another account.
  package func link(
    _ target: LinkTarget, to account: AccountID, in scope: AppScope, _ audit: ChangeAudit
  ) async throws(ServiceError) -> LinkReceipt {
    try await changes.perform(.link(target, to: account), in: scope, audit)
  }

  /// Takes it from its account; hints do not lead it back.
  ///
  /// - Throws: ``ServiceError/Code-swift.enum/notFound`` when nothing is known of it.
  package func unlink(_ target: LinkTarget, in scope: AppScope, _ audit: ChangeAudit)
    async throws(ServiceError) -> LinkReceipt
  {
    try await changes.perform(.unlink(target), in: scope, audit)
  }

  /// Gives it to another account.
  ///
  /// - Parameter from: whose it has to be now; nil: anybody's, or nobody's.
  /// - Throws: ``ServiceError/Code-swift.enum/notFound`` when nothing is known of it,
  ///   ``ServiceError/Code-swift.enum/failedPrecondition`` when it is not that account's.
  package func transfer(
    _ target: LinkTarget, from: AccountID?, to account: AccountID, in scope: AppScope,
    _ audit: ChangeAudit
  ) async throws(ServiceError) -> LinkReceipt {
    try await changes.perform(.transfer(target, from: from, to: account), in: scope, audit)
  }

  /// Gives everything of one account to another, under whose id the first is known from then on.
  ///
  /// - Throws: ``ServiceError/Code-swift.enum/notFound`` when nothing is known of the first,
  ///   ``ServiceError/Code-swift.enum/invalidArgument(field:)`` when they are one, also by an earlier
  ///   merge.
  package func merge(
    _ account: AccountID, into other: AccountID, in scope: AppScope, _ audit: ChangeAudit
  ) async throws(ServiceError) -> LinkReceipt {
    try await changes.perform(.merge(account, into: other), in: scope, audit)
  }

  // MARK: Questions

  /// Whom an identifier leads to.
  package func resolve(_ selector: CustomerSelector, in scope: AppScope)
    async throws(ServiceError) -> ResolvedCustomer
  {
    try await asked(scope) { () throws(StoreError) in
      try await store.resolve(selector, in: scope)
    }
  }

  /// What an account owns: chains before app transactions, then by id; at most
  /// ``LinkLimits/links``, the first.
  package func links(of account: AccountID, in scope: AppScope)
    async throws(ServiceError) -> [LinkedTarget]
  {
    try await asked(scope) { () throws(StoreError) in
      Array(try await store.links(of: account, in: scope).prefix(LinkLimits.links))
    }
  }

  /// Who owned it, oldest first; at most ``LinkLimits/history`` steps, the latest.
  package func history(of target: LinkTarget, in scope: AppScope)
    async throws(ServiceError) -> [TargetLinkEvent]
  {
    try await latest(in: scope) { () throws(StoreError) in
      try await store.linkHistory(of: target, in: scope)
        .map { TargetLinkEvent(target: target, event: $0) }
    }
  }

  /// What an account owned, oldest first; at most ``LinkLimits/history`` steps, the latest.
  package func history(of account: AccountID, in scope: AppScope)
    async throws(ServiceError) -> [TargetLinkEvent]
  {
    try await latest(in: scope) { () throws(StoreError) in
      try await store.linkHistory(of: account, in: scope)
    }
  }

  private func latest(
    in scope: AppScope, of history: () async throws(StoreError) -> [TargetLinkEvent]
  ) async throws(ServiceError) -> [TargetLinkEvent] {
    try await asked(scope, history).suffix(LinkLimits.history)
  }

  private func asked<Answer>(
    _ scope: AppScope, _ question: () async throws(StoreError) -> Answer
  ) async throws(ServiceError) -> Answer {
    try catalog.snapshot.checkServed(scope)
    do {
      return try await question()
    } catch {
      throw ServiceError(error)
    }
  }
}
