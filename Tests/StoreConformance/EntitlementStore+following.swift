package import EntitlementStore

extension EntitlementStore {
  /// All subjects that changed after a position of the feed. No commit may be in flight.
  package func changedCustomers(after position: Int64) async throws(StoreError)
    -> ChangedCustomers
  {
    var told = ChangedCustomers(
      subjects: [], cursor: FollowerCursor(position: position), isComplete: false)
    while !told.isComplete {
      let part = try await changedCustomers(since: told.cursor)
      told = ChangedCustomers(
        subjects: Array(Set(told.subjects).union(part.subjects)), cursor: part.cursor,
        isComplete: part.isComplete)
    }
    return told
  }
}

extension ChangedCustomers {
  package var position: Int64 { cursor.position }
  package var latest: Int64 { cursor.latest }
}
