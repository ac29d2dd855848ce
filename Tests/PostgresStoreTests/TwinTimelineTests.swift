import EntitlementDomain
import EntitlementStore
import TestSupport
import Testing

@testable import PostgresStore

// Two servers that are promoted from one base get the same timeline from PostgreSQL, as each does not
// know of the other. A node that followed one notices that it meets the other (``DatabaseHistory``).
// Skipped where no PostgreSQL server is installed.
@Suite(
  "Two histories with one timeline", .enabled(if: EphemeralPostgres.isAvailable), .serialized)
struct TwinTimelineTests {
  @Test(
    "A cursor of the first promoted server expires on the second one, which lacks a commit",
    .timeLimit(.minutes(3)))
  func otherStandby() async throws {
    let servers = try await Servers.start(standbys: 2)
    let store = try await TestDatabases.open(servers.connection)
    let kept = try await store.submit("1", "1", by: "alice").latest
    for standby in servers.standbys { try await servers.receive(kept, standby) }
    try servers.primary.kill()

    try servers.standbys[0].promote()
    let first = try await cursor(store)
    let lost = try await store.submit("2", "2", by: "alice").latest
    let followed = try await store.changedCustomers(since: first)
    #expect(followed.subjects == [.account(StoreSample.scope, "alice")])
    let timeline = try servers.timeline(of: servers.standbys[0])
    try servers.standbys[0].kill()

    try servers.standbys[1].promote()
    #expect(try servers.timeline(of: servers.standbys[1]) == timeline)
    await expectExpired(store, followed.cursor)
    // The feed passes the lost number, and the cursor stays expired.
    while try await store.submit("3", "\(UInt64.random(in: 1...UInt64.max))").latest <= lost {}
    await expectExpired(store, followed.cursor)
    await expectExpired(store, first)
    let second = try await cursor(store)
    #expect(second.history != followed.cursor.history)
    #expect(second.history?.prefix(8) == followed.cursor.history?.prefix(8))
    await store.close()
  }

  @Test(
    "It expires even if nothing was committed on the first one, which had received more",
    .timeLimit(.minutes(3)))
  func shorterBase() async throws {
    let servers = try await Servers.start(standbys: 2)
    let store = try await TestDatabases.open(servers.connection)
    let kept = try await store.submit("1", "1", by: "alice").latest
    for standby in servers.standbys { try await servers.receive(kept, standby) }
    try servers.standbys[1].stop()
    let lost = try await store.submit("2", "2", by: "alice").latest
    try await servers.receive(lost, servers.standbys[0])
    try servers.primary.kill()

    try servers.standbys[0].promote()
    // The node reads the commit, and writes none.
    let followed = try await cursor(store)
    #expect(followed.latest == lost)
    let timeline = try servers.timeline(of: servers.standbys[0])
    try servers.standbys[0].kill()

    try servers.standbys[1].start()
    try servers.standbys[1].promote()
    #expect(try servers.timeline(of: servers.standbys[1]) == timeline)
    await expectExpired(store, followed)
    await store.close()
  }

  @Test(
    "It expires on an old primary that regained the lead, and the nodes agree on the new history",
    .timeLimit(.minutes(3)))
  func oldPrimary() async throws {
    let servers = try await Servers.start(standbys: 1)
    let (store, other) = (
      try await TestDatabases.open(servers.connection),
      try await TestDatabases.open(servers.connection)
    )
    let kept = try await store.submit("1", "1", by: "alice").latest
    try await servers.receive(kept, servers.standbys[0])
    let before = try await cursor(store)
    try servers.primary.kill()

    try servers.standbys[0].promote()
    await expectExpired(store, before)
    let promoted = try await cursor(store)
    #expect(promoted == (try await cursor(other)))
    _ = try await store.submit("2", "2", by: "alice")
    let timeline = try servers.timeline(of: servers.standbys[0])
    try servers.standbys[0].kill()

    try servers.primary.startAsStandby()
    try servers.primary.promote()
    #expect(try servers.timeline(of: servers.primary) == timeline)
    await expectExpired(store, promoted)
    await expectExpired(other, promoted)
    await expectExpired(other, before)
    #expect(try await cursor(store) == (try await cursor(other)))
    // A restart begins no history.
    let last = try await cursor(store)
    try servers.primary.stop()
    try servers.primary.start()
    #expect(try await cursor(store).history == last.history)
    await store.close()
    await other.close()
  }

  // MARK: Steps

  /// The pool has to find the new primary first.
  private func cursor(_ store: PostgresStore) async throws -> FollowerCursor {
    var found: FollowerCursor?
    try await eventually {
      found = try? await store.followerCursor()
      return found != nil
    }
    return try #require(found)
  }

  private func expectExpired(_ store: PostgresStore, _ cursor: FollowerCursor) async {
    var failure: StoreError?
    try? await eventually {
      do {
        _ = try await store.changedCustomers(since: cursor)
        return true
      } catch {
        failure = error as? StoreError
        return failure?.code != .unavailable
      }
    }
    #expect(failure?.code == .cursorExpired)
  }
}

/// A primary and its asynchronous standbys.
private struct Servers {
  let primary: EphemeralPostgres
  let standbys: [EphemeralPostgres]
  let database: String

  static func start(standbys count: Int) async throws -> Servers {
    var options = EphemeralPostgres.Options()
    options.isDurable = false
    let primary = try EphemeralPostgres.start(options)
    let connection = try await primary.makeMigratedDatabase()
    let name = try EphemeralPostgres.databaseName(of: connection)
    return Servers(
      primary: primary, standbys: try (0..<count).map { _ in try primary.makeStandby(options) },
      database: name)
  }

  /// Connects to the server that accepts writes.
  var connection: String {
    let all = [primary] + standbys
    return "postgresql://postgres@/\(database)?host=\(all.map(\.folder).joined(separator: ","))"
      + "&port=\(all.map { "\($0.port)" }.joined(separator: ","))"
  }

  /// Waits until a standby has a change.
  func receive(_ sequence: Int64, _ standby: EphemeralPostgres) async throws {
    try await eventually {
      try standby.execute(
        "SELECT count(*) FROM changes WHERE sequence = \(sequence)", database: database) == "1"
    }
  }

  func timeline(of server: EphemeralPostgres) throws -> String {
    try server.execute("SELECT left(pg_walfile_name(pg_current_wal_lsn()), 8)")
  }
}
