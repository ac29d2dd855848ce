import EntitlementDomain
package import EntitlementStore

/// Reads of the audit trail (R76–R78). They are no part of the trail: it names no customer.
package struct AuditRecords: Sendable {
  private let store: any EntitlementStore

  package init(store: any EntitlementStore) {
    self.store = store
  }

  /// At most `limit` entries, in the order of the query.
  ///
  /// - Throws: ``ServiceError/Code-swift.enum/invalidArgument(field:)`` for text that is too long or
  ///   contains a NUL, an account without an app, and filters of a query in the order of chains.
  package func entries(_ query: AuditQuery) async throws(ServiceError) -> [AuditEntry] {
    let texts = [
      (query.scope?.bundleID.rawValue, "app"), (query.account?.rawValue, "account_id"),
      (query.method, "method"), (query.author, "author"),
      (query.onBehalfOf, "on_behalf_of"),
    ]
    for case (let text?, let field) in texts {
      try RequestText.check(text, as: field, limit: LinkLimits.identifier)
    }
    if query.account != nil, query.scope == nil {
      throw ServiceError(.invalidArgument(field: "app"), "an account needs its app")
    }
    let hasFilter =
      texts.contains { $0.0 != nil } || query.from != nil || query.until != nil
    if query.isByChain, hasFilter {
      throw ServiceError(
        .invalidArgument(field: "by_chain"), "the order of chains is without filters")
    }
    do {
      return try await store.auditEntries(query)
    } catch {
      throw ServiceError(error)
    }
  }

  /// Seals after a number, in the order of their numbers: at most `limit`, and no further one after
  /// ``chainsInAnswer`` chains, so that the answer fits a message. None at the end only.
  package func seals(after number: Int64, limit: Int) async throws(ServiceError) -> [AuditSeal] {
    let seals: [AuditSeal]
    do {
      seals = try await store.auditSeals(after: number, limit: limit)
    } catch {
      throw ServiceError(error)
    }
    var chains = 0
    return Array(
      seals.prefix { seal in
        defer { chains += seal.chains.count }
        return chains < Self.chainsInAnswer
      })
  }

  /// Some 250 bytes each; a seal has at most ``AuditSeal/maximumChains``.
  private static let chainsInAnswer = 10_000
}
