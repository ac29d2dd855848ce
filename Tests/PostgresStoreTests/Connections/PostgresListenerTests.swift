import TestSupport
import Testing

@testable import PostgresStore

@Suite(
  "Announcements through PostgreSQL",
  // Needs a PostgreSQL server on the machine.
  .enabled(if: EphemeralPostgres.isAvailable, "no PostgreSQL server is installed"),
  .timeLimit(.minutes(2)))
struct PostgresListenerTests {
  @Test("Every listener of a channel receives its connection and each announcement")
  func announcements() async throws {
    let database = try EphemeralPostgres.shared.makeDatabase()
    let (first, second) = (
      try ConnectionFixture.pool(database), try ConnectionFixture.pool(database)
    )
    let (speaker, hearer) = (
      first.listener(on: "a \"channel\""), second.listener(on: "a \"channel\"")
    )
    var spoken = speaker.announcements.makeAsyncIterator()
    var heard = hearer.announcements.makeAsyncIterator()
    #expect(await spoken.next() != nil)
    #expect(await heard.next() != nil)
    for _ in 0..<20 {
      speaker.announce()
      #expect(await heard.next() != nil)
    }
    await first.close()
    await second.close()
    // A pending element may still be delivered before the stream ends.
    while await heard.next() != nil {}
    while await spoken.next() != nil {}
  }

  @Test("After a reconnection a listener is notified, because it may have missed something")
  func reconnect() async throws {
    let server = try EphemeralPostgres.start()
    let pool = try ConnectionFixture.pool(server.connectionString()) {
      $0.longestBackoff = .milliseconds(50)
    }
    let listener = pool.listener(on: "changes")
    var heard = listener.announcements.makeAsyncIterator()
    #expect(await heard.next() != nil)
    for _ in 0..<2 {
      try server.kill()
      // Dropped, because there is no connection.
      listener.announce()
      try server.start()
      #expect(await heard.next() != nil)
      listener.announce()
      #expect(await heard.next() != nil)
    }
    await pool.close()
  }

  @Test("A silent server is detected, and its connection is closed")
  func silence() async throws {
    let server = try EphemeralPostgres.start()
    let pool = try ConnectionFixture.pool(server.connectionString()) {
      $0.keepaliveInterval = .milliseconds(50)
      $0.listenerTimeout = .milliseconds(100)
      $0.longestBackoff = .milliseconds(50)
    }
    let listener = pool.listener(on: "changes")
    var heard = listener.announcements.makeAsyncIterator()
    #expect(await heard.next() != nil)
    try server.pause()
    while pool.statistics.timeouts == 0 { await Task.yield() }
    try server.resume()
    #expect(await heard.next() != nil)
    await pool.close()
  }

  @Test("A released listener closes its connection")
  func removal() async throws {
    let database = try EphemeralPostgres.shared.makeDatabase()
    let pool = try ConnectionFixture.pool(database)
    var listener: PostgresListener? = pool.listener(on: "changes")
    let announcements = try #require(listener?.announcements)
    var heard = announcements.makeAsyncIterator()
    #expect(await heard.next() != nil)
    listener = nil
    while await heard.next() != nil {}
    await pool.close()
  }
}
