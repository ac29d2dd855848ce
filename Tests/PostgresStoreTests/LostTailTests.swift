import EntitlementDomain
import EntitlementStore
import TestSupport
import Testing

@testable import PostgresStore

// A standby takes over that had not received the last commits. Skipped where no PostgreSQL server is
// installed.
@Suite(
  "A failover that loses the last commits", .enabled(if: EphemeralPostgres.isAvailable),
  .serialized)
struct LostTailTests {
  private static let otherApp = AppScope(bundleID: "com.example.other", environment: .production)
  private static let laterApp = AppScope(bundleID: "com.example.later", environment: .production)

  @Test("Who follows is told, also when the numbers were given again", .timeLimit(.minutes(2)))
  func following() async throws {
    let pair = try await Pair.start()
    let store = try await TestDatabases.open(pair.connection)
    let kept = try await store.submit("1", "1", by: "alice").customers[0].revision
    try await pair.stopStandby(afterReceiving: kept)
    let lost = try await store.submit("2", "2", by: "alice").customers[0].revision
    let cursor = try await store.followerCursor()
    #expect(cursor.latest == lost)
    try pair.failOver()

    // Beyond the end, and when that has passed it.
    for number in 3...6 {
      await expectExpired { _ = try await store.changedCustomers(since: cursor) }
      try await eventually {
        (try? await store.commit(
          StoreSample.submission(
            [try StoreSample.transaction("\(number)", "\(number)")], by: "bob", at: 6_000))) != nil
      }
    }
    let anew = try await store.followerCursor()
    #expect(anew.latest >= lost)
    let revision = try await store.submit("7", "7", by: "alice").customers[0].revision
    let told = try await store.changedCustomers(since: anew)
    #expect(told.subjects == [.account(StoreSample.scope, "alice")])
    #expect(told.cursor.latest == revision)
    // What is known of a change shows that it is not the one that has its number now.
    #expect(try await store.momentOfChange(kept) == 5_000)
    let moment = try? await store.momentOfChange(lost)
    #expect(moment != 5_000)
    await store.close()
  }

  @Test("A cursor beyond the end has expired", .timeLimit(.minutes(2)))
  func beyondEnd() async throws {
    let store = try await TestDatabases.open(try await TestDatabases.make())
    let last = try await store.submit("1", "1", by: "alice").customers[0].revision
    #expect(try await store.momentOfChange(last) == StoreSample.now)
    await expectExpired { _ = try await store.momentOfChange(last + 1) }
    await expectExpired { _ = try await store.momentOfChange(last - 1) }
    await store.close()
  }

  @Test(
    "Nothing is stored under numbers of headers and apps that were lost or given to others",
    .timeLimit(.minutes(2)), arguments: [false, true])
  func numbers(areGivenAgain: Bool) async throws {
    let pair = try await Pair.start()
    let store = try await TestDatabases.open(pair.connection)
    let kept = try await store.submit("1", "1", by: "alice").customers[0].revision
    try await pair.stopStandby(afterReceiving: kept)
    // The store keeps their numbers in memory.
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

  private func expectExpired(_ body: () async throws -> Void) async {
    // Connections to the server that is gone have to be made anew.
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

/// A primary and a standby that commits do not wait for.
private struct Pair {
  let primary: EphemeralPostgres
  let standby: EphemeralPostgres
  let database: String

  static func start() async throws -> Pair {
    var options = EphemeralPostgres.Options()
    options.isDurable = false
    let primary = try EphemeralPostgres.start(options)
    let connection = try await primary.makeMigratedDatabase()
    let name = try #require(connection.split(separator: "?").first?.split(separator: "/").last)
    return Pair(
      primary: primary, standby: try primary.makeStandby(options), database: String(name))
  }

  /// Whichever takes writes.
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
