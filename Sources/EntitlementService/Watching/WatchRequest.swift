package import EntitlementDomain
package import EntitlementStore

/// Which changes somebody wants to be told of, and from where on.
package struct WatchRequest: Hashable, Sendable {
  /// That of the last item that was handled; nil: what is committed from now on.
  package var cursor: WatchCursor?
  /// Nil: every app.
  package var bundleID: BundleID?
  /// Nil: every environment.
  package var environment: StoreEnvironment?
  /// Empty: all customers, unlinked chains and events of nobody included.
  package var accounts: Set<AccountID>
  /// Only changes with at least one of these; empty: all.
  package var kinds: ChangeKinds
  /// Leaves the states out.
  package var isWithoutStates: Bool

  package init(
    cursor: WatchCursor? = nil, bundleID: BundleID? = nil, environment: StoreEnvironment? = nil,
    accounts: Set<AccountID> = [], kinds: ChangeKinds = [], isWithoutStates: Bool = false
  ) {
    self.cursor = cursor
    self.bundleID = bundleID
    self.environment = environment
    self.accounts = accounts
    self.kinds = kinds
    self.isWithoutStates = isWithoutStates
  }

  func asks(for change: Change) -> Bool {
    if let bundleID, change.scope.bundleID != bundleID { return false }
    if let environment, change.scope.environment != environment { return false }
    if !kinds.isEmpty, kinds.isDisjoint(with: change.kinds) { return false }
    if accounts.isEmpty { return true }
    guard case .account(_, let account) = change.subject else { return false }
    return accounts.contains(account)
  }
}
