import Synchronization
import TestSupport
import Testing

@testable import PostgresStore

/// What callers see when the server or the connection to it fails.
@Suite(
  "Faults of PostgreSQL",
  // Needs a PostgreSQL server on the machine.
  .enabled(if: EphemeralPostgres.isAvailable, "no PostgreSQL server is installed"))
struct PostgresFaultTests {
  @Test("When the server is killed every call is answered, and calls succeed after its restart")
  func kill() async throws {
    let server = try EphemeralPostgres.start()
    let pool = try ConnectionFixture.pool(server.connectionString()) {
      $0.longestBackoff = .milliseconds(50)
    }
    let load = Load()
    try await withThrowingTaskGroup { group in
      for task in 0..<32 {
        group.addTask {
          while !load.isOver.load(ordering: .relaxed), !Task.isCancelled {
            let failure = await postgresFailure {
              if task.isMultiple(of: 4) {
                try await pool.withSession(within: .milliseconds(300)) { session in
                  let rows = try await session.exchange(
                    [ConnectionFixture.command("SELECT $1", [.int64(Int64(task))])],
                    within: .milliseconds(300))
                  #expect(try rows[0].int64(0, 0) == task)
                }
              } else {
                let rows = try await pool.read(
                  [ConnectionFixture.command("SELECT $1", [.int64(Int64(task))])],
                  within: .milliseconds(300))
                #expect(try rows[0].int64(0, 0) == task)
              }
            }
            if let kind = failure?.kind {
              let expected: [PostgresFailure.Kind] = [
                .connectionLost, .cannotConnect, .timedOut, .poolTimedOut,
              ]
              #expect(expected.contains(kind))
            } else {
              load.answered.add(1, ordering: .relaxed)
            }
          }
        }
      }
      for _ in 0..<3 {
        await load.progress()
        try server.kill()
        try server.start()
      }
      await load.progress()
      load.isOver.store(true, ordering: .relaxed)
      try await group.waitForAll()
    }
    #expect(pool.statistics.lostConnections > 0)
    await pool.close()
  }

  @Test("A stopped server costs each caller its time limit, and no more")
  func stopped() async throws {
    let server = try EphemeralPostgres.start()
    let pool = try ConnectionFixture.pool(server.connectionString()) {
      $0.longestBackoff = .milliseconds(50)
    }
    _ = try await pool.read("SELECT 1")
    try server.pause()
    let clock = ContinuousClock()
    let began = clock.now
    let kinds = await withTaskGroup(of: PostgresFailure?.self) { group in
      for _ in 0..<50 {
        group.addTask {
          await postgresFailure {
            _ = try await pool.read(
              [ConnectionFixture.command("SELECT 1")], within: .milliseconds(300))
          }
        }
      }
      return await group.reduce(into: []) { $0.append($1?.kind) }
    }
    // Without the limit it would take forever; the margin is for a busy machine.
    #expect(clock.now - began < .seconds(60))
    #expect(kinds.allSatisfy { [.timedOut, .cannotConnect, .poolTimedOut].contains($0) })
    #expect(kinds.contains(.timedOut))
    try server.resume()
    #expect(try await pool.read("SELECT 5::bigint").int64(0, 0) == 5)
    await pool.close()
  }

  @Test("A session whose backend was terminated stays lost; the next one is new")
  func terminated() async throws {
    let pool = try ConnectionFixture.sharedPool()
    let failures = try await pool.withSession(within: ConnectionFixture.limit) { session in
      let process = try await session.run("SELECT pg_backend_pid()").int64(0, 0)
      _ = try await pool.read("SELECT pg_terminate_backend($1::integer)", [.int64(process)])
      let first = await postgresFailure { try await session.run("SELECT pg_sleep(10)") }
      let second = await postgresFailure { try await session.run("SELECT 1") }
      return (first, second)
    }
    #expect(failures.0?.kind == .connectionLost)
    #expect(failures.1?.kind == .connectionLost)
    #expect(failures.1?.wasSent == false)
    try await pool.inSession { try await $0.run("SELECT 1") }
    await pool.close()
  }

  @Test("A read whose backend was terminated runs on another connection")
  func retriedRead() async throws {
    let pool = try ConnectionFixture.sharedPool { $0.readingConnections = 1 }
    let process = try await pool.read("SELECT pg_backend_pid()").int64(0, 0)
    // The figures are published after the answer.
    try await eventually { pool.statistics.exchanges == 1 && pool.statistics.readsInFlight == 0 }
    // Slow on the connection that will be lost, and fast on any other.
    async let read = pool.read(
      "SELECT 9::bigint FROM pg_sleep(CASE WHEN pg_backend_pid() = $1 THEN 9 ELSE 0 END)",
      [.int64(process)])
    while pool.statistics.readsInFlight == 0 { await Task.yield() }
    try await pool.inSession { session in
      try await session.run("SELECT pg_terminate_backend($1::integer)", [.int64(process)])
    }
    #expect(try await read.int64(0, 0) == 9)
    #expect(pool.statistics.retriedReads == 1)
    await pool.close()
  }

