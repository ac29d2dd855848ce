import EntitlementDomain
import EntitlementStore
import GRDB
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Stored payloads in a database file")
struct PayloadStorageTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("entitle.sqlite")
  }

  /// Uses the database while no store has it open.
  private func edit<Value>(_ body: (Database) throws -> Value) throws -> Value {
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    return try queue.inDatabase(body)
  }

  /// The stored payload of the first fact.
  private func storedPayload() throws -> [UInt8] {
    try edit { database in
      let row = try Row.fetchOne(database, sql: "SELECT payload FROM facts WHERE id = 1")
      return try #require(row).bytes(0)
    }
  }

  private func setStoredPayload(_ bytes: [UInt8]) throws {
    try edit {
      try $0.execute(
        sql: "UPDATE facts SET payload = ? WHERE id = 1", arguments: [bytes.stored])
    }
  }

  /// Stores facts 1 and 2.
  private func fill() async throws {
    let store = try SQLiteStore.open(at: path)
    try await store.submit(testFact(1))
    try await store.submit(testFact(2))
    await store.close()
  }

  @Test("Payloads are stored compressed, in less than half their bytes")
  func sizes() async throws {
    try await fill()
    #expect(try storedPayload().count * 2 < testFact(1).signed.payload.count)
    let store = try SQLiteStore.open(at: path)
    #expect(try await store.signedFact(testFact(1).fact.key, in: testScope) == testFact(1))
    await store.close()
  }

  @Test("A damaged payload is an error that names its digest, and other customers are served")
  func damage() async throws {
    try await fill()
    let damaged = testFact(1)
    let stored = try storedPayload()
    var flipped = stored
    flipped[flipped.count / 2] ^= 64
    // Another payload as it is, one without the byte of a form, an unknown form, nothing.
    let payloads: [[UInt8]] = [
      flipped, Array(stored.prefix(20)), [0, 0x7B, 0x7D], [0x7B, 0x7D], [7], [],
    ]
    for payload in payloads {
      try setStoredPayload(payload)
      let store = try SQLiteStore.open(at: path)
      for read in [
        { _ = try await store.signedFact(damaged.fact.key, in: testScope) },
        { _ = try await store.customer(.originalTransaction("1"), in: testScope) },
      ] as [@Sendable () async throws -> Void] {
        let error = await #expect(throws: StoreError.self, "\(payload)") { try await read() }
        #expect(error?.code == .corrupt)
        #expect(error?.message.contains(damaged.fact.digest.hexadecimal) == true)
      }
      #expect(try await store.signedFact(testFact(2).fact.key, in: testScope) == testFact(2))
      await store.close()
    }
  }

  @Test("A payload of an unknown dictionary is an error that names both, and the file is damaged")
  func unknownDictionary() async throws {
    try await fill()
    var stored = try storedPayload()
    // The form, then the number of the dictionary.
    #expect(stored.prefix(2) == [1, 1])
    stored[1] = 9
    try setStoredPayload(stored)
    let store = try SQLiteStore.open(at: path)
    let error = await #expect(throws: StoreError.self) {
      try await store.customer(.originalTransaction("1"), in: testScope)
    }
    #expect(error?.code == .corrupt)
    #expect(error?.message.contains(testFact(1).fact.digest.hexadecimal) == true)
    #expect(error?.message.contains("dictionary 9") == true)
    await #expect(throws: StoreError.self) { try await store.checkHealth() }
    await store.close()
  }
}
