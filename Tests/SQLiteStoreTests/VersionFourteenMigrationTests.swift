import EntitlementDomain
import EntitlementStore
import FoundationEssentials
import GRDB
import StoreConformance
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("A database of version 14, with ids as text")
struct VersionFourteenMigrationTests {
  private let folder: TemporaryFolder
  private let path: String

  /// Ids of chains, each with a fact: numbers of even and odd lengths, and other texts.
  private static let chains = [
    "2000000123456789", "2000000123456788", "200000012345678", "7", "70", "705", "0", "00",
    "55aed4e5-4f40-4341-8705-54c19cce45e8", "55AED4E5-4F40-4341-8705-54C19CCE45E8", "7f", "-7",
    "é", "ff00", " ",
  ]

  private static let tokens: [AppAccountToken] = [
    "7e3fb204-2c8a-4d5f-9b1e-000000000001", "7E3FB204-2C8A-4D5F-9B1E-000000000001",
    "0e3fb204-2c8a-4d5f-9b1e-000000000001", "no uuid", "12",
  ]

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("entitle.sqlite")
  }

  /// A fact of one of ``chains``.
  private func fact(_ index: Int) -> SignedFact {
    let chain = Self.chains[index]
    var signed = testFact(100 + index)
    signed.signed.payload = Array(
      String(decoding: signed.signed.payload, as: UTF8.self)
        .replacing("\"\(100 + index)\"", with: "\"\(chain)\"").utf8)
    if case .transaction(var fact) = signed.fact {
      fact.originalTransactionID = OriginalTransactionID(chain)
      fact.transactionID = TransactionID(chain)
      fact.digest = testDigest(signed.signed.payload)
      fact.appAccountToken = index.isMultiple(of: 2) ? Self.tokens[index / 2 % 5] : nil
      fact.appTransactionID =
        index.isMultiple(of: 3) ? AppTransactionID("70451234567890\(index)") : nil
      fact.previousOriginalTransactionID =
        index == 4 ? OriginalTransactionID(Self.chains[0]) : nil
      signed.fact = .transaction(fact)
    }
    return signed
  }

  private func fill(_ store: SQLiteStore) async throws {
    for index in Self.chains.indices {
      _ = try await store.commit(
        Submission(
          facts: [fact(index)],
          accountID: index % 4 == 3 ? nil : AccountID("customer-\(index / 4)"),
          receivedAt: Milliseconds(Int64(100 + index))))
    }
    for entry in try NotificationArchive.entries(8) {
      _ = try await store.commit(
        Submission(facts: entry.facts, notification: entry.notification, receivedAt: 200))
    }
    let changes: [LinkRequest.Change] = [
      .unlink(.chain(OriginalTransactionID(Self.chains[1]))),
      .merge("customer-2", into: "customer-1"),
      .delete("customer-3"),
    ]
    for change in changes {
      let answer = try await store.perform(
        LinkRequest(scope: testScope, change: change, onBehalfOf: "otto", reason: "why", at: 300))
      guard case .done = answer else {
        Issue.record("\(change) was refused: \(answer)")
        continue
      }
    }
  }

  /// Makes a file of version 14, on which references are not checked.
  private func fileWithOneFact() async throws -> DatabaseQueue {
    let store = try SQLiteStore.open(at: path)
    try await store.submit(testFact(1))
    await store.close()
    try VersionFourteenFile.undo(at: path)
    return try DatabaseQueue(path: path, configuration: VersionFourteenFile.withoutReferences)
  }

  /// All rows of the tables that the migration makes anew, and their indexes.
  private func contents() throws -> [String: [Row]] {
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    return try queue.read { database in
      var contents: [String: [Row]] = [:]
      for table in VersionFourteenFile.tables + VersionFourteenFile.tablesWithDigests {
        contents[table] = try Row.fetchAll(database, sql: "SELECT * FROM \(table) ORDER BY 1, 2")
      }
      contents["sequence"] = try Row.fetchAll(
        database, sql: "SELECT seq FROM sqlite_sequence WHERE name = 'link_history'")
      contents["schema"] = try Row.fetchAll(
        database, sql: "SELECT name, sql FROM sqlite_schema ORDER BY name")
      return contents
    }
  }

  /// What callers see.
  private func answers(_ store: SQLiteStore) async throws -> [String] {
    var answers: [String] = []
    for chain in Self.chains {
      let id = OriginalTransactionID(chain)
      answers.append("\(try await store.customer(.originalTransaction(id), in: testScope))")
      answers.append("\(try await store.linkHistory(of: .chain(id), in: testScope))")
    }
    for token in Self.tokens {
      answers.append("\(try await store.customer(.appAccountToken(token), in: testScope))")
    }
    for index in Self.chains.indices {
      let id = AppTransactionID("70451234567890\(index)")
      answers.append("\(try await store.customer(.appTransaction(id), in: testScope))")
      answers.append("\(try await store.linkHistory(of: .appTransaction(id), in: testScope))")
    }
    for number in 0..<4 {
      let account = AccountID("customer-\(number)")
      answers.append(
        "\(try await store.tokens(of: account, in: testScope, after: nil, limit: 100))")
      let export = try await store.export(account, in: testScope)
      answers.append("\(String(describing: export))")
    }
    answers.append("\(try await store.changes(after: 0, limit: 1_000))")
    answers.append("\(try await store.tokens(of: nil, in: testScope, after: nil, limit: 100))")
    answers.append(
      "\(try await store.unlinkedChains(in: testScope, after: nil, limit: 100))")
    return answers
  }

  @Test("Every row and every answer is the same after the migration")
  func rows() async throws {
    var store = try SQLiteStore.open(at: path)
    try await fill(store)
    let expected = try await answers(store)
    await store.close()
    let present = try contents()
    try VersionFourteenFile.undo(at: path)
    let queue = try DatabaseQueue(path: path)
    let chains = try await queue.read {
      try String.fetchSet($0, sql: "SELECT original_transaction_id FROM chains")
    }
    #expect(chains.isSuperset(of: Self.chains))
    try queue.close()
    store = try SQLiteStore.open(at: path)
    #expect(try await answers(store) == expected)
    await store.close()
    #expect(try contents() == present)
    // What the same program stores now has the same form: nothing is stored twice.
    store = try SQLiteStore.open(at: path)
    for index in Self.chains.indices {
      let receipt = try await store.submit(fact(index))
      #expect(receipt.dispositions == [.duplicate], "\(Self.chains[index])")
    }
    await store.close()
    let migrated = try DatabaseQueue(path: path)
    let findings = try await migrated.read { database in
      try String.fetchAll(database, sql: "PRAGMA integrity_check")
        + String.fetchAll(database, sql: "SELECT \"table\" FROM pragma_foreign_key_check")
    }
    #expect(findings == ["ok"])
    try migrated.close()
  }

  /// The lengths of all digests of facts, documents and notifications, and of the longest id of an app
  /// transaction in each of the tables.
  private func lengths() throws -> [Int] {
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    return try queue.read { database in
      try (["facts"] + VersionFourteenFile.tablesWithDigests).flatMap { table in
        try Int.fetchAll(
          database, sql: "SELECT DISTINCT length(digest) FROM \(table) ORDER BY 1")
      }
        + Int.fetchAll(
          database,
          sql: """
            SELECT max(length(identifier)) FROM facts WHERE kind = 3
            UNION ALL SELECT max(length(app_transaction_id)) FROM app_transactions
            UNION ALL SELECT max(length(app_transaction_id)) FROM link_history
            """)
    }
  }

  private func documentCount() throws -> Int? {
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    return try queue.read { try Int.fetchOne($0, sql: "SELECT count(*) FROM documents") }
  }

  @Test("R67: what was stored with whole digests is known again, and documents are found")
  func digests() async throws {
    let archive = try DigestArchive()
    var store = try SQLiteStore.open(at: path)
    try await archive.fill(store)
    let answers = try await archive.answers(of: store)
    await store.close()
    // The mark of a text, "sha256:" and 32 digits.
    let present = [16, 16, 16, 40, 40, 40]
    #expect(try lengths() == present)
    try VersionFourteenFile.undo(at: path)
    #expect(try lengths() == [32, 32, 32, 71, 71, 71])
    let documents = try documentCount()
    store = try SQLiteStore.open(at: path)
    try await archive.check(answers, in: store)
    try await archive.addNewer(to: store)
    await store.close()
    #expect(try documentCount() == documents)
    #expect(try lengths() == present)
  }

  @Test("Ids of app transactions get shorter only where they are a digest")
  func appTransactionIDs() async throws {
    let digits = String(repeating: "0123456789abcdef", count: 4)
    let ids = [
      "sha256:\(digits)", "sha256:\(digits.uppercased())", "sha256:\(digits.dropLast())",
      "sha256:\(digits)0", "sha1:\(digits)", "receipt:1", "704289572311513866", "sha256:",
    ]
    let queue = try await fileWithOneFact()
    try await queue.write { database in
      for id in ids {
        try database.execute(
          sql: """
            INSERT INTO app_transactions
                (scope_id, app_transaction_id, account, is_link_unsigned, is_detached, standing)
              VALUES (1, ?, NULL, 0, 0, 0)
            """, arguments: [id])
      }
    }
    try queue.close()
    let store = try SQLiteStore.open(at: path)
    await store.close()
    let migrated = try DatabaseQueue(path: path)
    let stored = try await migrated.read { database in
      try Data.fetchAll(database, sql: "SELECT app_transaction_id FROM app_transactions")
        .map { try PackedIdentifier.text(of: [UInt8]($0)) }
    }
    #expect(Set(stored) == Set(["sha256:\(digits.prefix(32))"] + ids.dropFirst()))
    try migrated.close()
  }

  @Test("Ids take half their bytes")
  func sizes() async throws {
    let store = try SQLiteStore.open(at: path)
    try await fill(store)
    await store.close()
    let queue = try DatabaseQueue(path: path)
    let lengths = try await queue.read { database in
      try Int.fetchAll(
        database,
        sql: """
          SELECT length(identifier) FROM facts WHERE identifier = x'2000000123456789'
          UNION ALL SELECT length(original_transaction_id) FROM chains
            WHERE original_transaction_id = x'2000000123456789'
          UNION ALL SELECT length(token) FROM account_tokens
            WHERE token = x'fe7e3fb2042c8a4d5f9b1e000000000001'
          """)
    }
    #expect(lengths == [8, 8, 17])
    try queue.close()
  }

  @Test("Reasons of links are what they were, and one that no program stored is an error")
  func reasons() async throws {
    var store = try SQLiteStore.open(at: path)
    try await store.submit(testFact(1))
    await store.close()
    try VersionFourteenFile.undo(at: path)
    let newer: Set<LinkReason> = [.yielded, .settled, .refused]
    let reasons = LinkReason.allCases.filter { !newer.contains($0) }
    func insert(_ reason: String) throws {
      let queue = try DatabaseQueue(path: path)
      try queue.write { database in
        try database.execute(
          sql: """
            INSERT INTO link_history (chain_id, scope_id, reason, at)
              SELECT id, scope_id, ?, 10 FROM chains
            """, arguments: [reason])
      }
      try queue.close()
    }
    for reason in reasons { try insert(reason.rawValue) }
    store = try SQLiteStore.open(at: path)
    let events = try await store.linkHistory(of: .chain("1"), in: testScope)
    #expect(events.map(\.reason) == reasons)
    await store.close()
    try VersionFourteenFile.undo(at: path)
    try insert("gifted")
    store = try SQLiteStore.open(at: path)
    let error = await #expect(throws: StoreError.self) {
      try await store.linkHistory(of: .chain("1"), in: testScope)
    }
    #expect(error?.code == .corrupt)
    await store.close()
  }

  @Test("A row that refers to one that is not there stops the migration, and nothing has changed")
  func danglingReference() async throws {
    let queue = try await fileWithOneFact()
    try await queue.write { try $0.execute(sql: "UPDATE facts SET chain_id = 77") }
    try queue.close()
    let before = try contents()
    let error = #expect(throws: StoreError.self) { try SQLiteStore.open(at: path) }
    #expect(error?.code == .corrupt)
    #expect(error?.message.contains("facts") == true)
    #expect(try contents() == before)
    let version = try DatabaseQueue(path: path)
    #expect(try await version.read { try Int.fetchOne($0, sql: "PRAGMA user_version") } == 14)
    try version.close()
  }

  @Test("References are checked again after a migration, and after one that was refused")
  func references() async throws {
    let queue = try await fileWithOneFact()
    try queue.inDatabase { database in
      func isChecked() throws -> Bool {
        try Bool.fetchOne(database, sql: "PRAGMA foreign_keys") == true
      }
      try database.execute(sql: "UPDATE facts SET chain_id = 77")
      #expect(throws: StoreError.self) { try Schema.migrate(database, creates: false) }
      #expect(try isChecked())
      try database.execute(
        sql: "PRAGMA foreign_keys = OFF; UPDATE facts SET chain_id = (SELECT id FROM chains)")
      try Schema.migrate(database, creates: false)
      #expect(try isChecked())
      #expect(throws: DatabaseError.self) { try database.execute(sql: "DELETE FROM chains") }
    }
    try queue.close()
  }

  @Test(
    "A file without room for the new tables stays what it was, and is migrated once there is room")
  func noRoom() async throws {
    var store = try SQLiteStore.open(at: path)
    try await fill(store)
    for number in 1...100 { try await store.submit(testFact(10_000 + number)) }
    let expected = try await answers(store)
    await store.close()
    try VersionFourteenFile.undo(at: path)
    let compact = try DatabaseQueue(path: path)
    try await compact.writeWithoutTransaction { try $0.execute(sql: "VACUUM") }
    try compact.close()
    let before = try contents()
    var limits = SQLiteStoreLimits()
    let bytes = try #require(
      try FileManager.default.attributesOfItem(atPath: path)[.size] as? UInt64)
    limits.maximumDatabaseBytes = Int64(bytes) + 16_384
    let error = #expect(throws: StoreError.self) {
      try SQLiteStore.open(at: path, limits: limits)
    }
    #expect(error?.code == .full)
    #expect(try contents() == before)
    store = try SQLiteStore.open(at: path)
    #expect(try await answers(store) == expected)
    await store.close()
  }

  @Test("A packed id of no known form is an error of those who read it")
  func damagedIdentifier() async throws {
    var store = try SQLiteStore.open(at: path)
    try await store.submit(testFact(1))
    await store.close()
    let queue = try DatabaseQueue(path: path)
    try await queue.write {
      try $0.execute(sql: "UPDATE chains SET original_transaction_id = x'1b'")
    }
    try queue.close()
    store = try SQLiteStore.open(at: path)
    let error = await #expect(throws: StoreError.self) {
      try await store.unlinkedChains(in: testScope, after: nil, limit: 10)
    }
    #expect(error?.code == .corrupt)
    await store.close()
  }

  @Test("Pages of chains and tokens have each once, in the order of the packed ids")
  func pages() async throws {
    let store = try SQLiteStore.open(at: path)
    for index in Self.chains.indices { try await store.submit(fact(index)) }
    var chains: [OriginalTransactionID] = []
    while true {
      let page = try await store.unlinkedChains(in: testScope, after: chains.last, limit: 4)
      if page.isEmpty { break }
      chains += page.map(\.chain)
    }
    #expect(chains.map(\.rawValue) == Self.chains.sorted(by: Self.precedes))
    for (number, token) in Self.tokens.enumerated() {
      let request = LinkRequest.Change.bindToken(token, to: "alice")
      let answer = try await store.perform(
        LinkRequest(
          scope: testScope, change: request, onBehalfOf: "otto", reason: "why",
          at: Milliseconds(Int64(number))))
      guard case .done = answer else {
        Issue.record("\(token) was not bound: \(answer)")
        continue
      }
    }
    var tokens: [AppAccountToken] = []
    while true {
      let page = try await store.tokens(
        of: "alice", in: testScope, after: tokens.last, limit: 2)
      if page.isEmpty { break }
      tokens += page.map(\.token)
    }
    #expect(
      tokens.map(\.rawValue) == Self.tokens.map(\.rawValue).sorted(by: Self.precedes))
    await store.close()
  }

  private static func precedes(_ first: String, _ second: String) -> Bool {
    PackedIdentifier.bytes(of: first).lexicographicallyPrecedes(PackedIdentifier.bytes(of: second))
  }
}
