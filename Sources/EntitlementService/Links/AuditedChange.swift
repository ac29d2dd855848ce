import EntitlementDomain
package import EntitlementStore

/// Does what somebody asked for by name: checks it, has the store do it, and drops what was held of
/// whoever changed before it is answered. Shared by all use cases that take such requests.
package struct AuditedChange: Sendable {
  private let store: any EntitlementStore
  private let catalog: CatalogHolder
  private let clock: ServiceClock
  private let counters: ServiceCounters
  private let customersChanged: @Sendable (WrittenChanges) -> Void

  package init(
    store: any EntitlementStore, catalog: CatalogHolder, clock: ServiceClock,
    counters: ServiceCounters, customersChanged: @escaping @Sendable (WrittenChanges) -> Void
  ) {
    self.store = store
    self.catalog = catalog
    self.clock = clock
    self.counters = counters
    self.customersChanged = customersChanged
  }

  /// - Throws: ``ServiceError`` for a scope that is not served, a text that is missing or too long,
  ///   and for what the store refuses: then nothing changed.
  func perform(_ change: LinkRequest.Change, in scope: AppScope, _ audit: ChangeAudit)
    async throws(ServiceError) -> LinkReceipt
  {
    try catalog.snapshot.checkServed(scope)
    let terms = LinkChangeTerms(change)
    for (text, field) in terms.identifiers {
      try RequestText.check(text, as: field, limit: LinkLimits.identifier)
    }
    try RequestText.check(audit.reason, as: "reason", limit: LinkLimits.reason)
    try RequestText.check(audit.author, as: "author", limit: LinkLimits.author)
    if terms.namesOneAccountTwice { throw terms.error(for: .sameAccount) }
    let answer: LinkAnswer
    do {
      answer = try await store.perform(
        LinkRequest(
          scope: scope, change: change, author: audit.author, reason: audit.reason,
          at: clock.now()))
    } catch {
      throw ServiceError(error)
    }
    switch answer {
    case .refused(let refusal):
      throw terms.error(for: refusal)
    case .done(let receipt):
      if !receipt.changed.isEmpty {
        customersChanged(WrittenChanges(subjects: receipt.changed, latest: receipt.latest))
      }
      if receipt.isChanged { counters.add(.linkChange(terms.kind)) }
      return receipt
    }
  }
}

/// Who asks for a change, and why, in the words of who asks.
package struct ChangeAudit: Hashable, Sendable {
  package var author: String
  package var reason: String

  package init(author: String, reason: String) {
    self.author = author
    self.reason = reason
  }
}
