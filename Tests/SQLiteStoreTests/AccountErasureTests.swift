import EntitlementDomain
import EntitlementStore
import Foundation
import GRDB
import SQLiteStore
import TestSupport
import Testing

@Suite("What the file keeps of a deleted account (R46)")
struct AccountErasureTests {
  private let folder: TemporaryFolder
  private let path: String
  private let account: AccountID = "alice-4711"
  private let alias: AccountID = "anonymous:4711"

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("entitle.sqlite")
  }

  /// The account with chains, a grant and an alias, and then deleted.
  private func deleteAccount(_ store: SQLiteStore) async throws {
    for (number, name) in [(1, alias), (2, account)] {
      _ = try await store.commit(
        Submission(facts: [testFact(number)], accountID: name, receivedAt: 3))
    }
    _ = try await store.commit(
      Submission(
        facts: [testFact(1)], accountID: account, anonymousAccountID: alias, receivedAt: 4))
    _ = try await store.addGrant(
      Grant(
        id: "5d0c9f2a-7b1e-4e63-9a44-000000000001", scope: testScope, accountID: account,
        entitlementID: "pro", starts: 1, reason: "a gift", author: "otto", onBehalfOf: "ada",
        createdAt: 5), by: AuditCaller(peer: "unix", name: "otto"))
    let answer = try await store.perform(
      LinkRequest(
        scope: testScope, change: .delete(account), onBehalfOf: "ada", reason: "asked to", at: 6,
        caller: AuditCaller(peer: "unix", name: "otto")))
    guard case .done = answer else { throw CancellationError() }
  }

  /// Tables of the file with a text that names the account.
  private func tablesNaming() async throws -> [String] {
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    return try await queue.read { database in
      let tables = try String.fetchAll(
        database, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
      return try tables.filter { table in
        try Row.fetchAll(database, sql: "SELECT * FROM \(table)").contains { row in
          row.databaseValues.contains { String.fromDatabaseValue($0)?.contains("4711") == true }
        }
      }
    }
  }

  @Test("Only the tombstone names it until the feed is trimmed, and then nothing does")
  func rows() async throws {
    var store = try SQLiteStore.open(at: path)
    try await deleteAccount(store)
    await store.close()
    #expect(try await tablesNaming() == ["accounts"])
    store = try SQLiteStore.open(at: path)
    #expect(try await store.trimChanges(committedBefore: 7, limit: 100) > 0)
    await store.close()
    #expect(try await tablesNaming() == [])
    // Its purchases can be claimed by another account.
    store = try SQLiteStore.open(at: path)
    #expect(
      try await store.unlinkedChains(in: testScope, after: nil, limit: 10).map(\.chain)
        == ["1", "2"])
    await store.close()
  }

  @Test("The audit trail keeps the calls with their authors and reasons, and no id (R77)")
  func trail() async throws {
    let store = try SQLiteStore.open(at: path)
    try await deleteAccount(store)
    let entries = try await store.auditEntries(AuditQuery(limit: 9))
    #expect(entries.map(\.method) == ["AddGrant", "DeleteCustomer"])
    #expect(entries.map(\.reason) == ["a gift", "asked to"])
    #expect(entries.map(\.author) == ["otto", "otto"])
    #expect(entries.map(\.onBehalfOf) == ["ada", "ada"])
    await store.close()
    // Ids of accounts, of purchases and of their hints.
    let ids = ["4711", "\(testFact(1).fact.key.identifier)", "\(testFact(2).fact.key.identifier)"]
    let queue = try DatabaseQueue(path: path)
    try await queue.read { database in
      let tables = try String.fetchAll(
        database,
        sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND name LIKE 'audit%'")
      #expect(tables.count == 5)
      for table in tables {
        for row in try Row.fetchAll(database, sql: "SELECT * FROM \(table)") {
          for value in row.databaseValues.compactMap({ String.fromDatabaseValue($0) }) {
            #expect(!ids.contains(value), "\(table): \(value)")
            #expect(!value.contains("4711"), "\(table): \(value)")
          }
        }
      }
      #expect(try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM audit_accounts") == 0)
      #expect(try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM audit_entries") == 2)
    }
    try queue.close()
  }

  @Test("An entry of the audit trail cannot be changed by mistake")
  func appendOnly() async throws {
    let store = try SQLiteStore.open(at: path)
    try await deleteAccount(store)
    _ = try await store.sealAudit(keepingDays: nil, now: 7)
    await store.close()
    let queue = try DatabaseQueue(path: path)
    for sql in [
      "UPDATE audit_entries SET reason = 'none'", "UPDATE audit_seals SET at = 1",
      "DELETE FROM audit_seals", "UPDATE audit_seal_chains SET position = 9",
      "DELETE FROM audit_seal_chains",
    ] {
      await #expect(throws: DatabaseError.self) {
        try await queue.write { try $0.execute(sql: sql) }
      }
    }
    try queue.close()
  }

  @Test("Its name is overwritten, not only let go")
  func bytes() async throws {
    let store = try SQLiteStore.open(at: path)
    try await deleteAccount(store)
    _ = try await store.trimChanges(committedBefore: 7, limit: 100)
    await store.close()
    let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    #expect(bytes.range(of: Data("4711".utf8)) == nil)
  }

  @Test("Events of the feed go with their changes")
  func events() async throws {
    let store = try SQLiteStore.open(at: path)
    let payload = Array("{}".utf8)
    let record = NotificationRecord(
      uuid: "3c9a17d2-64be-4f0b-9d11-000000000001", type: "CONSUMPTION_REQUEST", scope: testScope,
      signedDate: 4, digest: testFact(1).fact.digest)
    _ = try await store.commit(
      Submission(
        facts: [testFact(1)],
        notification: SignedNotification(
          record: record, signed: SignedPayload(header: [1], payload: payload, signature: [2])),
        receivedAt: 4))
    #expect(try await store.changes(after: 0, limit: 10).flatMap(\.events).count == 1)
    #expect(try await store.trimChanges(committedBefore: 7, limit: 100) == 1)
    await store.close()
    let queue = try DatabaseQueue(path: path)
    let count = try await queue.read { database in
      try Int.fetchOne(
        database,
        sql: "SELECT (SELECT COUNT(*) FROM changes) + (SELECT COUNT(*) FROM change_events)")
    }
    #expect(count == 0)
    try queue.close()
  }
}
