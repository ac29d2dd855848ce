package import EntitlementDomain
package import EntitlementStore
import GRDB

extension SQLiteStore {
  package func customer(_ selector: CustomerSelector, in scope: AppScope) async throws(StoreError)
    -> StoredCustomer
  {
    try await read { database in
      try CustomerReader(database: database, scope: scope).customer(selector)
    }
  }

  package func bundleIDs(
    ofChain chain: OriginalTransactionID, environment: StoreEnvironment
  ) async throws(StoreError) -> [BundleID] {
    try await read { database in
      try database.rows(.bundlesOfChain, [environment.rawValue, chain.stored])
        .map { $0.identifier(0) }
    }
  }

  package func accounts(in scope: AppScope, after: AccountID?, limit: Int)
    async throws(StoreError) -> [AccountSummary]
  {
    // SQLite takes a negative limit for none.
    let limit = max(0, limit)
    return try await read { database in
      guard let scopeID = try database.scopeID(scope) else { return [] }
      let rows =
        if let after {
          try database.rows(.accountPage, [scopeID, after.stored, limit])
        } else {
          try database.rows(.firstAccountPage, [scopeID, limit])
        }
      return rows.map { row in
        AccountSummary(
          accountID: row.identifier(0), revision: row[1], chainCount: row[3],
          updatedAt: Milliseconds(row[2]))
      }
    }
  }

  package func changes(after sequence: Int64, limit: Int) async throws(StoreError) -> [Change] {
    let limit = max(0, limit)
    return try await read { database in
      try database.rows(.changePage, [sequence, limit]).map { row in
        try database.change(row)
      }
    }
  }

  package func grants(of account: AccountID, in scope: AppScope) async throws(StoreError)
    -> [Grant]
  {
    try await read { database in
      guard let scopeID = try database.scopeID(scope),
        let account = try database.account(account, scopeID: scopeID)
      else { return [] }
      return try database.grants(ofAccount: account.id, in: scope)
    }
  }

  package func linkHistory(of chain: OriginalTransactionID, in scope: AppScope)
    async throws(StoreError) -> [LinkEvent]
  {
    try await read { database in
      guard let scopeID = try database.scopeID(scope) else { return [] }
      return try database.rows(.linkHistory, [scopeID, chain.stored]).map { row in
        guard let reason = LinkReason(rawValue: row[2]) else {
          throw StoreError(.corrupt, "a stored link event has an unknown reason")
        }
        return LinkEvent(
          from: row.identifier(0), to: row.identifier(1), reason: reason,
          at: Milliseconds(row[3]))
      }
    }
  }

  package func signedFact(_ key: FactKey, in scope: AppScope) async throws(StoreError)
    -> SignedFact?
  {
    try await read { database in
      guard let scopeID = try database.scopeID(scope),
        let row = try database.row(.signedFact, key.arguments(scopeID: scopeID))
      else { return nil }
      return SignedFact(
        fact: try StoredFact.decode(row, scope: scope),
        signed: SignedPayload(payload: try row.bytes(3), proof: try StoredFact.proof(row)))
    }
  }

  package func notification(_ uuid: NotificationUUID) async throws(StoreError)
    -> SignedNotification?
  {
    try await read { database in
      guard let row = try database.row(.signedNotification, [uuid.stored]) else { return nil }
      let bundleID: BundleID? = row.identifier(1)
      let record = NotificationRecord(
        uuid: row.identifier(0), type: row[3], subtype: row[4],
        scope: try bundleID.map { _ in try row.scope(bundleID: 1, environment: 2) },
        status: row[5], signedDate: (row[6] as Int64?).map { Milliseconds($0) },
        digest: try row.digest(7))
      return SignedNotification(
        record: record,
        signed: SignedPayload(
          header: try row.bytes(10), payload: try row.bytes(8), signature: try row.bytes(9)))
    }
  }

  package func checkHealth() async throws(StoreError) {
    // A statement that reads the file, not only the connection.
    try await read { database in
      _ = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM sqlite_schema")
    }
  }

  /// How SQLite runs a statement, one line a step, for the test that keeps reads on indexes.
  package func plan(of statement: StoreStatement) async throws(StoreError) -> [String] {
    try await read { database in
      // The values do not matter to the plan, only their number does.
      let count = statement.rawValue.count { $0 == "?" }
      let arguments = StatementArguments([DatabaseValue](repeating: .null, count: count))
      let plan = "EXPLAIN QUERY PLAN \(statement.rawValue)"
      return try Row.fetchAll(database, sql: plan, arguments: arguments).map { $0["detail"] }
    }
  }
}
