package import EntitlementDomain
package import EntitlementStore
import FoundationEssentials

/// Adds and withdraws grants: entitlements that operators give accounts outside the App Store
/// (R32). Grants never affect purchases.
package struct GrantService: Sendable {
  private let store: any EntitlementStore
  private let catalog: CatalogHolder
  private let clock: ServiceClock
  private let counters: ServiceCounters
  /// Invalidates the cached answers of changed customers, before the call is acknowledged.
  private let customersChanged: @Sendable (WrittenChanges) -> Void

  package init(
    store: any EntitlementStore, catalog: CatalogHolder, clock: ServiceClock,
    counters: ServiceCounters,
    customersChanged: @escaping @Sendable (WrittenChanges) -> Void
  ) {
    self.store = store
    self.catalog = catalog
    self.clock = clock
    self.counters = counters
    self.customersChanged = customersChanged
  }

  /// Adds a grant durably. Idempotent: a grant with a known id is not changed.
  ///
  /// - Throws: ``ServiceError/Code-swift.enum/invalidArgument(field:)`` for an app, environment or
  ///   entitlement that is not in the catalog, text that is empty, too long or contains a NUL, an
  ///   id that is not a UUID or belongs to another account's grant, an end that is not after the
  ///   start, and an account that has ``GrantLimits/perAccount`` grants.
  package func add(_ request: GrantRequest) async throws(ServiceError) -> GrantReceipt {
    let snapshot = catalog.snapshot
    try snapshot.checkServed(request.scope)
    guard snapshot.catalog.entitlements[request.entitlementID] != nil else {
      throw ServiceError(
        .invalidArgument(field: "entitlement_id"), "the catalog names no such entitlement")
    }
    try RequestText.check(
      request.accountID.rawValue, as: "account_id", limit: GrantLimits.accountID)
    try RequestText.check(request.reason, as: "reason", limit: GrantLimits.reason)
    try RequestText.checkOnBehalfOf(request.onBehalfOf)
    let now = clock.now()
    let starts = request.starts ?? now
    if let expires = request.expires, expires <= starts {
      throw ServiceError(
        .invalidArgument(field: "expires_ms"), "the grant must end after its start")
    }
    let id =
      if let id = request.id { try checked(id) } else {
        GrantID(UUID().uuidString.lowercased())
      }
    let known = try await grants(of: request.accountID, in: request.scope)
    guard known.count < GrantLimits.perAccount || known.contains(where: { $0.id == id }) else {
      throw ServiceError(
        .invalidArgument(field: "account_id"),
        "the account has \(GrantLimits.perAccount) grants, which is the limit")
    }
    let grant = Grant(
      id: id, scope: request.scope,
      accountID: request.accountID, entitlementID: request.entitlementID, starts: starts,
      expires: request.expires, reason: request.reason, author: request.caller.name,
      onBehalfOf: request.onBehalfOf, createdAt: now)
    let receipt: GrantReceipt
    do {
      receipt = try await store.addGrant(grant, by: request.caller)
    } catch {
      throw ServiceError(error)
    }
    // A repeat returns the stored grant. With the id of another account's grant, it would seem to
    // confirm a grant that this account does not have.
    guard receipt.grant.accountID == request.accountID else {
      throw ServiceError(
        .invalidArgument(field: "grant_id"), "a grant of another account has this id")
    }
    finish(receipt, counting: .grantAdded)
    return receipt
  }

  /// Withdraws a grant durably, from now on. Idempotent: a withdrawn grant is not changed.
  ///
  /// - Throws: ``ServiceError/Code-swift.enum/notFound`` when the app has no such grant in this
  ///   environment.
  package func withdraw(
    _ id: GrantID, in scope: AppScope, reason: String,
    onBehalfOf: String? = nil, caller: AuditCaller = .server
  ) async throws(ServiceError) -> GrantReceipt {
    try catalog.snapshot.checkServed(scope)
    try RequestText.check(reason, as: "reason", limit: GrantLimits.reason)
    try RequestText.checkOnBehalfOf(onBehalfOf)
    let id = try checked(id)
    let receipt: GrantReceipt?
    do {
      receipt = try await store.withdrawGrant(
        id, in: scope,
        GrantWithdrawal(
          at: clock.now(), author: caller.name, onBehalfOf: onBehalfOf, reason: reason),
        by: caller)
    } catch {
      throw ServiceError(error)
    }
    guard let receipt else {
      throw ServiceError(.notFound, "no grant of this app and environment has this id")
    }
    finish(receipt, counting: .grantWithdrawn)
    return receipt
  }

  /// Every grant of an account, withdrawn ones included, oldest first.
  package func grants(of account: AccountID, in scope: AppScope) async throws(ServiceError)
    -> [Grant]
  {
    try catalog.snapshot.checkServed(scope)
    try RequestText.check(account.rawValue, as: "account_id", limit: GrantLimits.accountID)
    do {
      return try await store.grants(of: account, in: scope)
    } catch {
      throw ServiceError(error)
    }
  }

  // MARK: Steps

  private func finish(_ receipt: GrantReceipt, counting counter: ServiceCounter) {
    guard receipt.isChanged else { return }
    customersChanged(
      WrittenChanges(subjects: [receipt.customer.subject], latest: receipt.customer.revision))
    counters.add(counter)
  }

  private func checked(_ id: GrantID) throws(ServiceError) -> GrantID {
    guard UUID(uuidString: id.rawValue) != nil else {
      throw ServiceError(.invalidArgument(field: "grant_id"), "the id of a grant must be a UUID")
    }
    return GrantID(id.rawValue.lowercased())
  }
}

/// Asks to add a grant (R32).
package struct GrantRequest: Hashable, Sendable {
  /// A UUID that makes the call idempotent; nil: the service generates one.
  package var id: GrantID?
  package var scope: AppScope
  package var accountID: AccountID
  package var entitlementID: EntitlementID
  /// Nil: now.
  package var starts: Milliseconds?
  /// Nil: without end.
  package var expires: Milliseconds?
  /// The operator's reason, as free text.
  package var reason: String
  /// The person or tool for whom the caller acts, as free text; nil when none is named.
  package var onBehalfOf: String?
  /// Its name is the author of the grant.
  package var caller: AuditCaller

  package init(
    id: GrantID? = nil, scope: AppScope, accountID: AccountID, entitlementID: EntitlementID,
    starts: Milliseconds? = nil, expires: Milliseconds? = nil, reason: String,
    onBehalfOf: String? = nil, caller: AuditCaller = .server
  ) {
    self.id = id
    self.scope = scope
    self.accountID = accountID
    self.entitlementID = entitlementID
    self.starts = starts
    self.expires = expires
    self.reason = reason
    self.onBehalfOf = onBehalfOf
    self.caller = caller
  }
}

/// Limits of grants. Text limits are in UTF-8 bytes; grants are stored for ever and listed with
/// their text.
package enum GrantLimits {
  /// Grants of an account, withdrawn ones included. The list must fit a message, and each
  /// read of the account evaluates them. Concurrent calls may exceed the limit slightly.
  package static let perAccount = 1_000
  /// The limit of every identifier in requests.
  package static let accountID = 256
  /// A few sentences.
  package static let reason = 1_024
}
