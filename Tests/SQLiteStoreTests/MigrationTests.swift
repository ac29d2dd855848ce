import EntitlementDomain
import EntitlementStore
import GRDB
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("A database of an older version")
struct MigrationTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("entitle.sqlite")
  }

  /// FNV-1a: one edited letter gives another number.
  private func fingerprint(_ text: String) -> UInt64 {
    text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }

  @Test("No step is edited once it was released: a database may have taken it as it was")
  func stepsStay() {
    // A new migration adds its fingerprint here. The existing ones never change.
    #expect(
      Schema.steps.map { fingerprint($0) } == [
        0x64b0_bc08_821b_0af6, 0x63cb_c103_5b17_e112, 0x3998_7ef4_cb5b_3ee5,
        0x8185_c415_efba_698a, 0x4532_8ce8_e4df_35ba, 0x9dcc_a1e1_539b_1a26,
        0xc6e6_17a6_6b0c_35ae, 0xb593_2a29_b016_dbb2, 0x5a62_45bc_0aca_93e8,
        0x3767_cb2a_c861_107e, 0x63ee_c394_163f_de54,
        0xb104_79e5_460e_a56a,
        0x1348_25de_ca81_ea5c,
        0xfaa6_5765_9d8c_7ba1,
        0xe8c0_fa50_d9bc_a87e,
      ])
  }

  @Test("What version 1 stored is all there after the migration")
  func versionOne() async throws {
    try VersionOneFile.make(at: path)
    let store = try SQLiteStore.open(at: path)
    let alice = try await store.customer(.account("alice"), in: testScope)
    #expect(
      alice.record
        == CustomerRecord(
          scope: testScope, accountID: "alice", revision: 3, changedAt: 30,
          facts: [VersionOneFile.facts[0].fact]))
    let unclaimed = try await store.customer(.originalTransaction("2"), in: testScope)
    #expect(unclaimed.subject == .unlinkedChain(testScope, "2"))
    #expect(unclaimed.record.facts == [VersionOneFile.facts[1].fact])
    // Everything came as a JWS then.
    for fact in VersionOneFile.facts {
      #expect(try await store.signedFact(fact.fact.key, in: testScope) == fact)
    }
    #expect(
      try await store.customer(
        .appAccountToken("7e3fb204-2c8a-4d5f-9b1e-000000000001"), in: testScope) == alice)
    #expect(try await store.customer(.appTransaction("900"), in: testScope) == alice)
    #expect(
      try await store.linkHistory(of: .chain("1"), in: testScope)
        == [LinkEvent(from: nil, to: "alice", reason: .named, at: 10)])
    #expect(try await store.notification(NotificationUUID(VersionOneFile.notification)) != nil)
    #expect(try await store.grants(of: "alice", in: testScope) == [])
    await store.close()
  }

  @Test(
    "What version 2 stored is all there after the migration, and receipts are kept from then on")
  func versionTwo() async throws {
    try VersionTwoFile.make(at: path)
    let store = try SQLiteStore.open(at: path)
    let receiptFact = VersionTwoFile.receiptFact
    for fact in [VersionOneFile.facts[0], receiptFact] {
      #expect(try await store.signedFact(fact.fact.key, in: testScope) == fact)
    }
    #expect(
      try await store.customer(.account("alice"), in: testScope).record.grants
        == [VersionTwoFile.grant])
    // Links of old lead on as ever: somebody signed for them.
    var following = testFact(3)
    if case .transaction(var fact) = following.fact {
      fact.previousOriginalTransactionID = "1"
      following.fact = .transaction(fact)
    }
    #expect(try await store.submit(following).links == [.linked])
    var newer = testFact(2, signedAt: 9_000)
    newer.fact.authority = .receipt
    newer.signed.proof = .document(Array("a receipt".utf8))
    #expect(try await store.submit(newer).dispositions == [.replaced])
    #expect(try await store.signedFact(newer.fact.key, in: testScope)?.signed == newer.signed)
    await store.close()
    let queue = try DatabaseQueue(path: path)
    #expect(try await number(queue, "SELECT COUNT(*) FROM pragma_foreign_key_check") == 0)
    #expect(try await number(queue, "PRAGMA user_version") == Schema.currentVersion)
    #expect(try await number(queue, "SELECT COUNT(*) FROM documents") == 1)
    try queue.close()
  }

  @Test("The feed is the same after the migration, and its numbers go on")
  func feed() async throws {
    try VersionOneFile.make(at: path)
    let store = try SQLiteStore.open(at: path)
    let feed = [
      Change(
        sequence: 1, scope: testScope, subject: .account(testScope, "alice"),
        kinds: [.facts, .linked], committedAt: 10),
      Change(
        sequence: 2, scope: testScope, subject: .unlinkedChain(testScope, "2"), kinds: .facts,
        committedAt: 20),
      Change(
        sequence: 3, scope: testScope, subject: .account(testScope, "alice"), kinds: .linked,
        committedAt: 30),
    ]
    #expect(try await store.changes(after: 0, limit: 10) == feed)
    #expect(try await store.submit(testFact(3)).customers.map(\.revision) == [4])
    #expect(try await store.changes(after: 0, limit: 10).prefix(3) == feed[...])
    await store.close()
  }

  @Test("New features work on a database of version 1")
  func newFeatures() async throws {
    try VersionOneFile.make(at: path)
    let store = try SQLiteStore.open(at: path)
    #expect(try await store.submit(VersionOneFile.facts[0]).dispositions == [.duplicate])
    var fromReceipt = testFact(1, signedAt: 9_000)
    fromReceipt.fact.authority = .receipt
    #expect(try await store.submit(fromReceipt).dispositions == [.superseded])
    let grant = Grant(
      id: "5d0c9f2a-7b1e-4e63-9a44-000000000001", scope: testScope, accountID: "alice",
      entitlementID: "pro", starts: 1, reason: "a gift", author: "otto", createdAt: 40)
    #expect(try await store.addGrant(grant).customer.revision == 4)
    #expect(try await store.customer(.account("alice"), in: testScope).record.grants == [grant])
    await store.close()
    // Migrated once: nothing is done again.
    let reopened = try SQLiteStore.open(at: path)
    #expect(try await reopened.grants(of: "alice", in: testScope) == [grant])
    await reopened.close()
  }

  @Test("No row of a migrated database names one that is not there")
  func foreignKeys() async throws {
    try VersionOneFile.make(at: path)
    await (try SQLiteStore.open(at: path)).close()
    let queue = try DatabaseQueue(path: path)
    // One row for each row that names a missing one.
    #expect(try await number(queue, "SELECT COUNT(*) FROM pragma_foreign_key_check") == 0)
    #expect(try await number(queue, "PRAGMA user_version") == Schema.currentVersion)
    try queue.close()
  }

  @Test("An empty database of version 1 is migrated, too")
  func empty() async throws {
    try VersionOneFile.make(at: path) { database in
      for table in ["changes", "link_history", "facts", "notifications", "app_transactions"] {
        try database.execute(sql: "DELETE FROM \(table)")
      }
    }
    let store = try SQLiteStore.open(at: path)
    #expect(try await store.changes(after: 0, limit: 10) == [])
    // No number of the feed is given twice, whatever became of its change.
    #expect(try await store.submit(testFact(3)).customers.map(\.revision) == [4])
    await store.close()
  }

  @Test("A step that fails leaves the database at the version that it had, with all its data")
  func failedStep() async throws {
    // A change without a customer, which no program ever wrote: it has no scope.
    try VersionOneFile.make(at: path) { database in
      try database.execute(sql: "INSERT INTO changes VALUES (4, 77, NULL, 1, 40)")
    }
    #expect(throws: StoreError.self) { try SQLiteStore.open(at: path) }
    let queue = try DatabaseQueue(path: path)
    #expect(try await number(queue, "PRAGMA user_version") == 1)
    #expect(try await number(queue, "SELECT COUNT(*) FROM changes") == 4)
    #expect(
      try await number(queue, "SELECT COUNT(*) FROM sqlite_schema WHERE name = 'grants'") == 0)
    try queue.close()
  }

  private func number(_ queue: DatabaseQueue, _ query: String) async throws -> Int? {
    try await queue.read { try Int.fetchOne($0, sql: query) }
  }
}
