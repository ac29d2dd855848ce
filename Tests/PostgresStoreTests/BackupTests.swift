import EntitlementDomain
import EntitlementStore
import TestSupport
import Testing

@testable import PostgresStore

@Suite(
  "Backup and restore of a database",
  .enabled(if: EphemeralPostgres.canDump, "pg_dump and pg_restore are needed")
)
struct BackupTests {
  @Test(
    "A dump is complete in a new server, and nodes continue the feed after its last change",
    arguments: [false, true])
  func restored(isFeedTrimmed: Bool) async throws {
    let source = try TestDatabases.cluster.get()
    let connection = try await TestDatabases.make()
    // A server with a higher transaction id than a new one.
    try source.execute(
      """
      DO $$ BEGIN
        FOR i IN 1..20000 LOOP PERFORM pg_current_xact_id(); COMMIT; END LOOP;
      END $$
      """)
    let before = try await TestDatabases.open(connection)
    let cursor = try await Self.fill(before)
    let last = try await before.customer(.account("alice"), in: StoreSample.scope).record.revision
    _ = try await before.feed(through: last)
    if isFeedTrimmed {
      while try await before.trimChanges(committedBefore: Milliseconds(.max), limit: 100) > 0 {}
    }
    let known = try await Known(before, after: isFeedTrimmed ? last : cursor)
    #expect(known.changes.isEmpty == isFeedTrimmed)
    await before.close()
    let dump = try source.dump(connection)

    var options = EphemeralPostgres.Options()
    options.isDurable = false
    let target = try EphemeralPostgres.start(options)
    let restored = try target.makeDatabase()
    try target.restore(dump, into: restored)
    #expect(try Self.transactionID(target) < (try Self.transactionID(source)))
    let status = try await PostgresSchema.migrate(
      connection: restored, dryRun: false, report: { _ in })
    #expect(status.found == status.expected)

    // Two nodes at once, and one that is restarted.
    let nodes = [try await TestDatabases.open(restored), try await TestDatabases.open(restored)]
    #expect(try await Known(nodes[0], after: isFeedTrimmed ? last : cursor) == known)
    var latest = last
    for (number, node) in nodes.enumerated() {
      latest = try await Self.goesOn(node, "\(number)", after: latest)
    }
    for node in nodes { await node.close() }
    let again = try await TestDatabases.open(restored)
    latest = try await Self.goesOn(again, "again", after: latest)
    // A watcher from before the backup continues at its last cursor and misses nothing.
    let page = try await again.changes(after: last, limit: 100)
    #expect(page.count == 3)
    #expect(page.last?.sequence == latest)
    await again.close()
  }

  /// - Returns: a position in the feed with changes before and after it.
  private static func fill(_ store: PostgresStore) async throws -> Int64 {
    try await store.submit("1", "1", by: "alice")
    let cursor = try await store.submit("2", "2", by: "bob").customers[0].revision
    var proved = try StoreSample.transaction("3", "3")
    proved.signed.proof = .document([UInt8](repeating: 7, count: 100_000))
    _ = try await store.commit(StoreSample.submission([proved], by: "alice"))
    _ = try await store.addGrant(
      Grant(
        id: "0b6f2c1e-5f0a-4c1d-8a57-3d1d6f9a0001", scope: StoreSample.scope, accountID: "alice",
        entitlementID: "pro", starts: 0, reason: "a ticket", author: "otto", createdAt: 5_000))
    return cursor
  }

  /// A write gets a higher number than any before, and appears in the feed.
  private static func goesOn(_ store: PostgresStore, _ id: String, after last: Int64) async throws
    -> Int64
  {
    let receipt = try await store.submit("new-\(id)", "new-\(id)", by: "alice")
    let written = receipt.customers[0].revision
    #expect(written > last)
    try await eventually { try await store.feedEnd() >= written }
    let told = try await store.changes(after: last, limit: 10)
    #expect(told.map(\.sequence) == [written])
    return written
  }

  private static func transactionID(_ cluster: EphemeralPostgres) throws -> Int64 {
    try #require(
      Int64(try cluster.execute("SELECT pg_snapshot_xmax(pg_current_snapshot())::text")))
  }

  /// The contents of a store.
  private struct Known: Equatable {
    let alice: AccountExport?
    let bob: StoredCustomer
    let changes: [Change]
    let end: Int64

    init(_ store: PostgresStore, after cursor: Int64) async throws {
      alice = try await store.export("alice", in: StoreSample.scope)
      bob = try await store.customer(.account("bob"), in: StoreSample.scope)
      changes = try await store.changes(after: cursor, limit: 100)
      end = try await store.feedEnd()
    }
  }
}
