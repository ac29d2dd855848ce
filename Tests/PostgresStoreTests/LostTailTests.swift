import EntitlementDomain
import EntitlementStore
import StoreConformance
import Synchronization
import TestSupport
import Testing

@testable import PostgresStore

// A promoted standby that had not received the last commits. Skipped where no PostgreSQL server is
// installed.
@Suite(
  "A failover that loses the last commits", .enabled(if: EphemeralPostgres.isAvailable),
  .serialized)
struct LostTailTests {
  private static let otherApp = AppScope(bundleID: "com.example.other", environment: .production)
  private static let laterApp = AppScope(bundleID: "com.example.later", environment: .production)

  @Test(
    "A follower's cursor expires, even when its numbers were assigned again",
    .timeLimit(.minutes(2)))
  func following() async throws {
    let pair = try await Pair.start()
    let store = try await TestDatabases.open(pair.connection)
    let kept = try await store.submit("1", "1", by: "alice").customers[0].revision
    try await pair.stopStandby(afterReceiving: kept)
    let lost = try await store.submit("2", "2", by: "alice").customers[0].revision
    let cursor = try await store.followerCursor()
    #expect(cursor.latest == lost)
    try pair.failOver()

    // First the cursor is beyond the end of the feed, later the feed has passed it.
    for number in 3...6 {
      await expectExpired { _ = try await store.changedCustomers(since: cursor) }
      try await eventually {
        (try? await store.commit(
          StoreSample.submission(
            [try StoreSample.transaction("\(number)", "\(number)")], by: "bob", at: 6_000))) != nil
      }
    }
    let newCursor = try await store.followerCursor()
    #expect(newCursor.latest >= lost)
    let revision = try await store.submit("7", "7", by: "alice").customers[0].revision
    let told = try await store.changedCustomers(since: newCursor)
    #expect(told.subjects == [.account(StoreSample.scope, "alice")])
    #expect(told.cursor.latest == revision)
    // The moment shows that another change has the number now.
    #expect(try await store.commitTimeOfChange(kept) == 5_000)
    let moment = try? await store.commitTimeOfChange(lost)
    #expect(moment != 5_000)
    await store.close()
  }

  @Test("A cursor beyond the end has expired", .timeLimit(.minutes(2)))
  func beyondEnd() async throws {
    let store = try await TestDatabases.open(try await TestDatabases.make())
    let last = try await store.submit("1", "1", by: "alice").customers[0].revision
    #expect(try await store.commitTimeOfChange(last) == StoreSample.now)
    await expectExpired { _ = try await store.commitTimeOfChange(last + 1) }
    await expectExpired { _ = try await store.commitTimeOfChange(last - 1) }
    await store.close()
  }

