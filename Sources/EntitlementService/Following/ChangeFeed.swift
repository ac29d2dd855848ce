package import EntitlementStore

/// The change feed: all changes in commit order. A consumer continues after the last number it
/// read.
package struct ChangeFeed: Sendable {
  private let store: any EntitlementStore

  package init(store: any EntitlementStore) {
    self.store = store
  }

  /// At most `limit` changes after a sequence number; 0 starts at the first change that is stored.
  ///
  /// - Throws: ``ServiceError/Code-swift.enum/outOfRange`` when changes after it were trimmed.
  package func changes(after sequence: Int64, limit: Int) async throws(ServiceError) -> [Change] {
    do {
      return try await store.changes(after: sequence, limit: limit)
    } catch {
      throw ServiceError(error)
    }
  }
}
