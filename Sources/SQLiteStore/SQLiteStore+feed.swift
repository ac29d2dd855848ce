package import EntitlementDomain
package import EntitlementStore
import GRDB

extension SQLiteStore {
  package func changes(after sequence: Int64, limit: Int) async throws(StoreError) -> [Change] {
    // SQLite treats a negative limit as no limit.
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

  package func commitTimeOfChange(_ sequence: Int64) async throws(StoreError) -> Milliseconds? {
    try await read { database in
      let trimmed = try database.trimmedThrough()
      if trimmed == sequence { return nil }
      guard trimmed < sequence, let row = try database.row(.commitTimeOfChange, [sequence]) else {
        throw StoreError(.cursorExpired, "the change is no longer in the feed")
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
      try database.forEachRow(.changedCustomers, [last, Self.maximumChangesPerAnswer]) { row in
        count += 1
        last = row[0]
        let scope = try row.scope(bundleID: 3, environment: 4)
        if let account: AccountID = row.identifier(1) {
          subjects.insert(.account(scope, account))
        } else if let chain: OriginalTransactionID = try row.packedIdentifier(2) {
          subjects.insert(.unlinkedChain(scope, chain))
        }
      }
      return ChangedCustomers(
        subjects: Array(subjects), cursor: FollowerCursor(position: last),
        isComplete: count < Self.maximumChangesPerAnswer)
    }
  }

  /// Maximum changes per answer. Dropping as many cached customers causes no noticeable pause.
  private static let maximumChangesPerAnswer = 1_000

  package func trimChanges(committedBefore moment: Milliseconds, now: Milliseconds, limit: Int)
    async throws(StoreError) -> Int
  {
    let limit = max(0, limit)
    return try await write { database in
      try database.deleteOldRefusedClaims(at: now)
      var trimmed = try database.rows(.oldestChanges, [database.trimmedThrough(), limit])
        .prefix { $0[1] < moment.rawValue || $0[1] > now.rawValue }
      // Changes at the end with a time later than `now` were written by a clock that was ahead.
      // They are trimmed only if the next change with a valid time is old enough.
      let next =
        try trimmed.count == limit ? database.moment(after: trimmed.last, before: now) : nil
      if next.map({ $0 >= moment }) ?? true {
        while let last = trimmed.last, last[1] > now.rawValue { trimmed.removeLast() }
      }
      guard let last: Int64 = trimmed.last?[0] else { return 0 }
      try database.run(.deleteEvents, [last])
      try database.run(.deleteChanges, [last])
      try database.run(.setTrimmedThrough, [last])
      try database.run(.deleteTombstones, [last])
      return trimmed.count
    }
  }
}