  @Test(
    "No write uses ids of headers and apps that were lost or reassigned",
    .timeLimit(.minutes(2)), arguments: [false, true])
  func numbers(areGivenAgain: Bool) async throws {
    let pair = try await Pair.start()
    let store = try await TestDatabases.open(pair.connection)
    let kept = try await store.submit("1", "1", by: "alice").customers[0].revision
    try await pair.stopStandby(afterReceiving: kept)
    // The store caches the ids.
    let header: [UInt8] = [4, 5, 6]
    let lost = try StoreSample.transaction("2", "2", of: Self.otherApp.bundleID, header: header)
    _ = try await store.commit(StoreSample.submission([lost], by: "bob"))
    try pair.failOver()
    if areGivenAgain {
      try pair.standby.execute(
        """
        ALTER SEQUENCE headers_id_seq RESTART WITH 2; ALTER SEQUENCE scopes_id_seq RESTART WITH 2
        """, database: pair.database)
      let node = try await TestDatabases.open(pair.connection)
      _ = try await node.commit(
        StoreSample.submission(
          [
            try StoreSample.transaction(
              "3", "3", of: Self.laterApp.bundleID, header: [7, 8, 9])
          ], by: "carol"))
      await node.close()
    }

    let again = try StoreSample.transaction("4", "4", of: Self.otherApp.bundleID, header: header)
    var receipt: CommitReceipt?
    try await eventually {
      receipt = try? await store.commit(StoreSample.submission([again], by: "bob"))
      return receipt != nil
    }
    #expect(receipt?.dispositions == [.added])
    let node = try await TestDatabases.open(pair.connection)
    let stored = try await node.signedFact(again.fact.key, in: Self.otherApp)
    #expect(stored?.signed == again.signed)
    #expect(
      try await node.customer(.account("bob"), in: Self.otherApp).record.facts.count == 1)
    #expect(
      try await node.customer(.account("carol"), in: Self.laterApp).record.facts.count
        == (areGivenAgain ? 1 : 0))
    #expect(try await node.customer(.account("bob"), in: Self.laterApp).record.facts.isEmpty)
    await node.close()
    await store.close()
  }

  @Test(
    "Lost entries of the audit trail are told of, and a new chain goes on (R78)",
    .timeLimit(.minutes(2)))
  func auditGap() async throws {
    let pair = try await Pair.start()
    let written = Mutex<[AuditEntry]>([])
    let trail = AuditTrail(node: "node-1") { entries in written.withLock { $0 += entries } }
    let store = try await PostgresStore.open(
      PostgresStoreConfiguration(connection: pair.connection), trail: trail,
      logger: TestDatabases.logger)
    func grant(_ number: Int) async throws -> GrantReceipt {
      try await store.addGrant(
        Grant(
          id: GrantID("5d0c9f2a-7b1e-4e63-9a44-00000000000\(number)"), scope: StoreSample.scope,
          accountID: "alice", entitlementID: "pro", starts: 1, reason: "a gift", author: "otto",
          createdAt: 5))
    }
    try await pair.stopStandby(afterReceiving: try await grant(1).customer.revision)
    _ = try await grant(2)
    let lost = try #require(written.withLock { $0.last })
    #expect(lost.position == 2)
    try pair.failOver()
    try await eventually { (try? await grant(3)) != nil }
    _ = try await grant(4)

    let verification = try await store.verification()
    #expect(verification.fault == nil)
    #expect(verification.chainCount == 2)
    #expect(verification.gaps.count == 1)
    let gap = try #require(verification.gaps.first)
    #expect(gap.chain != lost.chain)
    #expect(gap.subject.contains("chain \(lost.chain) had position 2 with hash \(lost.hash)"))
    #expect(gap.subject.hasSuffix("now ends at position 1"))
    // The line that was passed on at once shows what was lost.
    #expect(try await store.verification(notedHead: lost.hash).fault?.place == "the noted head")
    let methods = written.withLock { $0.map(\.method) }
    #expect(methods.suffix(3) == ["AuditGap", "AddGrant", "AddGrant"])
    await store.close()
  }

  private func expectExpired(_ body: () async throws -> Void) async {
    // The pool has to replace its connections first.
    var failure: StoreError?
    try? await eventually {
      do {
        try await body()
        return true
      } catch {
        failure = error as? StoreError
        return failure?.code != .unavailable
      }
    }
    #expect(failure?.code == .cursorExpired)
  }
}

/// A primary and an asynchronous standby.
private struct Pair {
  let primary: EphemeralPostgres
  let standby: EphemeralPostgres
  let database: String

  static func start() async throws -> Pair {
    var options = EphemeralPostgres.Options()
    options.isDurable = false
    let primary = try EphemeralPostgres.start(options)
    let connection = try await primary.makeMigratedDatabase()
    let name = try EphemeralPostgres.databaseName(of: connection)
    return Pair(
      primary: primary, standby: try primary.makeStandby(options), database: name)
  }

  /// Connects to the server that accepts writes.
  var connection: String {
    "postgresql://postgres@/\(database)?host=\(primary.folder),\(standby.folder)"
      + "&port=\(primary.port),\(standby.port)"
  }

  func stopStandby(afterReceiving revision: Int64) async throws {
    try await eventually {
      try standby.execute(
        "SELECT count(*) FROM changes WHERE sequence = \(revision)", database: database) == "1"
    }
    try standby.stop()
  }

  func failOver() throws {
    try primary.kill()
    try standby.start()
    try standby.promote()
  }
}
