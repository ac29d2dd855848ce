import EntitlementStore

/// One requirement for every store.
package struct ConformanceCase: Sendable, CustomStringConvertible {
  /// The requirement as a sentence.
  package let name: String
  private let body: @Sendable (any EntitlementStore, StoreHarness) async throws -> Void

  init(
    _ name: String,
    body: @escaping @Sendable (any EntitlementStore, StoreHarness) async throws -> Void
  ) {
    self.name = name
    self.body = body
  }

  package var description: String { name }

  /// Runs the case on an empty database.
  ///
  /// - Throws: ``ConformanceFailure`` when the store violates the requirement; any unexpected error
  ///   of the store.
  package func run(on harness: StoreHarness) async throws {
    let store = try await harness.open()
    do {
      try await body(store, harness)
    } catch {
      await store.close()
      throw error
    }
    await store.close()
  }
}
