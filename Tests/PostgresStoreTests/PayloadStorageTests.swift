import EntitlementDomain
import EntitlementStore
import StoreConformance
import TestSupport
import Testing

@testable import PostgresStore

// Skipped where no PostgreSQL server is installed.
@Suite(
  "Stored payloads in PostgreSQL", .enabled(if: EphemeralPostgres.isAvailable),
  .timeLimit(.minutes(5)))
struct PayloadStorageTests {
  private let cluster: EphemeralPostgres
  private let connection: String
  private let database: String

  init() async throws {
    cluster = try TestDatabases.cluster.get()
    connection = try await TestDatabases.make()
    database = try EphemeralPostgres.databaseName(of: connection)
  }

  private func execute(_ sql: String) throws -> String {
    try cluster.execute(sql, database: database)
  }

  /// The target of a chain with one transaction, which has its id, as text of PostgreSQL.
  private static func chain(_ id: Int) -> String {
    "\\x63" + "\(id)" + ("\(id)".count % 2 == 1 ? "f" : "")
  }

  /// Stores facts of an account, one chain each.
  private func fill(_ store: PostgresStore, _ numbers: ClosedRange<Int>) async throws {
    let facts = try numbers.map {
      try StoreSample.transaction(
        "\($0)", "\($0)", fields: ",\"storefrontId\":\"\($0 * 7_919 % 10_007)\"")
    }
    _ = try await store.commit(StoreSample.submission(facts, by: "alice"))
  }

  @Test("Payloads are stored compressed, in less than half their bytes")
  func sizes() async throws {
    let store = try await TestDatabases.open(connection)
    try await fill(store, 1_001...1_100)
    let notifications = try NotificationArchive.entries(20)
    for entry in notifications {
      _ = try await store.commit(
        Submission(
          facts: entry.facts, accountID: "alice", notification: entry.notification, receivedAt: 5))
    }
    let export = try #require(try await store.export("alice", in: StoreSample.scope))
    await store.close()
    for (table, payloads) in [
      ("facts", export.facts.map(\.signed.payload)),
      ("notifications", notifications.map(\.notification.signed.payload)),
    ] {
      let bytes = payloads.reduce(0) { $0 + $1.count }
      let stored = try #require(
        Int(try execute("SELECT sum(octet_length(payload)) FROM \(table)")))
      #expect(stored * 2 < bytes, "\(table): \(stored) of \(bytes)")
    }
    // Without the JWS inside, whose headers are that of the notification.
    #expect(
      try execute("SELECT count(*) FROM notifications WHERE get_byte(payload, 0) <> 2") == "0")
  }

  @Test(
    "A damaged payload is an error that names its digest, and other facts are served",
    arguments: [
      "set_byte(payload, octet_length(payload) - 3, get_byte(payload, 20) # 255)",
      "substring(payload FROM 1 FOR 20)",
      // Another payload as it is, one without the byte of a form, an unknown form, nothing.
      "'\\x00'::bytea || '{\"transactionId\":\"7\"}'::bytea", "'{\"transactionId\":\"7\"}'::bytea",
      "'\\x07'::bytea", "''::bytea",
    ])
  func damage(_ payload: String) async throws {
    let store = try await TestDatabases.open(connection)
    try await fill(store, 1...20)
    let fact = try #require(
      try await store.signedFact(
        FactKey(kind: .transaction, identifier: "7"), in: StoreSample.scope))
    let digest = fact.fact.precedence.digest.hexadecimal
    _ = try execute("UPDATE facts SET payload = \(payload) WHERE target = '\(Self.chain(7))'")
    for read in [
      { _ = try await store.customer(.account("alice"), in: StoreSample.scope) },
      { _ = try await store.export("alice", in: StoreSample.scope) },
    ] as [@Sendable () async throws -> Void] {
      let failure = await #expect(throws: StoreError.self) { try await read() }
      #expect(failure?.code == .corrupt)
      #expect(failure?.message.contains(digest) == true)
    }
    #expect(
      try await store.signedFact(
        FactKey(kind: .transaction, identifier: "8"), in: StoreSample.scope) != nil)
    await store.close()
  }

  @Test("A payload of an unknown dictionary is an error that names both; others are served")
  func unknownDictionary() async throws {
    let store = try await TestDatabases.open(connection)
    try await fill(store, 1...20)
    try await store.submit("9001", "9001", by: "bob")
    let fact = try #require(
      try await store.signedFact(
        FactKey(kind: .transaction, identifier: "9001"), in: StoreSample.scope))
    let target = Self.chain(9_001)
    // The form, then the number of the dictionary.
    #expect(
      try execute("SELECT substring(payload FROM 1 FOR 2) FROM facts WHERE target = '\(target)'")
        == "\\x0101")
    _ = try execute(
      "UPDATE facts SET payload = set_byte(payload, 1, 9) WHERE target = '\(target)'")
    let failure = await #expect(throws: StoreError.self) {
      _ = try await store.customer(.account("bob"), in: StoreSample.scope)
    }
    #expect(failure?.code == .corrupt)
    #expect(failure?.message.contains(fact.fact.precedence.digest.hexadecimal) == true)
    #expect(failure?.message.contains("dictionary 9") == true)
    // A write reads the standing version.
    let refused = await #expect(throws: StoreError.self) {
      try await store.submit("9001", "9001", by: "bob", signedAt: 4_000)
    }
    #expect(refused?.code == .corrupt)
    #expect(
      try await store.customer(.account("alice"), in: StoreSample.scope).record.facts.count == 20)
    try await store.submit("9002", "9002", by: "carl")
    await store.close()
  }
}
