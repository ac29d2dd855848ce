package import EntitlementDomain
package import EntitlementStore

/// Explicit changes of links, and their history (R46). No link policy of the catalog applies. Every
/// change is audited and idempotent.
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

  /// Links an unlinked chain or app transaction to an account.
  ///
  /// - Throws: ``ServiceError/Code-swift.enum/notFound`` for an unknown target,
  ///   ``ServiceError/Code-swift.enum/alreadyExists`` when it belongs to another account.
  package func link(
    _ target: LinkTarget, to account: AccountID, in scope: AppScope, _ audit: ChangeAudit
  ) async throws(ServiceError) -> LinkReceipt {
    try await changes.perform(.link(target, to: account), in: scope, audit)
  }

  /// Unlinks a target from its account. Hints do not link it again.
  ///
  /// - Throws: ``ServiceError/Code-swift.enum/notFound`` for an unknown target.
  package func unlink(_ target: LinkTarget, in scope: AppScope, _ audit: ChangeAudit)
    async throws(ServiceError) -> LinkReceipt
  {
    try await changes.perform(.unlink(target), in: scope, audit)
  }

  /// Links a target to another account.
  ///
  /// - Parameter from: the account that must have the target now; nil: no condition.
  /// - Throws: ``ServiceError/Code-swift.enum/notFound`` for an unknown target,
  ///   ``ServiceError/Code-swift.enum/failedPrecondition`` when `from` does not have the target.
  package func transfer(
    _ target: LinkTarget, from: AccountID?, to account: AccountID, in scope: AppScope,
    _ audit: ChangeAudit
  ) async throws(ServiceError) -> LinkReceipt {
    try await changes.perform(.transfer(target, from: from, to: account), in: scope, audit)
  }

  /// Merges an account into another. The first id is an alias of the second from then on.
  ///
  /// - Throws: ``ServiceError/Code-swift.enum/notFound`` when the first account is not known,
  ///   ``ServiceError/Code-swift.enum/invalidArgument(field:)`` when both ids name the same
  ///   account, also by an earlier merge.
  package func merge(
    _ account: AccountID, into other: AccountID, in scope: AppScope, _ audit: ChangeAudit
  ) async throws(ServiceError) -> LinkReceipt {
    try await changes.perform(.merge(account, into: other), in: scope, audit)
  }

  /// Binds a token to an account, over everything that was learned, and links the unlinked chains
  /// that carry it (R71).
  ///
  /// - Parameter account: nil: what is known of the token is forgotten.
  /// - Throws: ``ServiceError/Code-swift.enum/invalidArgument(field:)`` for a token that is not a
  ///   UUID, and for that of zeros.
  package func bind(
    _ token: AppAccountToken, to account: AccountID?, in scope: AppScope, _ audit: ChangeAudit
  ) async throws(ServiceError) -> LinkReceipt {
    let token = AppAccountToken(token.rawValue.lowercased())
    guard TokenNamespace(token.rawValue) != nil else {
      throw ServiceError(
        .invalidArgument(field: "app_account_token"), "app_account_token is not a UUID")
    }
    if token.ofCustomer == nil, account != nil {
      throw ServiceError(
        .invalidArgument(field: "app_account_token"),
        "app_account_token is the UUID of zeros, which apps send when they set no token: it cannot "
          + "belong to an account")
    }
    return try await changes.perform(.bindToken(token, to: account), in: scope, audit)
  }

  // MARK: Queries

  /// At most `limit` tokens of an account, or the ambiguous ones of an app if `account` is nil, in
  /// the order of the tokens, after `after` (R71).
  package func tokens(
    of account: AccountID?, in scope: AppScope, after: AppAccountToken?, limit: Int
  ) async throws(ServiceError) -> [KnownToken] {
    try await query(scope) { () throws(StoreError) in
      try await store.tokens(of: account, in: scope, after: after, limit: limit)
    }
  }

  /// The account or unlinked chain that a selector finds.
  package func resolve(_ selector: CustomerSelector, in scope: AppScope)
    async throws(ServiceError) -> ResolvedCustomer
  {
    try await query(scope) { () throws(StoreError) in
      try await store.resolve(selector, in: scope)
    }
  }

  /// The first links of an account, chains before app transactions, then by id. At most
  /// ``LinkLimits/links``.
  package func links(of account: AccountID, in scope: AppScope)
    async throws(ServiceError) -> [LinkedTarget]
  {
    try await query(scope) { () throws(StoreError) in
      Array(try await store.links(of: account, in: scope).prefix(LinkLimits.links))
    }
  }

  /// The latest link events of a target, with the refused claims (R91), oldest first. At most ``LinkLimits/history``.
  package func history(of target: LinkTarget, in scope: AppScope)
    async throws(ServiceError) -> [TargetLinkEvent]
  {
    try await latest(in: scope) { () throws(StoreError) in
      let refused = try await store.refusedClaims(of: [target], by: nil, in: scope)
      return try await store.linkHistory(of: target, in: scope)
        .map { TargetLinkEvent(target: target, event: $0) }.adding(refused)
    }
  }

  /// The latest link events of an account, oldest first, with the refused claims of its purchases and its
  /// own (R91). At most ``LinkLimits/history``.
  package func history(of account: AccountID, in scope: AppScope)
    async throws(ServiceError) -> [TargetLinkEvent]
  {
    try await latest(in: scope) { () throws(StoreError) in
      try await store.linkHistory(of: account, in: scope)
        .adding(store.refusedClaims(concerning: account, in: scope))
    }
  }

  private func latest(
    in scope: AppScope, of history: () async throws(StoreError) -> [TargetLinkEvent]
  ) async throws(ServiceError) -> [TargetLinkEvent] {
    try await query(scope, history).suffix(LinkLimits.history)
  }

  private func query<Answer>(
    _ scope: AppScope, _ body: () async throws(StoreError) -> Answer
  ) async throws(ServiceError) -> Answer {
    try catalog.snapshot.checkServed(scope)
    do {
      return try await body()
    } catch {
      throw ServiceError(error)
    }
  }
}

/// Limits of link changes and queries. Text limits are in UTF-8 bytes, as the text is stored for
/// ever.
package enum LinkLimits {
  /// The limit of every identifier in requests.
  package static let identifier = 256
  /// A few sentences.
  package static let reason = 1_024
  /// A name or an address.
  package static let onBehalfOf = 256
  /// The latest events of a history that an answer contains, so that it fits a message.
  package static let history = 10_000
  /// The first links of an account that an answer contains, so that it fits a message, unless the
  /// ids are very long.
  package static let links = 10_000
  /// The targets and the customers in the answer to a change, so that it fits a message with ids of
  /// any length.
  package static let receiptEntries = 4_000
}