  @Test("A read that ends its own connection is sent twice, and then refused")
  func poisonousRead() async throws {
    let pool = try ConnectionFixture.sharedPool()
    let failure = await postgresFailure {
      _ = try await pool.read("SELECT pg_terminate_backend(pg_backend_pid())")
    }
    #expect(failure?.kind == .connectionLost)
    #expect(pool.statistics.retriedReads == 1)
    await pool.close()
  }

  @Test("Without a server, the reason is reported after the time limit")
  func refused() async throws {
    let pool = try ConnectionFixture.pool("postgresql://postgres@127.0.0.1:1/postgres") {
      $0.longestBackoff = .milliseconds(20)
    }
    let read = await postgresFailure {
      _ = try await pool.read([ConnectionFixture.command("SELECT 1")], within: .seconds(1))
    }
    #expect(read?.kind == .cannotConnect)
    #expect(read?.message.contains("refused") == true)
    #expect(read?.wasSent == false)
    let session = await postgresFailure {
      try await pool.withSession(within: .milliseconds(200)) { _ in }
    }
    #expect(session?.kind == .cannotConnect)
    #expect(pool.statistics.failedConnects > 1)
    await pool.close()
  }

  @Test("A wrong password is reported, and never shown")
  func wrongPassword() async throws {
    var options = EphemeralPostgres.Options()
    options.listensOnTCP = true
    options.requiresPassword = true
    options.isDurable = false
    let server = try EphemeralPostgres.start(options)
    try server.execute("ALTER ROLE postgres PASSWORD 'right one'")
    let wrong = try ConnectionFixture.pool(
      server.tcpConnectionString(password: "not-the-%72ight-one"))
    var failure: PostgresFailure?
    // On a busy machine, the server may say it only after the limit.
    try await eventually {
      failure = await postgresFailure {
        _ = try await wrong.read([ConnectionFixture.command("SELECT 1")], within: .seconds(2))
      }
      return failure?.message.contains("password authentication failed") == true
    }
    #expect(failure?.kind == .cannotConnect)
    #expect(failure?.message.contains("not-the") == false)
    await wrong.close()
    let right = try ConnectionFixture.pool(server.tcpConnectionString(password: "right%20one"))
    #expect(try await right.read("SELECT 1::bigint").int64(0, 0) == 1)
    await right.close()
  }

  @Test("After a failover the new primary is found, whichever host comes first")
  func failover() async throws {
    var options = EphemeralPostgres.Options()
    options.listensOnTCP = true
    let primary = try EphemeralPostgres.start(options)
    let standby = try primary.makeStandby(options)
    let hosts = "127.0.0.1:\(standby.port),127.0.0.1:\(primary.port)"
    let pool = try ConnectionFixture.pool("postgresql://postgres@\(hosts)/postgres") {
      $0.longestBackoff = .milliseconds(50)
    }
    try await pool.inSession { session in
      try await session.run("CREATE TABLE survives (number bigint)")
    }
    #expect(try await pool.read("SELECT inet_server_port()").int64(0, 0) == primary.port)
    // Replication is asynchronous, so the kill could otherwise lose the table.
    try await eventually {
      try standby.execute("SELECT 1 FROM pg_class WHERE relname = 'survives'").isEmpty == false
    }
    try primary.kill()
    try standby.promote()
    #expect(try await pool.read("SELECT inet_server_port()").int64(0, 0) == standby.port)
    try await pool.inSession { session in
      try await session.run("INSERT INTO survives VALUES (1)")
    }
    await pool.close()
  }

  @Test("Connections to a server that became read-only are replaced")
  func readOnly() async throws {
    let database = try EphemeralPostgres.shared.makeDatabase()
    let pool = try ConnectionFixture.pool(database)
    _ = try await pool.read("SELECT 1")
    let failure = await postgresFailure {
      try await pool.inSession { session in
        _ = try await session.exchange(
          [
            ConnectionFixture.command("SET transaction_read_only TO on"),
            ConnectionFixture.command("CREATE TABLE refused (number bigint)"),
          ], within: ConnectionFixture.limit)
      }
    }
    #expect(failure?.kind == .server(.readOnlyTransaction))
    _ = try await pool.read("SELECT 1")
    try await pool.inSession { try await $0.run("SELECT 1") }
    #expect(pool.statistics.connects == 4)
    #expect(pool.statistics.lostConnections == 0)
    await pool.close()
  }

  /// The progress of the callers, and the flag that stops them.
  private final class Load: Sendable {
    let answered = Atomic<Int>(0)
    let isOver = Atomic<Bool>(false)

    /// Waits until further calls were answered.
    func progress() async {
      let start = answered.load(ordering: .relaxed)
      // A failure elsewhere ends the load, and cancels this task too.
      while !Task.isCancelled, answered.load(ordering: .relaxed) < start + 200 {
        await Task.yield()
      }
    }
  }
}
