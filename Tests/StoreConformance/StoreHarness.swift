package import EntitlementStore

/// One empty database of the store under test. It can be opened repeatedly.
package struct StoreHarness: Sendable {
  private let openStore: @Sendable () async throws -> any EntitlementStore

  /// - Parameter open: opens the same database at each call; the first call creates it.
  ///   ``StoreConformanceSuite/sharedCases`` open it several times at once.
  package init(open: @escaping @Sendable () async throws -> any EntitlementStore) {
    self.openStore = open
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
