import EntitlementDomain
import EntitlementStore
import GRDB
@testable import SQLiteStore
import TestSupport
import Testing

@Suite("A database of version 3")
struct VersionThreeMigrationTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("entitle.sqlite")
    try VersionThreeFile.make(at: path)
  }

  @Test("Facts, links and histories are all there after the migration")
  func links() async throws {
    let store = try SQLiteStore.open(at: path)
    for fact in [
      VersionOneFile.facts[0], VersionTwoFile.receiptFact, VersionThreeFile.documentFact,
    ] {
      #expect(try await store.signedFact(fact.fact.key, in: testScope) == fact)
    }
    let alice: [LinkTarget: LinkReason] = [.chain("1"): .named, .appTransaction("900"): .named]
    let bob: [LinkTarget: LinkReason] = [
      .chain("3"): .imported, .appTransaction("901"): .imported,
    ]
    for (name, expected, isUnsigned) in [("alice", alice, false), ("bob", bob, true)] {
      let links = try await store.links(of: AccountID(name), in: testScope)
      #expect(Dictionary(uniqueKeysWithValues: links.map { ($0.target, $0.reason) }) == expected)
      #expect(links.allSatisfy { $0.isUnsigned == isUnsigned })
    }
    #expect(
      try await store.linkHistory(of: .appTransaction("900"), in: testScope)
        == [LinkEvent(from: nil, to: "alice", reason: .named, at: 30)])
    #expect(
      try await store.unlinkedChains(in: testScope, after: nil, limit: 10)
        == [UnlinkedChain(chain: "2", revision: 2, changedAt: 20)])
    #expect(
      try await store.accounts(in: testScope, after: nil, limit: 10).map(\.accountID)
        == ["alice", "bob"])
    await store.close()
  }

  @Test("The feed is the same, with its events, and its numbers go on")
  func feed() async throws {
    let store = try SQLiteStore.open(at: path)
    let feed = try await store.changes(after: 0, limit: 10)
    #expect(feed.map(\.sequence) == [1, 2, 3, 4, 5, 6])
    #expect(feed.map(\.committedAt) == [10, 20, 30, 50, 60, 70])
    #expect(feed.map(\.events.count) == [0, 0, 0, 0, 1, 1])
    #expect(feed[4].events == [VersionThreeFile.event])
    #expect(feed[4].subject == .account(testScope, "alice"))
    #expect(feed[5].subject == nil)
    #expect(try await store.feedEnd() == 6)
    #expect(try await store.submit(testFact(4)).customers.map(\.revision) == [7])
    #expect(try await store.trimChanges(committedBefore: 55, limit: 10) == 4)
    #expect(try await store.changes(after: 0, limit: 10).map(\.sequence) == [5, 6, 7])
    await store.close()
  }

  @Test("A notification of old is exported with the chain that its events name")
  func notification() async throws {
    let store = try SQLiteStore.open(at: path)
    let export = try #require(try await store.export("alice", in: testScope))
    #expect(export.notifications.map(\.receivedAt) == [5])
    #expect(
      export.notifications.map(\.notification.record.uuid)
        == [NotificationUUID(VersionOneFile.notification)])
    #expect(export.facts == [VersionOneFile.facts[0]])
    #expect(export.grants == [VersionTwoFile.grant])
    #expect(try await store.export("bob", in: testScope)?.notifications == [])
    await store.close()
  }

  @Test("New features work on existing data")
  func newFeatures() async throws {
    let store = try SQLiteStore.open(at: path)
    func done(_ change: LinkRequest.Change) async throws -> LinkReceipt? {
      let answer = try await store.perform(
        LinkRequest(scope: testScope, change: change, onBehalfOf: "otto", reason: "why", at: 80))
      guard case .done(let receipt) = answer else { return nil }
      return receipt
    }
    #expect(try await done(.unlink(.appTransaction("901")))?.isChanged == true)
    #expect(try await done(.merge("bob", into: "alice"))?.targets == [.chain("3")])
    #expect(try await done(.delete("alice"))?.targets.count == 3)
    #expect(
      try await store.unlinkedChains(in: testScope, after: nil, limit: 10).map(\.chain)
        == ["1", "2", "3"])
    #expect(try await store.trimChanges(committedBefore: 100, limit: 100) > 6)
    await store.close()
    let queue = try DatabaseQueue(path: path)
    // No row names one that is not there, and no name is left.
    #expect(try await number(queue, "SELECT COUNT(*) FROM pragma_foreign_key_check") == 0)
    #expect(try await number(queue, "SELECT COUNT(*) FROM accounts") == 0)
    #expect(try await number(queue, "PRAGMA user_version") == Schema.currentVersion)
    try queue.close()
  }

  private func number(_ queue: DatabaseQueue, _ query: String) async throws -> Int? {
    try await queue.read { try Int.fetchOne($0, sql: query) }
  }
}
