package import EntitlementDomain
package import EntitlementStore
import FoundationEssentials

/// Gives accounts entitlements outside the App Store, and takes them back (R32). What an operator
/// does here never touches a purchase.
package struct GrantService: Sendable {
  private let store: any EntitlementStore
  private let catalog: CatalogHolder
  private let clock: ServiceClock
  private let counters: ServiceCounters
  /// Told of every customer that changed before the call is acknowledged.
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

  /// Gives a grant, durably. One whose id is known stays as it is kept.
  ///
  /// - Throws: ``ServiceError/Code-swift.enum/invalidArgument(field:)`` for an app, environment or
  ///   entitlement that the catalog does not name, a text that is missing, too long or holds a NUL,
  ///   an id that is not a UUID or is that of another account's grant, an end that is not after
  ///   the start, or one grant more than ``GrantLimits/perAccount``.
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
    try RequestText.check(request.author, as: "author", limit: GrantLimits.author)
    let now = clock.now()
    let starts = request.starts ?? now
    if let expires = request.expires, expires <= starts {
      throw ServiceError(
        .invalidArgument(field: "expires_ms"), "the grant must end later than it starts")
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
      expires: request.expires, reason: request.reason, author: request.author, createdAt: now)
    let receipt: GrantReceipt
    do {
      receipt = try await store.addGrant(grant)
    } catch {
      throw ServiceError(error)
    }
    // A repeat is harmless; what looks like one would be taken for a grant that this account has.
    guard receipt.grant.accountID == request.accountID else {
      throw ServiceError(
        .invalidArgument(field: "grant_id"), "a grant of another account has this id")
    }
    finish(receipt, counting: .grantAdded)
    return receipt
  }

  /// Ends a grant now, durably. One that was withdrawn before stays as it is.
  ///
  /// - Throws: ``ServiceError/Code-swift.enum/notFound`` when the app has no such grant in this
  ///   environment.
  package func withdraw(
    _ id: GrantID, in scope: AppScope, reason: String, author: String
  ) async throws(ServiceError) -> GrantReceipt {
    try catalog.snapshot.checkServed(scope)
    try RequestText.check(reason, as: "reason", limit: GrantLimits.reason)
    try RequestText.check(author, as: "author", limit: GrantLimits.author)
    let id = try checked(id)
    let receipt: GrantReceipt?
    do {
      receipt = try await store.withdrawGrant(
        id, in: scope, GrantWithdrawal(at: clock.now(), author: author, reason: reason))
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
      throw ServiceError(.invalidArgument(field: "grant_id"), "a grant's id is a UUID")
    }
    return GrantID(id.rawValue.lowercased())
  }
}
