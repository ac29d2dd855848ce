import EntitlementStore
import SQLiteStore

/// Looks into the database of a server that has stopped.
enum StoredChanges {
  /// How many changes were ever stored.
  static func count(inDatabase path: String) async throws -> Int {
    let store = try SQLiteStore.open(at: path)
    let changes = try await store.changes(after: 0, limit: 100_000)
    await store.close()
    return changes.count
  }
}
