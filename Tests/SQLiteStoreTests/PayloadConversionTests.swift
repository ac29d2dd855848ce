import EntitlementDomain
import EntitlementStore
import Foundation
import GRDB
import PayloadCompression
import StoreConformance
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Compressed payloads in a database file")
struct PayloadConversionTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("entitle.sqlite")
  }

  /// - Parameter path: of a database that no store has open.
  private func read<Value>(_ path: String, _ body: (Database) throws -> Value) throws -> Value {
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    return try queue.inDatabase(body)
  }

  private func payloads(_ path: String) throws -> [PayloadTable: [Int64: [UInt8]]] {
    try read(path) { try VersionThirteenFile.payloads(in: $0) }
  }

  private func storedBytes(_ path: String, _ table: PayloadTable) throws -> Int {
    try read(path) {
      try Int.fetchOne($0, sql: "SELECT SUM(length(\(table.column))) FROM \(table.rawValue)") ?? 0
    }
  }

  /// Converts until nothing is left.
  ///
  /// - Returns: how many payloads were looked at.
  private func convert(_ store: SQLiteStore, limit: Int = 200) async throws -> Int {
    var count = 0
    while case .converted(let payloads, _) = try await store.convertPayloads(limit: limit) {
      count += payloads
    }
    return count
  }

  @Test("A new database has nothing to convert, and stores payloads compressed")
  func newDatabase() async throws {
    let store = try SQLiteStore.open(at: path)
    #expect(try await store.convertPayloads(limit: 200) == .complete)
    try await store.submit(testFact(1))
    #expect(try await store.convertPayloads(limit: 200) == .complete)
    #expect(try await store.signedFact(testFact(1).fact.key, in: testScope) == testFact(1))
    await store.close()
    #expect(try storedBytes(path, .facts) < testFact(1).signed.payload.count / 2)
    let status = try SQLiteDictionaries.status(path: path)
    #expect(status.dictionaries.isEmpty)
    #expect(status.conversions.map(\.table) == PayloadTable.allCases)
    #expect(status.conversions.allSatisfy { $0.endedAt != nil && $0.rows == 0 })
  }

  @Test("A file of version 13 is converted, and every payload stays the same, byte by byte")
  func conversion() async throws {
    let file = try await VersionThirteenFile.make(at: path)
    let counts = file.payloads.mapValues(\.count)
    #expect(Set(counts.keys) == Set(PayloadTable.allCases))
    let before = try PayloadTable.allCases.map { try storedBytes(path, $0) }
    let store = try SQLiteStore.open(at: path)
    // Readable before, while and after.
    let export = try #require(try await store.export("customer-340", in: testScope))
    #expect(
      try await store.convertPayloads(limit: 7)
        .hasLookedAt(7))
    #expect(try await store.export("customer-340", in: testScope) == export)
    #expect(try await convert(store) == counts.values.reduce(-7, +))
    #expect(try await store.export("customer-340", in: testScope) == export)
    try await NotificationArchive.check(VersionThirteenFile.notifications, in: store)
    let entry = try #require(
      try NotificationArchive.entries(VersionThirteenFile.notifications).last)
    #expect(
      try await store.notification(entry.notification.record.uuid) == entry.notification)
    await store.close()
    #expect(try payloads(path) == file.payloads)
    let status = try SQLiteDictionaries.status(path: path)
    for (conversion, before) in zip(status.conversions, before) {
      #expect(conversion.dictionary == 1)
      #expect(Int(conversion.rows) == counts[conversion.table])
      #expect(conversion.estimatedRows ?? 0 >= conversion.rows)
      #expect(Int(conversion.bytesBefore) == before)
      #expect(Int(conversion.bytesAfter) == (try storedBytes(path, conversion.table)))
      #expect(conversion.bytesAfter < conversion.bytesBefore)
      #expect(conversion.damagedRows == 0)
      #expect(conversion.endedAt != nil)
    }
    let reopened = try SQLiteStore.open(at: path)
    #expect(reopened.check == .complete)
    #expect(try await reopened.convertPayloads(limit: 200) == .complete)
    await reopened.close()
  }

  @Test("Ten crashes in the middle, between steps and within one, lose and change nothing")
  func crashes() async throws {
    let file = try await VersionThirteenFile.make(at: path)
    var current = path
    var looked: Int64 = 0
    for round in 0..<10 {
      let store = try SQLiteStore.open(at: current)
      for _ in 0...(round % 3) { _ = try await store.convertPayloads(limit: 11) }
      // What a killed process leaves: the file and its log, without the end of a transaction.
      let next = folder.file("after-crash-\(round).sqlite")
      try await store.pool.writeWithoutTransaction { [current, vault = store.vault] database in
        try database.inTransaction(.immediate) {
          let (table, position) = try #require(try PayloadConversion.next(in: database))
          _ = try PayloadConversion(database: database, vault: vault)
            .step(table, after: position, limit: 11, now: 1)
          if round.isMultiple(of: 2) { try copy(current, to: next) }
          return .rollback
        }
        if !round.isMultiple(of: 2) { try copy(current, to: next) }
      }
      await store.close()
      current = next
      let status = try SQLiteDictionaries.status(path: current)
      let rows = status.conversions.reduce(0) { $0 + $1.rows }
      #expect(rows > looked)
      looked = rows
      #expect(try payloads(current) == file.payloads, "after crash \(round)")
    }
    let store = try SQLiteStore.open(at: current)
    let left = try await convert(store)
    #expect(left > 0)
    #expect(Int(looked) + left == file.payloads.values.reduce(0) { $0 + $1.count })
    await store.close()
    #expect(try payloads(current) == file.payloads)
  }

  @Test("A process that is killed within a step loses and changes nothing")
  func killed() async throws {
    let file = try await VersionThirteenFile.make(at: path)
    await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
      let store = try SQLiteStore.open(at: path)
      for _ in 0..<3 { _ = try await store.convertPayloads(limit: 11) }
      try await store.pool.writeWithoutTransaction { [vault = store.vault] database in
        try database.inTransaction(.immediate) {
          let (table, position) = try #require(try PayloadConversion.next(in: database))
          _ = try PayloadConversion(database: database, vault: vault)
            .step(table, after: position, limit: 11, now: 1)
          kill(getpid(), SIGKILL)
          return .commit
        }
      }
    }
    let status = try SQLiteDictionaries.status(path: path)
    #expect(status.conversions.reduce(0) { $0 + $1.rows } == 33)
    #expect(try payloads(path) == file.payloads)
    let store = try SQLiteStore.open(at: path)
    #expect(try await convert(store) == file.payloads.values.reduce(-33) { $0 + $1.count })
    await store.close()
    #expect(try payloads(path) == file.payloads)
  }

  private func copy(_ path: String, to other: String) throws {
    for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: path + suffix) {
      try FileManager.default.copyItem(atPath: path + suffix, toPath: other + suffix)
    }
  }

  @Test("Customers write and read while payloads are converted")
  func besideWriters() async throws {
    let file = try await VersionThirteenFile.make(at: path)
    let store = try SQLiteStore.open(at: path)
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { _ = try await convert(store, limit: 3) }
      for writer in 0..<4 {
        group.addTask {
          for number in VersionThirteenFile.numbers where number % 4 == writer {
            // Replaces a fact whose row may be converted at this moment, or adds a customer.
            let newer = testFact(number, signedAt: 9)
            #expect(try await store.submit(newer).dispositions == [.replaced])
            try await store.submit(testFact(10_000 + number))
            let stored = try await store.signedFact(newer.fact.key, in: testScope)
            #expect(stored?.signed.payload == newer.signed.payload)
          }
        }
      }
      try await group.waitForAll()
    }
    _ = try await convert(store)
    await store.close()
    let facts = try #require(try payloads(path)[.facts]).values
    let texts = Set(facts.map { String(decoding: $0, as: UTF8.self) })
    for number in VersionThirteenFile.numbers {
      for fact in [testFact(number, signedAt: 9), testFact(10_000 + number)] {
        #expect(texts.contains(String(decoding: fact.signed.payload, as: UTF8.self)))
      }
    }
    #expect(try payloads(path)[.notifications] == file.payloads[.notifications])
  }

  @Test("A damaged frame gives an error that names the payload by its digest, and no customer")
  func damagedFrame() async throws {
    let damaged = testFact(1)
    let store = try SQLiteStore.open(at: path)
    try await store.submit(damaged)
    try await store.submit(testFact(2))
    await store.close()
    try read(path) { database in
      var stored = try #require(
        try database.row(.factPayloads, [0, 1])?.bytes(1))
      stored[stored.count / 2] ^= 64
      try database.run(.setFactPayload, [stored.stored, 1])
    }
    let reopened = try SQLiteStore.open(at: path)
    for read in [
      { _ = try await reopened.signedFact(damaged.fact.key, in: testScope) },
      { _ = try await reopened.customer(.originalTransaction("1"), in: testScope) },
    ] as [@Sendable () async throws -> Void] {
      let error = await #expect(throws: StoreError.self) { try await read() }
      #expect(error?.code == .corrupt)
      #expect(error?.message.contains(damaged.fact.digest.hexadecimal) == true)
    }
    #expect(try await reopened.signedFact(testFact(2).fact.key, in: testScope) == testFact(2))
    await reopened.close()
  }

  @Test("A payload whose dictionary is not there gives an error that names its digest")
  func unknownDictionary() async throws {
    let store = try SQLiteStore.open(at: path)
    try await store.submit(testFact(1))
    await store.close()
    try read(path) { database in
      var stored = try #require(try database.row(.factPayloads, [0, 1])?.bytes(1))
      // The form, then the number of the dictionary.
      #expect(stored.prefix(2) == [1, 1])
      stored[1] = 9
      try database.run(.setFactPayload, [stored.stored, 1])
    }
    let reopened = try SQLiteStore.open(at: path)
    let error = await #expect(throws: StoreError.self) {
      try await reopened.customer(.originalTransaction("1"), in: testScope)
    }
    #expect(error?.code == .corrupt)
    #expect(error?.message.contains(testFact(1).fact.digest.hexadecimal) == true)
    #expect(error?.message.contains("dictionary 9") == true)
    await #expect(throws: StoreError.self) { try await reopened.checkHealth() }
    await reopened.close()
  }

  @Test("A row that cannot be read stays as it is, is counted, and stops no conversion")
  func damagedRow() async throws {
    let file = try await VersionThirteenFile.make(at: path)
    try read(path) { database in
      try database.execute(
        sql: """
          UPDATE facts SET payload = x'7b7d' WHERE id = 5;
          UPDATE versions SET payload = x'7b7d' WHERE id = (SELECT MIN(id) FROM versions);
          UPDATE notifications SET payload = x'0201' WHERE id = 7;
          """)
    }
    let store = try SQLiteStore.open(at: path)
    #expect(try await convert(store) == file.payloads.values.reduce(0) { $0 + $1.count })
    await store.close()
    let status = try SQLiteDictionaries.status(path: path)
    #expect(status.conversions.map(\.damagedRows) == [1, 1, 1, 0])
    let kept = try read(path) {
      try String.fetchOne($0, sql: "SELECT hex(payload) FROM facts WHERE id = 5")
    }
    #expect(kept == "7B7D")
  }

  // MARK: Dictionaries

  /// Facts with words that the shipped dictionary does not have.
  private func fill(_ store: SQLiteStore, _ count: Int) async throws {
    for start in stride(from: 1, through: count, by: 100) {
      let facts = (start..<start + 100).map { testFact($0, padding: 40) }
      _ = try await store.commit(Submission(facts: facts, accountID: nil, receivedAt: 3))
    }
  }

  @Test("A trained dictionary is stored, used, and converted to when the operator says so")
  func training() async throws {
    let store = try SQLiteStore.open(at: path)
    try await fill(store, 1_000)
    let error = #expect(throws: StoreError.self) {
      try SQLiteDictionaries.train(path: path, samples: 800, converts: false, isDryRun: false)
    }
    #expect(error?.code == .locked)
    // Whoever only looks is not in the way.
    #expect(
      try SQLiteDictionaries.train(path: path, samples: 800, converts: true, isDryRun: true)
        .number == nil)
    #expect(try SQLiteDictionaries.status(path: path).dictionaries.isEmpty)
    #expect(try await store.convertPayloads(limit: 200) == .complete)
    try await store.submit(testFact(5_001))
    await store.close()
    let expected = try payloads(path)

    let trial = try SQLiteDictionaries.train(
      path: path, samples: 800, converts: false, isDryRun: true)
    #expect(trial.number == nil)
    #expect(trial.samples + trial.comparedSamples == 800)
    #expect(trial.meanBytesWithNew < trial.meanBytes)
    #expect(try SQLiteDictionaries.status(path: path).dictionaries.isEmpty)

    let kept = try SQLiteDictionaries.train(
      path: path, samples: 800, converts: false, isDryRun: false)
    #expect(kept.number == 2)
    var status = try SQLiteDictionaries.status(path: path)
    #expect(status.dictionaries.map(\.number) == [2])
    #expect(status.dictionaries.map(\.samples) == [kept.samples])
    #expect(status.conversions.allSatisfy { $0.endedAt != nil })

    let reopened = try SQLiteStore.open(at: path)
    #expect(reopened.vault.currentDictionary == 2)
    #expect(try await reopened.convertPayloads(limit: 200) == .complete)
    try await reopened.submit(testFact(6_001))
    #expect(
      try await reopened.signedFact(testFact(6_001).fact.key, in: testScope) == testFact(6_001))
    await reopened.close()

    let converting = try SQLiteDictionaries.train(
      path: path, samples: 100_000, converts: true, isDryRun: false)
    #expect(converting.number == 3)
    #expect(converting.samples + converting.comparedSamples == 1_002)
    let again = try SQLiteStore.open(at: path)
    #expect(try await convert(again) == 1_002)
    await again.close()
    status = try SQLiteDictionaries.status(path: path)
    #expect(status.conversions.map(\.dictionary) == [3, 3, 3, 3])
    #expect(status.conversions[0].rows == 1_002)
    #expect(status.conversions.allSatisfy { $0.endedAt != nil })
    let after = try payloads(path)
    #expect(after[.facts]?.filter { $0.key <= 1_001 } == expected[.facts])
  }

  @Test("Payloads that cannot be read are passed over while a dictionary is trained")
  func trainingBesideDamage() async throws {
    let store = try SQLiteStore.open(at: path)
    try await fill(store, 700)
    await store.close()
    try read(path) { database in
      func change(_ id: Int64, _ change: (inout [UInt8]) -> Void) throws {
        var stored = try #require(try database.row(.factPayloads, [id - 1, 1])?.bytes(1))
        change(&stored)
        try database.run(.setFactPayload, [stored.stored, id])
      }
      // Another text, a damaged frame, a dictionary that is not there.
      try change(5) { $0 = Array("{}".utf8) }
      try change(9) { $0[$0.count / 2] ^= 64 }
      try change(700) { $0[1] = 9 }
    }
    let trained = try SQLiteDictionaries.train(
      path: path, samples: 100_000, converts: false, isDryRun: false)
    #expect(trained.number == 2)
    #expect(trained.samples + trained.comparedSamples == 697)
  }

  @Test("Once a customer was not readable, nothing is converted until the server starts again")
  func conversionAfterDamage() async throws {
    let file = try await VersionThirteenFile.make(at: path)
    try read(path) {
      try $0.execute(sql: "UPDATE facts SET payload = x'7b7d' WHERE id = 5")
    }
    let store = try SQLiteStore.open(at: path)
    #expect(try await store.convertPayloads(limit: 7).hasLookedAt(7))
    let damaged = testFact(VersionThirteenFile.numbers.lowerBound + 4)
    await #expect(throws: StoreError.self) {
      try await store.signedFact(damaged.fact.key, in: testScope)
    }
    #expect(try await store.convertPayloads(limit: 7) == .elsewhere)
    await store.close()
    let reopened = try SQLiteStore.open(at: path)
    #expect(try await convert(reopened) == file.payloads.values.reduce(-7) { $0 + $1.count })
    await reopened.close()
  }

  @Test("Too few payloads, a missing file and one of an older version are refused")
  func refusals() async throws {
    #expect(throws: StoreError.self) { try SQLiteDictionaries.status(path: path) }
    #expect(!FileManager.default.fileExists(atPath: path))
    let store = try SQLiteStore.open(at: path)
    try await fill(store, 100)
    await store.close()
    var error = #expect(throws: StoreError.self) {
      try SQLiteDictionaries.train(path: path, samples: 800, converts: true, isDryRun: false)
    }
    #expect(error?.code == .missing)
    #expect(try SQLiteDictionaries.status(path: path).dictionaries.isEmpty)
    let older = folder.file("older.sqlite")
    _ = try await VersionThirteenFile.make(at: older)
    error = #expect(throws: StoreError.self) { try SQLiteDictionaries.status(path: older) }
    #expect(error?.code == .olderSchema)
    let foreign = try folder.write("no database", to: "other.sqlite")
    error = #expect(throws: StoreError.self) { try SQLiteDictionaries.status(path: foreign) }
    #expect(error?.code == .corrupt)
  }

  @Test("A damaged dictionary is found at the start")
  func damagedDictionary() async throws {
    await (try SQLiteStore.open(at: path)).close()
    let shipped = PayloadDictionary.shipped
    var changed = shipped.bytes
    changed[changed.count - 9] ^= 1
    // zstd would take it, and other payloads would come out.
    #expect((try? PayloadDictionary(number: 2, bytes: changed)) != nil)
    let noDictionary: [UInt8] = [1, 2]
    for (bytes, digest) in [
      (changed, shipped.digest), (noDictionary, testDigest(noDictionary).bytes),
      (shipped.bytes, []),
    ] {
      try read(path) {
        try $0.execute(sql: "DELETE FROM payload_dictionaries")
        try $0.run(.insertDictionary, [2, bytes.stored, digest.stored, 1, 1])
      }
      let error = #expect(throws: StoreError.self) { try SQLiteStore.open(at: path) }
      #expect(error?.code == .corrupt)
      #expect(error?.message.contains("dictionary 2") == true)
    }
    try read(path) {
      try $0.execute(
        sql: "UPDATE payload_dictionaries SET digest = ?", arguments: [shipped.digest.stored])
    }
    let store = try SQLiteStore.open(at: path)
    #expect(store.vault.currentDictionary == 2)
    await store.close()
  }
}

extension PayloadConversionStep {
  fileprivate func hasLookedAt(_ count: Int) -> Bool {
    if case .converted(count, _) = self { true } else { false }
  }
}
