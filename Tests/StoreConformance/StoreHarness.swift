package import EntitlementStore

/// One empty database of the store under test. It can be opened repeatedly.
package struct StoreHarness: Sendable {
  private let openStore: @Sendable () async throws -> any EntitlementStore
  private let rawStorage: (@Sendable () async throws -> Void)?

  /// - Parameters:
  ///   - storesRaw: while no store is open, gives all payloads the form in which former versions
  ///     stored them, with a conversion that has not begun. Nil: the conversion of such rows is
  ///     tested elsewhere.
  ///   - open: opens the same database at each call; the first call creates it.
  ///     ``StoreConformanceSuite/sharedCases`` open it several times at once.
  package init(
    storesRaw: (@Sendable () async throws -> Void)? = nil,
    open: @escaping @Sendable () async throws -> any EntitlementStore
  ) {
    self.rawStorage = storesRaw
    self.openStore = open
  }

  /// Gives all payloads their former form and opens the database again.
  ///
  /// - Returns: the store, and whether the form was changed.
  func reopenRaw(
    _ store: any EntitlementStore
  ) async throws -> (store: any EntitlementStore, isRaw: Bool) {
    await store.close()
    try await rawStorage?()
    return (try await open(), rawStorage != nil)
  }

  package func open() async throws -> any EntitlementStore {
    try await openStore()
  }

  /// Closes a store and opens its database again.
  package func reopen(_ store: any EntitlementStore) async throws -> any EntitlementStore {
    await store.close()
    return try await open()
  }
}
