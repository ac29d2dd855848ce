package import EntitlementStore

extension EntitlementStore {
  /// Who changed after a position of the feed, with nothing under way then: all of them.
  package func changedCustomers(after position: Int64) async throws(StoreError)
    -> ChangedCustomers
  {
    var told = ChangedCustomers(
      subjects: [], cursor: FollowerCursor(position: position), isWhole: false)
    while !told.isWhole {
      let part = try await changedCustomers(since: told.cursor)
      told = ChangedCustomers(
        subjects: Array(Set(told.subjects).union(part.subjects)), cursor: part.cursor,
        isWhole: part.isWhole)
    }
    return told
  }
}

extension ChangedCustomers {
  package var position: Int64 { cursor.position }
  package var latest: Int64 { cursor.latest }
}
