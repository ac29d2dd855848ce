package import EntitlementDomain
package import EntitlementStore

/// Performs an explicit change of links (R46): validates the request, writes it to the store, and
/// invalidates the cached answers of changed customers before it returns. ``LinkService`` and
/// ``CustomerRecords`` share it.
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

  /// - Parameter keepsBoundTokens: as ``LinkRequest/keepsBoundTokens``.
  /// - Throws: ``ServiceError`` for a scope that is not in the catalog, for text that is empty, too
  ///   long or contains a NUL, and for a refusal of the store. Nothing was changed then.
  package func perform(
    _ change: LinkRequest.Change, in scope: AppScope, _ audit: ChangeAudit,
    keepsBoundTokens: Bool = false
  ) async throws(ServiceError) -> LinkReceipt {
    let snapshot = catalog.snapshot
    try snapshot.checkServed(scope)
    let terms = LinkChangeTerms(change)
    for (text, field) in terms.identifiers {
      try RequestText.check(text, as: field, limit: LinkLimits.identifier)
    }
    try RequestText.check(audit.reason, as: "reason", limit: LinkLimits.reason)
    try RequestText.checkOnBehalfOf(audit.onBehalfOf)
    if terms.namesOneAccountTwice { throw terms.error(for: .sameAccount) }
    let answer: LinkAnswer
    do {
      answer = try await store.perform(
        LinkRequest(
          scope: scope, change: change, onBehalfOf: audit.onBehalfOf, reason: audit.reason,
          at: clock.now(), catalog: snapshot.catalog, caller: audit.caller,
          keepsBoundTokens: keepsBoundTokens))
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

/// The origin of a change, for the audit trail (R76).
package struct ChangeAudit: Hashable, Sendable {
  /// The person or tool for whom the caller acts, and the reason, as free text of the caller.
  package var onBehalfOf: String?
  package var reason: String
  package var caller: AuditCaller

  package init(onBehalfOf: String? = nil, reason: String, caller: AuditCaller) {
    self.onBehalfOf = onBehalfOf
    self.reason = reason
    self.caller = caller
  }
}

/// The kind of an explicit change of links (R46). Raw values are parts of counter names.
package enum LinkChangeKind: String, Hashable, Sendable, CaseIterable {
  case linked
  case unlinked
  case transferred
  case merged
  case deleted
  case tokenBound = "token_bound"
}

/// Maps a change to the terms of its request: the field names, the counter, and the error of each
/// refusal.
struct LinkChangeTerms {
  /// An account, and the field of the request that names it.
  private typealias Party = (account: AccountID, field: String)

  let kind: LinkChangeKind
  /// The chain or app transaction of the request; nil for a merge and a deletion.
  private let target: LinkTarget?
  /// The account that loses the target, where the request names one.
  private let giver: Party?
  /// The account that gets the target; nil for an unlink and a deletion.
  private let receiver: Party?
  /// The token that is bound.
  private var token: AppAccountToken?

  init(_ change: LinkRequest.Change) {
    switch change {
    case .link(let target, let account):
      self.init(.linked, target, receiver: (account, "account_id"))
    case .unlink(let target):
      self.init(.unlinked, target)
    case .transfer(let target, let former, let account):
      self.init(
        .transferred, target, giver: former.map { ($0, "from_account_id") },
        receiver: (account, "to_account_id"))
    case .merge(let former, let account):
      self.init(
        .merged, giver: (former, "from_account_id"), receiver: (account, "into_account_id"))
    case .delete(let account):
      self.init(.deleted, giver: (account, "account_id"))
    case .bindToken(let token, let account):
      self.init(.tokenBound, receiver: account.map { ($0, "account_id") })
      self.token = token
    }
  }

  private init(
    _ kind: LinkChangeKind, _ target: LinkTarget? = nil, giver: Party? = nil,
    receiver: Party? = nil
  ) {
    self.kind = kind
    self.target = target
    self.giver = giver
    self.receiver = receiver
  }

  /// The identifiers of the request, each with its field.
  var identifiers: [(text: String, field: String)] {
    let parties = [giver, receiver].compactMap(\.self).map { ($0.account.rawValue, $0.field) }
    return parties + (target.map { [($0.identifier, "target")] } ?? [])
      + (token.map { [($0.rawValue, "app_account_token")] } ?? [])
  }

  var namesOneAccountTwice: Bool { giver != nil && giver?.account == receiver?.account }

  /// The message never names the owner, as the caller may not be the owner.
  func error(for refusal: LinkRefusal) -> ServiceError {
    switch refusal {
    case .targetUnknown:
      ServiceError(.notFound, "the chain or app transaction is not known")
    case .accountUnknown where target == nil:
      ServiceError(.notFound, "the account is not known")
    case .linkedElsewhere where giver == nil:
      ServiceError(.alreadyExists, "the target belongs to another account")
    case .accountUnknown, .linkedElsewhere:
      ServiceError(
        .failedPrecondition, "the target does not belong to the account that the request names")
    case .accountFull:
      ServiceError(
        .accountFull, "the account would have more purchases than chains_per_account allows")
    case .sameAccount:
      ServiceError(
        .invalidArgument(field: receiver?.field ?? "account_id"), "both ids name the same account")
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
