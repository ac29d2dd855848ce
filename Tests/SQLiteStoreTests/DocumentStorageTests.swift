import EntitlementDomain
import EntitlementStore
import GRDB
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Receipts and archived responses in the database file")
struct DocumentStorageTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("entitle.sqlite")
  }

  /// Fact `number` as a receipt says it that was made at a moment.
  private func fact(_ number: Int, in receipt: [UInt8], at moment: Int64 = 2) -> SignedFact {
    var signed = testFact(number, signedAt: moment)
    signed.fact.authority = .receipt
    signed.signed.proof = .document(receipt)
    return signed
  }

  /// - Parameter store: closed by this.
  private func count(_ query: String, afterClosing store: SQLiteStore) async throws -> Int? {
    await store.close()
    let queue = try DatabaseQueue(path: path)
    let count = try await queue.read { try Int.fetchOne($0, sql: query) }
    try queue.close()
    return count
  }

  @Test("A thousand receipts, each newer than the one before, leave one, and no growth")
  func refreshed() async throws {
    let store = try SQLiteStore.open(at: path)
    for moment in 1...Int64(1_000) {
      // Some pages each, so that deleted pages are reused.
      let receipt =
        [UInt8](repeating: UInt8(truncatingIfNeeded: moment), count: 10_000)
        + Array("\(moment)".utf8)
      let receipts = try await store.commit(
        Submission(
          facts: (1...5).map { fact($0, in: receipt, at: moment) }, receivedAt: Milliseconds(moment)
        ))
      #expect(Set(receipts.dispositions) == [moment == 1 ? .added : .replaced])
    }
    let size = try #require(
      try await count(
        "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size",
        afterClosing: store))
    #expect(size < 1_000_000)
    let reopened = try SQLiteStore.open(at: path)
    #expect(try await count("SELECT COUNT(*) FROM documents", afterClosing: reopened) == 1)
  }

  @Test("A document stays while a fact comes out of it, and goes with the last one")
  func lastFact() async throws {
    let store = try SQLiteStore.open(at: path)
    let document = Array("both".utf8)
    try await store.submit(fact(1, in: document), fact(2, in: document))
    let newer = fact(1, in: Array("newer".utf8), at: 3)
    try await store.submit(newer)
    #expect(try await store.signedFact(fact(2, in: document).fact.key, in: testScope) != nil)
    let signed = testFact(2)
    #expect(try await store.submit(signed).dispositions == [.replaced])
    #expect(try await store.signedFact(newer.fact.key, in: testScope)?.signed == newer.signed)
    #expect(
      try await count(
        // As it is, after the byte of the form.
        "SELECT group_concat(hex(bytes)) = '00' || hex('newer') FROM documents", afterClosing: store
      ) == 1)
  }

  @Test("Within one submission, too: only what stands in the end keeps its document")
  func withinSubmission() async throws {
    let store = try SQLiteStore.open(at: path)
    let facts = (1...4).map { fact(1, in: Array("of \($0)".utf8), at: Int64($0)) }
    // The second is replaced, and the first comes again when its document has been let go.
    let receipt = try await store.submit(facts[0], facts[2], facts[1], facts[3], facts[0])
    #expect(receipt.dispositions == [.added, .replaced, .superseded, .replaced, .superseded])
    #expect(try await store.signedFact(facts[3].fact.key, in: testScope)?.signed == facts[3].signed)
    #expect(try await count("SELECT COUNT(*) FROM documents", afterClosing: store) == 1)
  }

  @Test("A document that is let go and comes back in one submission stays")
  func comesBack() async throws {
    let store = try SQLiteStore.open(at: path)
    let document = Array("one".utf8)
    try await store.submit(fact(1, in: document))
    let again = [fact(1, in: Array("two".utf8), at: 3), fact(1, in: document, at: 4)]
    #expect(try await store.submit(again[0], again[1]).dispositions == [.replaced, .replaced])
    #expect(try await store.signedFact(again[1].fact.key, in: testScope)?.signed == again[1].signed)
    #expect(try await count("SELECT COUNT(*) FROM documents", afterClosing: store) == 1)
  }

  @Test("Facts that do not stand leave no document")
  func notKept() async throws {
    let store = try SQLiteStore.open(at: path)
    try await store.submit(testFact(1), testFact(2))
    let receipt = try await store.submit(
      fact(1, in: Array("receipt".utf8), at: 9), fact(2, in: Array("receipt".utf8), at: 9))
    #expect(receipt.dispositions == [.superseded, .superseded])
    #expect(try await count("SELECT COUNT(*) FROM documents", afterClosing: store) == 0)
  }

  @Test("A submission that fails leaves neither facts nor their document")
  func failure() async throws {
    let store = try SQLiteStore.open(at: path)
    var bad = fact(2, in: Array("receipt".utf8))
    if case .transaction(var transaction) = bad.fact {
      transaction.transactionID = "2\u{0}"
      bad.fact = .transaction(transaction)
    }
    await #expect(throws: StoreError.self) {
      try await store.submit(fact(1, in: Array("receipt".utf8)), bad)
    }
    #expect(try await count("SELECT COUNT(*) FROM documents", afterClosing: store) == 0)
  }

  @Test("The document of 187 facts is looked up once, and so hashed once")
  func hashedOnce() async throws {
    let queue = try DatabaseQueue()
    let receipt = [UInt8](repeating: 9, count: 100_000)
    // Some with bytes of their own, as facts have that were made apart.
    let facts = (1...187).map { number in
      fact(number, in: number.isMultiple(of: 2) ? receipt : Array(receipt.map { $0 }))
    }
    let counter = Counter()
    try queue.inDatabase { database in
      try Schema.current.migrate(database, creates: true)
      database.trace { event in
        if "\(event)".contains("FROM documents WHERE digest") { counter.value += 1 }
      }
      let written = try SQLiteChangesWriter.write(to: database, vault: PayloadVault()) {
        ledger in
        try ledger.commit(Submission(facts: facts, receivedAt: 3))
      }
      #expect(Set(written.decision(written.numbering).dispositions) == [.added])
      let documents = try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM documents")
      #expect(documents == 1)
    }
    #expect(counter.value == 1)
  }

  @Test("A fact whose document is gone is corrupt, rather than proved by nothing")
  func missingDocument() async throws {
    let store = try SQLiteStore.open(at: path)
    let kept = fact(1, in: Array("receipt".utf8))
    try await store.submit(kept)
    await store.close()
    var configuration = Configuration()
    configuration.foreignKeysEnabled = false
    let queue = try DatabaseQueue(path: path, configuration: configuration)
    try await queue.write { try $0.execute(sql: "DELETE FROM documents") }
    try queue.close()
    let reopened = try SQLiteStore.open(at: path)
    let error = await #expect(throws: StoreError.self) {
      try await reopened.signedFact(kept.fact.key, in: testScope)
    }
    #expect(error?.code == .corrupt)
    await reopened.close()
  }

  /// Used on the queue of one connection only.
  private final class Counter {
    var value = 0
  }
}
