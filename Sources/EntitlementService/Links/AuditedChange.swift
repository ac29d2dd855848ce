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
    for (text, field) in change.identifiers {
      try RequestText.check(text, as: field, limit: LinkLimits.identifier)
    }
    try RequestText.check(audit.reason, as: "reason", limit: LinkLimits.reason)
    try RequestText.check(audit.author, as: "author", limit: LinkLimits.author)
    if let field = change.fieldOfSameAccount { throw Self.sameAccount(field) }
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
      throw Self.error(refusal, of: change)
    case .done(let receipt):
      if !receipt.changed.isEmpty {
        customersChanged(WrittenChanges(receipt.changed, receipt.customers))
      }
      if receipt.isChanged { counters.add(.linkChange(change.kind)) }
      return receipt
    }
  }

  /// Says nothing of whose it is: who asks may not be the owner.
  private static func error(
    _ refusal: LinkRefusal, of change: LinkRequest.Change
  ) -> ServiceError {
    switch refusal {
    case .targetUnknown:
      return ServiceError(.notFound, "nothing is known of this chain or app transaction")
    case .accountUnknown, .linkedElsewhere:
      switch change {
      case .link, .unlink:
        return ServiceError(.alreadyExists, "it belongs to another account")
      case .transfer:
        return ServiceError(
          .failedPrecondition, "it does not belong to the account to take it from")
      case .merge, .delete:
        return ServiceError(.notFound, "nothing is known of this account")
      }
    case .sameAccount:
      return sameAccount(change.receivingField)
    }
  }

  private static func sameAccount(_ field: String) -> ServiceError {
    ServiceError(.invalidArgument(field: field), "the two accounts are one")
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

extension LinkRequest.Change {
  fileprivate var kind: LinkChangeKind {
    switch self {
    case .link: .linked
    case .unlink: .unlinked
    case .transfer: .transferred
    case .merge: .merged
    case .delete: .deleted
    }
  }

  /// With the names that they have in requests.
  fileprivate var identifiers: [(String, field: String)] {
    switch self {
    case .link(let target, let account):
      [(target.identifier, "target"), (account.rawValue, "account_id")]
    case .unlink(let target):
      [(target.identifier, "target")]
    case .transfer(let target, let from, let to):
      [(target.identifier, "target"), (to.rawValue, "to_account_id")]
        + (from.map { [($0.rawValue, "from_account_id")] } ?? [])
    case .merge(let from, let into):
      [(from.rawValue, "from_account_id"), (into.rawValue, "into_account_id")]
    case .delete(let account):
      [(account.rawValue, "account_id")]
    }
  }

  /// Who gets something, by the field's name.
  fileprivate var receivingField: String {
    switch self {
    case .link, .unlink, .delete: "account_id"
    case .transfer: "to_account_id"
    case .merge: "into_account_id"
    }
  }

  /// Nil unless the request itself names one account twice.
  fileprivate var fieldOfSameAccount: String? {
    switch self {
    case .transfer(_, let from?, let to) where from == to: receivingField
    case .merge(let from, let into) where from == into: receivingField
    default: nil
    }
  }
}

extension LinkTarget {
  fileprivate var identifier: String {
    switch self {
    case .chain(let id): id.rawValue
    case .appTransaction(let id): id.rawValue
    }
  }
}
