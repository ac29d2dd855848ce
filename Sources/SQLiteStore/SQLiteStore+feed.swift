package import EntitlementDomain
package import EntitlementStore
import GRDB

extension SQLiteStore {
  package func changes(after sequence: Int64, limit: Int) async throws(StoreError) -> [Change] {
    // SQLite takes a negative limit for none.
    let limit = max(0, limit)
    return try await read { database in
      try database.checkFeedReaches(sequence)
      return try database.rows(.changePage, [sequence, limit]).map { row in
        try database.change(row)
      }
    }
  }

  package func feedEnd() async throws(StoreError) -> Int64 {
    try await read { try $0.feedEnd() }
  }

  package func momentOfChange(_ sequence: Int64) async throws(StoreError) -> Milliseconds? {
    try await read { database in
      let trimmed = try database.trimmedThrough()
      if trimmed == sequence { return nil }
      guard trimmed < sequence, let row = try database.row(.momentOfChange, [sequence]) else {
        throw StoreError(.cursorExpired, "this change is not in the feed any more")
      }
      return Milliseconds(row[0])
    }
  }

  package func followerCursor() async throws(StoreError) -> FollowerCursor {
    FollowerCursor(position: try await feedEnd())
  }

  package func changedCustomers(since cursor: FollowerCursor) async throws(StoreError)
    -> ChangedCustomers
  {
    try await read { database in
      try database.checkFeedReaches(cursor.position)
      var subjects: Set<CustomerSubject> = []
      var last = try max(cursor.position, database.trimmedThrough())
      var count = 0
      try database.forEachRow(.changedCustomers, [last, Self.changesOfPart]) { row in
        count += 1
        last = row[0]
        let scope = try row.scope(bundleID: 3, environment: 4)
        if let account: AccountID = row.identifier(1) {
          subjects.insert(.account(scope, account))
        } else if let chain: OriginalTransactionID = row.identifier(2) {
          subjects.insert(.unlinkedChain(scope, chain))
        }
      }
      return ChangedCustomers(
        subjects: Array(subjects), cursor: FollowerCursor(position: last),
        isWhole: count < Self.changesOfPart)
    }
  }

  /// Changes that one answer tells of: as many as can be dropped from memory without a pause that
  /// readers notice.
  private static let changesOfPart = 1_000

  package func trimChanges(committedBefore moment: Milliseconds, now: Milliseconds, limit: Int)
    async throws(StoreError) -> Int
  {
    let limit = max(0, limit)
    return try await write { database in
      var going = try database.rows(.oldestChanges, [database.trimmedThrough(), limit])
        .prefix { $0[1] < moment.rawValue || $0[1] > now.rawValue }
      // How old the last ones are, if a clock that was ahead wrote them, the next one tells.
      let next = try going.count == limit ? database.moment(after: going.last, before: now) : nil
      if next.map({ $0 >= moment }) ?? true {
        while let last = going.last, last[1] > now.rawValue { going.removeLast() }
      }
      guard let last: Int64 = going.last?[0] else { return 0 }
      try database.run(.deleteEvents, [last])
      try database.run(.deleteChanges, [last])
      try database.run(.setTrimmedThrough, [last])
      try database.run(.deleteTombstones, [last])
      return going.count
    }
  }
}
