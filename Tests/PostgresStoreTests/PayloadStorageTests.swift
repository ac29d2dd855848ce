import EntitlementDomain
import EntitlementStore
import PayloadCompression
import StoreConformance
import Synchronization
import TestSupport
import Testing

@testable import PostgresStore

// Skipped where no PostgreSQL server is installed.
@Suite(
  "Compressed payloads in PostgreSQL", .enabled(if: EphemeralPostgres.isAvailable),
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

  /// Stores facts of customers `first` to `last`, one chain each, and as many notifications.
  private func fill(
    _ store: PostgresStore, _ numbers: ClosedRange<Int>, signedAt: Int64 = 1_000
  ) async throws {
    let facts = try numbers.map {
      try StoreSample.transaction(
        "\($0)", "\($0)", signedAt: signedAt, fields: ",\"storefrontId\":\"\($0 * 7_919 % 10_007)\""
      )
    }
    for start in stride(from: 0, to: facts.count, by: 100) {
      let part = Array(facts[start..<min(start + 100, facts.count)])
      _ = try await store.commit(StoreSample.submission(part, by: "alice"))
    }
  }

  private func export(_ store: PostgresStore) async throws -> AccountExport {
    try #require(try await store.export("alice", in: StoreSample.scope))
  }

  /// Trains and adds a dictionary on the stored payloads.
  private func train(
    samples: Int = 2_000, converts: Bool = false, isDryRun: Bool = false
  ) async throws -> DictionaryTrainingReport {
    try await PostgresDictionaries.train(
      connection: connection, samples: samples, converts: converts, isDryRun: isDryRun,
      connectTimeout: .seconds(240))
  }

  /// Whether a step converts so many payloads.
  private func converted(_ payloads: Int, by store: PostgresStore) async throws -> Bool {
    guard case .converted(payloads, _) = try await store.convertPayloads(limit: payloads) else {
      return false
    }
    return true
  }

  /// A store whose steps wait for locks as long as a test takes.
  private func patientStore() async throws -> PostgresStore {
    try await TestDatabases.open(connection) { limits in
      limits.writeTimeLimit = .seconds(240)
      limits.exchangeTimeLimit = .seconds(240)
      limits.lockTimeLimit = .seconds(240)
    }
  }

  private func convertAll(_ store: PostgresStore, limit: Int = 100) async throws {
    while true {
      let step = try await store.convertPayloads(limit: limit)
      #expect(step != .elsewhere)
      if step == .complete { return }
    }
  }

  // MARK: The conversion

  @Test("Ten times the connections are killed while a step writes; nothing is lost")
  func kills() async throws {
    let store = try await TestDatabases.open(connection)
    try await fill(store, 1_001...2_500)
    for entry in try NotificationArchive.entries(40) {
      _ = try await store.commit(
        Submission(
          facts: entry.facts, accountID: "alice", notification: entry.notification, receivedAt: 5))
    }
    let before = try await export(store)
    let feedEnd = try await store.feedEnd()
    await store.close()
    try await RawPayloads.restore(in: connection)

    for round in 1...10 {
      let store = try await patientStore()
      for _ in 0..<round {
        #expect(try await converted(3, by: store))
      }
      // A step waits for the progress, and has written its rows.
      let other = try await OpenTransaction(
        connection, "SELECT table_name FROM payload_conversions FOR UPDATE")
      let converting = Task {
        do {
          _ = try await store.convertPayloads(limit: 3)
          return false
        } catch {
          return true
        }
      }
      try await eventually {
        try execute(
          """
          SELECT count(*) FROM pg_stat_activity
          WHERE datname = '\(database)' AND wait_event_type = 'Lock'
          """) == "1"
      }
      _ = try execute(
        """
        SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity
        WHERE datname = '\(database)' AND pid <> pg_backend_pid()
          AND state IS DISTINCT FROM 'idle in transaction'
        """)
      #expect(await converting.value, "the step fails")
      await other.end()
      await store.close()
      // What was killed keeps its locks until it has ended.
      try await eventually {
        try execute(
          """
          SELECT count(*) FROM pg_stat_activity
          WHERE datname = '\(database)' AND pid <> pg_backend_pid()
          """) == "0"
      }
    }
    #expect(
      try await PostgresDictionaries.status(connection: connection)?.conversions[0].rows == 165)

    let last = try await TestDatabases.open(connection)
    #expect(try await last.convertPayloads(limit: 3) != .complete)
    try await convertAll(last)
    #expect(try await export(last) == before)
    #expect(try await last.feedEnd() == feedEnd)
    for fact in before.facts {
      #expect(
        try StoredPayload.digest(of: fact.signed.payload) == fact.fact.precedence.digest)
    }
    await last.close()
    #expect(try execute("SELECT count(*) FROM facts WHERE get_byte(payload, 0) > 7") == "0")
    #expect(
      try execute("SELECT count(*) FROM notifications WHERE get_byte(payload, 0) <> 2") == "0")
    let status = try #require(try await PostgresDictionaries.status(connection: connection))
    #expect(status.conversions.map(\.table) == PayloadTable.allCases)
    for conversion in status.conversions {
      #expect(conversion.endedAt != nil)
      #expect(conversion.damagedRows == 0)
    }
    #expect(status.conversions[0].rows >= 1_500)
    #expect(status.conversions[0].bytesAfter * 2 < status.conversions[0].bytesBefore)
  }

  @Test("While one process converts, others do not")
  func elsewhere() async throws {
    let store = try await TestDatabases.open(connection)
    try await fill(store, 1...5)
    await store.close()
    try await RawPayloads.restore(in: connection)
    let other = try await OpenTransaction(
      connection, "SELECT pg_advisory_xact_lock(1164866668, 3)::text")
    let second = try await TestDatabases.open(connection)
    #expect(try await second.convertPayloads(limit: 10) == .elsewhere)
    await other.end()
    guard case .converted(payloads: 5, let savedBytes) = try await second.convertPayloads(limit: 10)
    else {
      Issue.record("five payloads are converted")
      return
    }
    #expect(savedBytes > 0)
    await second.close()
  }

  @Test("After a step all stores rest, for a multiple of the step")
  func shared() async throws {
    let store = try await TestDatabases.open(connection)
    try await fill(store, 1...50)
    await store.close()
    try await RawPayloads.restore(in: connection)
    // So that the rest does not end within the test.
    var stores: [PostgresStore] = []
    for _ in 0..<2 {
      stores.append(
        try await TestDatabases.open(connection) { $0.conversionPauseFactor = 100_000_000 })
    }
    #expect(try await converted(5, by: stores[0]))
    for store in stores { #expect(try await store.convertPayloads(limit: 5) == .elsewhere) }
    _ = try execute("UPDATE payload_conversions SET next_step_at = 0")
    #expect(try await converted(5, by: stores[1]))
    for store in stores { await store.close() }
  }

  @Test("A conversion that is begun anew waits for a step, and the step does not undo it")
  func begunAnew() async throws {
    let store = try await TestDatabases.open(connection)
    try await fill(store, 1_001...1_700)
    await store.close()
    try await RawPayloads.restore(in: connection)
    let converter = try await patientStore()
    // A step has its position, and waits to write it.
    let other = try await OpenTransaction(
      connection, "SELECT table_name FROM payload_conversions FOR UPDATE")
    let waiting = """
      SELECT count(*) FROM pg_stat_activity
      WHERE datname = '\(database)' AND wait_event_type = 'Lock'
      """
    let converting = Task { try await converted(50, by: converter) }
    try await eventually { try execute(waiting) == "1" }
    let training = (0..<2).map { _ in Task { try await train(converts: true) } }
    try await eventually { try execute(waiting) == "3" }
    await other.end()
    #expect(try await converting.value)
    var numbers: [UInt32?] = []
    for task in training { numbers.append(try await task.value.number) }
    #expect(Set(numbers) == [2, 3])
    let begun = try #require(try await PostgresDictionaries.status(connection: connection))
    #expect(begun.conversions.allSatisfy { $0.dictionary == 3 && $0.rows == 0 })
    try await convertAll(converter)
    await converter.close()
    let ended = try #require(try await PostgresDictionaries.status(connection: connection))
    #expect(ended.conversions.allSatisfy { $0.dictionary == 3 && $0.endedAt != nil })
    #expect(ended.conversions[0].rows == 700)
  }

  @Test("Rows that a writer holds are converted in another pass")
  func passes() async throws {
    let store = try await TestDatabases.open(connection)
    try await fill(store, 1...20)
    await store.close()
    try await RawPayloads.restore(in: connection)
    let converter = try await TestDatabases.open(connection)
    let other = try await OpenTransaction(
      connection, "SELECT target::text FROM facts WHERE target = '\(Self.chain(7))' FOR UPDATE")
    _ = try await converter.convertPayloads(limit: 20)
    await other.end()
    #expect(try execute("SELECT count(*) FROM facts WHERE get_byte(payload, 0) > 7") == "1")
    try await convertAll(converter)
    await converter.close()
    #expect(try execute("SELECT count(*) FROM facts WHERE get_byte(payload, 0) > 7") == "0")
    let status = try #require(try await PostgresDictionaries.status(connection: connection))
    #expect(status.conversions[0].rows == 20)
    #expect(status.conversions[0].bytesAfter < status.conversions[0].bytesBefore)
  }

  @Test("Writers go on beside the conversion, and nothing of theirs is lost")
  func besideWriters() async throws {
    var random = SeededRandom(for: "conversion beside writers")
    let store = try await TestDatabases.open(connection)
    try await fill(store, 1...300)
    await store.close()
    try await RawPayloads.restore(in: connection)
    let writer = try await TestDatabases.open(connection)
    let converter = try await TestDatabases.open(connection)
    // The latest version of each transaction, and how each writer goes through them.
    var orders: [[Int]] = []
    for _ in 0..<4 { orders.append((1...300).shuffled(using: &random)) }
    let steps = (0..<10_000).map { _ in Int.random(in: 1...40, using: &random) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, order) in orders.enumerated() {
        group.addTask {
          for id in order {
            let fact = try StoreSample.transaction(
              "\(id)", "\(id)", signedAt: Int64(2_000 + number), fields: ",\"revision\":\(number)")
            _ = try await writer.commit(StoreSample.submission([fact], by: "alice"))
          }
        }
      }
      group.addTask {
        for limit in steps {
          let step = try await converter.convertPayloads(limit: limit)
          if step == .complete { return }
        }
      }
      try await group.waitForAll()
    }
    let export = try await export(writer)
    #expect(export.facts.count == 300)
    for fact in export.facts {
      #expect(fact.fact.precedence.signedDate == 2_003)
      #expect(try StoredPayload.digest(of: fact.signed.payload) == fact.fact.precedence.digest)
    }
    // The first version, and those of the other writers that came in any order.
    #expect(export.versions.count { $0.signed != nil } == 300 * 4)
    await writer.close()
    await converter.close()
  }

  // MARK: Damage

  @Test("A damaged payload is an error that names its digest, and does not stop the conversion")
  func damage() async throws {
    let store = try await TestDatabases.open(connection)
    try await fill(store, 1...20)
    let fact = try #require(
      try await store.signedFact(
        FactKey(kind: .transaction, identifier: "7"), in: StoreSample.scope))
    let digest = fact.fact.precedence.digest.hexadecimal
    for (damage, code) in [
      ("set_byte(payload, octet_length(payload) - 3, get_byte(payload, 20) # 255)", 1),
      ("substring(payload FROM 1 FOR 20)", 1), ("'\\x07'::bytea", 7),
    ] {
      _ = try execute(
        """
        UPDATE facts SET payload = \(damage) WHERE target = '\(Self.chain(7))';
        UPDATE payload_conversions SET ended_at = NULL, position = NULL, damaged = 0
        """)
      #expect(
        try execute("SELECT get_byte(payload, 0) FROM facts WHERE target = '\(Self.chain(7))'")
          == "\(code)")
      let failure = await #expect(throws: StoreError.self) {
        _ = try await store.customer(.account("alice"), in: StoreSample.scope)
      }
      #expect(failure?.code == .corrupt)
      #expect(failure?.message.contains(digest) == true)
      let other = await #expect(throws: StoreError.self) {
        _ = try await store.export("alice", in: StoreSample.scope)
      }
      #expect(other?.message.contains(digest) == true)
      try await convertAll(store)
      #expect(
        try await PostgresDictionaries.status(connection: connection)?.conversions[0].damagedRows
          == 1)
      #expect(
        try await store.signedFact(
          FactKey(kind: .transaction, identifier: "8"), in: StoreSample.scope) != nil)
    }
    // A payload that is stored as it is, and is not that of its digest.
    _ = try execute(
      """
      UPDATE facts SET payload = '{"transactionId":"7"}'::bytea WHERE target = '\(Self.chain(7))';
      UPDATE payload_conversions SET ended_at = NULL, position = NULL, damaged = 0
      """)
    try await convertAll(store)
    #expect(
      try execute(
        "SELECT convert_from(payload, 'UTF8') FROM facts WHERE target = '\(Self.chain(7))'")
        == "{\"transactionId\":\"7\"}")
    await store.close()
  }

  @Test(
    "A row for which the server reports damage is passed alone, after smaller and smaller steps")
  func serverDamage() async throws {
    let store = try await TestDatabases.open(connection)
    try await fill(store, 1...20)
    await store.close()
    try await RawPayloads.restore(in: connection)
    _ = try execute(
      """
      CREATE FUNCTION damage() RETURNS trigger LANGUAGE plpgsql AS
        $$ BEGIN RAISE EXCEPTION USING ERRCODE = 'XX001'; END $$;
      CREATE TRIGGER damage BEFORE UPDATE ON facts FOR EACH ROW
        WHEN (OLD.target = '\(Self.chain(7))') EXECUTE FUNCTION damage()
      """)
    let converter = try await TestDatabases.open(connection)
    var failures = 0
    var step: PayloadConversionStep?
    while step != .complete, failures < 20 {
      do {
        step = try await converter.convertPayloads(limit: 16)
      } catch {
        #expect(error.code == .corrupt)
        failures += 1
      }
    }
    #expect(step == .complete)
    #expect(failures >= 4)
    await converter.close()
    #expect(
      try execute("SELECT string_agg(target::text, ',') FROM facts WHERE get_byte(payload, 0) > 7")
        == Self.chain(7))
    let status = try #require(try await PostgresDictionaries.status(connection: connection))
    #expect(status.conversions[0].damagedRows == 1)
    #expect(status.conversions[0].rows == 20)
  }

  // MARK: Dictionaries

  @Test("A dictionary is trained on stored payloads, and another store reads it at once")
  func dictionaries() async throws {
    let first = try await TestDatabases.open(connection)
    let second = try await TestDatabases.open(connection)
    try await fill(first, 1_001...1_700)
    for entry in try NotificationArchive.entries(20) {
      _ = try await first.commit(
        Submission(
          facts: entry.facts, accountID: "alice", notification: entry.notification, receivedAt: 5))
    }
    // A damaged row is left out.
    let whole = try await train(isDryRun: true)
    _ = try execute(
      """
      CREATE TABLE kept AS SELECT payload FROM facts WHERE target = '\(Self.chain(1001))';
      UPDATE facts SET payload = '\\x07'::bytea WHERE target = '\(Self.chain(1001))'
      """)
    let without = try await train(isDryRun: true)
    #expect(without.samples + without.comparedSamples + 1 == whole.samples + whole.comparedSamples)
    _ = try execute(
      """
      UPDATE facts SET payload = kept.payload FROM kept WHERE target = '\(Self.chain(1001))';
      DROP TABLE kept
      """)
    let tried = try await train(isDryRun: true)
    #expect(tried.number == nil)
    #expect(try execute("SELECT count(*) FROM payload_dictionaries") == "0")
    let report = try await train()
    #expect(report.number == 2)
    #expect(report.samples + report.comparedSamples >= 700)
    #expect(report.meanBytesWithNew < report.meanBytesWithPresent)
    #expect(report.meanBytesWithPresent < report.meanBytes)
    #expect(tried.meanBytesWithNew == report.meanBytesWithNew)

    // The second store loads it, as it does each minute, and writes with it.
    #expect(try await second.convertPayloads(limit: 10) == .complete)
    try await fill(second, 1_701...1_710)
    let notification = try #require(try NotificationArchive.entries(21).last)
    _ = try await second.commit(
      Submission(
        facts: notification.facts, accountID: "alice", notification: notification.notification,
        receivedAt: 6))
    #expect(
      try execute("SELECT get_byte(payload, 1) FROM facts WHERE target = '\(Self.chain(1705))'")
        == "2")
    // The first store does not know it yet.
    let facts = try await first.customer(.account("alice"), in: StoreSample.scope).record.facts
    #expect(facts.count >= 710)

    // Each way of reading meets an unknown dictionary first.
    var stores: [PostgresStore] = []
    for _ in 0..<4 { stores.append(try await TestDatabases.open(connection)) }
    let report3 = try await train(converts: true)
    #expect(report3.number == 3)
    try await convertAll(second)
    #expect(
      try execute("SELECT count(*) FROM facts WHERE get_byte(payload, 1) = 3") != "0")
    // Those that were converted are only in the new form where it is smaller.
    try await fill(second, 1_711...1_711)
    let latest = try #require(try NotificationArchive.entries(22).last)
    _ = try await second.commit(
      Submission(
        facts: latest.facts, accountID: "alice", notification: latest.notification, receivedAt: 7))
    for (read, store) in stores.enumerated() {
      #expect(store.dictionaries.vault.currentDictionary == 2)
      switch read {
      case 0: #expect(try await export(store) == export(second))
      case 1:
        #expect(
          try await store.notification(latest.notification.record.uuid)
            == latest.notification)
      case 2:
        #expect(
          try await store.signedFact(
            FactKey(kind: .transaction, identifier: "1711"), in: StoreSample.scope) != nil)
      default:
        // A write reads the standing version.
        try await fill(store, 1_711...1_711, signedAt: 3_000)
      }
      #expect(store.dictionaries.vault.currentDictionary == 3)
      await store.close()
    }
    await first.close()
    await second.close()
    let status = try #require(try await PostgresDictionaries.status(connection: connection))
    #expect(status.dictionaries.map(\.number) == [2, 3])
    #expect(status.dictionaries.allSatisfy { $0.byteCount <= DictionaryTraining.byteCount })
    #expect(status.conversions.allSatisfy { $0.dictionary == 3 && $0.endedAt != nil })
  }

  @Test("A payload whose dictionary is gone is an error that names it; others are served")
  func lostDictionary() async throws {
    let store = try await TestDatabases.open(connection)
    try await fill(store, 1...600)
    _ = try await train()
    _ = try await store.convertPayloads(limit: 10)
    try await store.submit("9001", "9001", by: "bob")
    let fact = try #require(
      try await store.signedFact(
        FactKey(kind: .transaction, identifier: "9001"), in: StoreSample.scope))
    await store.close()
    _ = try execute("DELETE FROM payload_dictionaries")
    let other = try await TestDatabases.open(connection)
    let digest = fact.fact.precedence.digest.hexadecimal
    for _ in 0..<2 {
      let failure = await #expect(throws: StoreError.self) {
        _ = try await other.customer(.account("bob"), in: StoreSample.scope)
      }
      #expect(failure?.code == .unknownDictionary)
      #expect(failure?.message.contains(digest) == true)
      #expect(failure?.message.contains("dictionary 2") == true)
    }
    let refused = await #expect(throws: StoreError.self) {
      try await other.submit("9001", "9001", by: "bob", signedAt: 4_000)
    }
    #expect(refused?.code == .unknownDictionary)
    #expect(
      try await other.customer(.account("alice"), in: StoreSample.scope).record.facts.count == 600)
    try await other.submit("9002", "9002", by: "carl")
    // What cannot be read is left as it is.
    _ = try execute("UPDATE payload_conversions SET ended_at = NULL")
    try await convertAll(other)
    #expect(
      try await PostgresDictionaries.status(connection: connection)?.conversions[0].damagedRows
        == 1)
    await other.close()
  }

  @Test("A store never writes with a dictionary that its database has lost in a failover")
  func forgottenDictionary() async throws {
    let store = try await TestDatabases.open(connection)
    try await fill(store, 1...600)
    _ = try await train()
    _ = try await store.convertPayloads(limit: 10)
    #expect(store.dictionaries.vault.currentDictionary == 2)
    // As after a failover to a standby that did not have it.
    _ = try execute("DELETE FROM payload_dictionaries")
    try await store.submit("9001", "9001", by: "bob")
    #expect(
      try execute("SELECT get_byte(payload, 1) FROM facts WHERE target = '\(Self.chain(9001))'")
        == "1")
    #expect(store.dictionaries.vault.currentDictionary == 1)
    await store.close()
  }

  @Test("A damaged dictionary does not stop others, and many loads at once end with the newest")
  func damagedDictionary() async throws {
    let store = try await TestDatabases.open(connection)
    try await fill(store, 1...600)
    _ = try await train()
    let loader = store.dictionaries
    _ = try execute(
      """
      INSERT INTO payload_dictionaries (number, bytes, created_at, samples)
      VALUES (3, '\\x00'::bytea, 0, 0)
      """)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<10 { group.addTask { try await loader.load() } }
      try await group.waitForAll()
    }
    #expect(loader.vault.currentDictionary == 2)
    try await store.submit("9001", "9001", by: "bob")
    #expect(
      try execute("SELECT get_byte(payload, 1) FROM facts WHERE target = '\(Self.chain(9001))'")
        == "2")
    #expect(try await train().number == 4)
    try await loader.load()
    #expect(loader.vault.currentDictionary == 4)
    _ = try execute("DELETE FROM payload_dictionaries WHERE number > 2")
    try await loader.load()
    #expect(loader.vault.currentDictionary == 2)
    await store.close()
  }

  @Test("With too few payloads no dictionary is trained")
  func tooFew() async throws {
    let store = try await TestDatabases.open(connection)
    try await fill(store, 1...50)
    let failure = await #expect(throws: StoreError.self) { try await train() }
    #expect(failure?.code == .missing)
    #expect(try execute("SELECT count(*) FROM payload_dictionaries") == "0")
    await store.close()
  }

  @Test("A database of the former version has everything to convert after its migration")
  func migration() async throws {
    let store = try await TestDatabases.open(connection)
    try await fill(store, 1...30)
    let before = try await export(store)
    await store.close()
    try await RawPayloads.restore(in: connection)
    _ = try execute(
      """
      \(LeanMigrationTests.undo)
      DROP TABLE payload_conversions, payload_dictionaries;
      DELETE FROM schema_migrations WHERE number = 12;
      """)
    #expect(try await PostgresDictionaries.status(connection: connection) == nil)
    _ = try await PostgresSchema.migrate(connection: connection, dryRun: false, report: { _ in })
    let status = try #require(try await PostgresDictionaries.status(connection: connection))
    #expect(status.conversions.map { $0.endedAt == nil } == [true, false, false, false])
    let migrated = try await TestDatabases.open(connection)
    #expect(try await migrated.convertPayloads(limit: 20) != .complete)
    try await convertAll(migrated)
    #expect(try await export(migrated) == before)
    await migrated.close()
  }
}
