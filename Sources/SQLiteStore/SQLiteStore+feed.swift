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

  package func changedCustomers(after position: Int64) async throws(StoreError)
    -> ChangedCustomers
  {
    try await read { database in
      try database.checkFeedReaches(position)
      var subjects: Set<CustomerSubject> = []
      var last = try max(position, database.trimmedThrough())
      try database.forEachRow(.changedCustomers, [position]) { row in
        last = row[0]
        let scope = try row.scope(bundleID: 3, environment: 4)
        if let account: AccountID = row.identifier(1) {
          subjects.insert(.account(scope, account))
        } else if let chain: OriginalTransactionID = row.identifier(2) {
          subjects.insert(.unlinkedChain(scope, chain))
        }
      }
      return ChangedCustomers(subjects: Array(subjects), position: last)
    }
  }

  package func trimChanges(committedBefore moment: Milliseconds, limit: Int)
    async throws(StoreError) -> Int
  {
    let limit = max(0, limit)
    return try await write { database in
      let oldest = try database.rows(.oldestChanges, [database.trimmedThrough(), limit])
        .prefix { $0[1] < moment.rawValue }
      guard let last: Int64 = oldest.last?[0] else { return 0 }
      try database.run(.deleteEvents, [last])
      try database.run(.deleteChanges, [last])
      try database.run(.setTrimmedThrough, [last])
      try database.run(.deleteTombstones, [last])
      return oldest.count
    }
  }
}
