package import EntitlementStore

/// What was committed, in order: who has to keep up with customers reads it from where it stopped.
package struct ChangeFeed: Sendable {
  private let store: any EntitlementStore

  package init(store: any EntitlementStore) {
    self.store = store
  }

  /// Changes after a sequence number (0: from the first), at most `limit` of them.
  package func changes(after sequence: Int64, limit: Int) async throws(ServiceError) -> [Change] {
    do {
      return try await store.changes(after: sequence, limit: limit)
    } catch {
      throw ServiceError(error)
    }
  }
}
