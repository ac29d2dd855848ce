import EntitlementStore
import SQLiteStore

/// Reads the database of a stopped server.
enum StoredChanges {
  /// The number of all changes that were ever stored.
  static func count(inDatabase path: String) async throws -> Int {
    let store = try SQLiteStore.open(at: path)
    let changes = try await store.changes(after: 0, limit: 100_000)
    await store.close()
    return changes.count
  }
}
