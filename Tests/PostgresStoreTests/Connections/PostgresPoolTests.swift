import Synchronization
import TestSupport
import Testing

@testable import PostgresStore

/// What callers of a pool see while the server is well.
@Suite(
  "The pool of PostgreSQL connections",
  // Needs a PostgreSQL server on the machine.
  .enabled(if: EphemeralPostgres.isAvailable, "no PostgreSQL server is installed"))
struct PostgresPoolTests {
  @Test("A thousand exchanges of 64 tasks get their own answers")
  func multiplexing() async throws {
    let pool = try ConnectionFixture.sharedPool { $0.pipelineDepth = 16 }
    let areRight = try await withThrowingTaskGroup(of: Bool.self) { group in
      for task in 0..<64 {
        group.addTask {
          var areRight = true
          for turn in 0..<16 {
            let number = Int64(task * 1_000 + turn)
            let commands = (0..<Int64(turn % 4 + 1)).map { offset in
              ConnectionFixture.command(
                "SELECT $1, repeat('x', ($1 % 300)::integer)", [.int64(number + offset)])
            }
            let rows = try await pool.read(commands, within: ConnectionFixture.limit)
            let isRight =
              try rows.count == commands.count
              && rows.enumerated().allSatisfy { index, row in
                let expected = number + Int64(index)
                return try row.int64(0, 0) == expected
                  && row.text(0, 1).utf8.count == Int(expected % 300)
              }
            areRight = areRight && isRight
          }
          return areRight
        }
      }
      return try await group.allSatisfy(\.self)
    }
    #expect(areRight)
    // The figures follow at the end of the loop's turn.
    try await eventually { pool.statistics.exchanges == 1_024 }
    #expect((1...4).contains(pool.statistics.readingConnections))
    await pool.close()
  }

  @Test("A refused command in a pipeline fails only its own caller")
  func refusalsApart() async throws {
    let pool = try ConnectionFixture.sharedPool { $0.readingConnections = 1 }
    try await withThrowingTaskGroup { group in
      for task in 0..<400 {
        group.addTask {
          if task.isMultiple(of: 3) {
            let failure = await postgresFailure {
              _ = try await pool.read(
                [
                  ConnectionFixture.command("SELECT 1"),
                  ConnectionFixture.command("SELECT 1 / $1", [.int64(0)]),
                  ConnectionFixture.command("SELECT 2"),
                ], within: ConnectionFixture.limit)
            }
            #expect(failure?.kind == .server(SQLState("22012")))
            #expect(failure?.command == 1)
            #expect(failure?.wasSent == true)
          } else {
            let rows = try await pool.read("SELECT $1", [.int64(Int64(task))])
            #expect(try rows.int64(0, 0) == task)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(pool.statistics.connects == 1)
  }

  @Test("A failed preparation is reported with its reason, and is repeated later")
  func preparation() async throws {
    let database = try EphemeralPostgres.shared.makeDatabase()
    let pool = try ConnectionFixture.pool(database) { $0.readingConnections = 1 }
    let select = ConnectionFixture.command(
      "SELECT number FROM later WHERE number = $1", [.int64(3)])
    for _ in 0..<3 {
      let failure = await postgresFailure {
        _ = try await pool.read(
          [ConnectionFixture.command("SELECT 1"), select], within: ConnectionFixture.limit)
      }
      #expect(failure?.kind == .server(.undefinedTable))
    }
    // Those that were in flight behind it hear the same reason.
    await withTaskGroup { group in
      for _ in 0..<50 {
        group.addTask {
          let failure = await postgresFailure {
            _ = try await pool.read([select], within: ConnectionFixture.limit)
          }
          #expect(failure?.kind == .server(.undefinedTable))
        }
      }
    }
    try await pool.inSession { session in
      try await session.run("CREATE TABLE later (number bigint)")
      try await session.run("INSERT INTO later VALUES (3)")
    }
    let rows = try await pool.read([select], within: ConnectionFixture.limit)
    #expect(try rows[0].int64(0, 0) == 3)
    #expect(pool.statistics.connects == 2)
    await pool.close()
  }

  @Test("A bad statement within a transaction is reported with its own reason")
  func preparationInTransaction() async throws {
    let pool = try ConnectionFixture.sharedPool()
    let failure = await postgresFailure {
      try await pool.inSession { session in
        try await session.run("BEGIN")
        try await session.run("SELECT 1")
        _ = try await session.exchange(
          [
            ConnectionFixture.command("SELECT 1"),
            ConnectionFixture.command("SELECT nothing FROM nowhere"),
          ], within: ConnectionFixture.limit)
      }
    }
    #expect(failure?.kind == .server(.undefinedTable))
    await pool.close()
  }

  @Test("A stale plan is replaced without an error")
  func stalePlans() async throws {
    let database = try EphemeralPostgres.shared.makeDatabase()
    let pool = try ConnectionFixture.pool(database)
    try await pool.inSession { session in
      try await session.run("CREATE TABLE changing (number integer)")
      try await session.run("INSERT INTO changing VALUES (5)")
    }
    #expect(try await pool.read("SELECT number FROM changing").int64(0, 0) == 5)
    try await pool.inSession { session in
      try await session.run("ALTER TABLE changing ALTER number TYPE bigint")
    }
    #expect(try await pool.read("SELECT number FROM changing").int64(0, 0) == 5)
    await pool.close()
  }

  @Test("A transaction left open is rolled back before the next caller")
  func rollback() async throws {
    let database = try EphemeralPostgres.shared.makeDatabase()
    let pool = try ConnectionFixture.pool(database) { $0.sessions = 1 }
    try await pool.inSession { session in
      try await session.run("CREATE TABLE kept (number bigint)")
    }
    struct Left: Error {}
    for sql in ["INSERT INTO kept VALUES (1)", "INSERT INTO kept VALUES (1 / 0)"] {
      await #expect(throws: (any Error).self) {
        try await pool.inSession { session in
          try await session.run("BEGIN")
          try await session.run(sql)
          throw Left()
        }
      }
    }
    let count = try await pool.withSession(within: ConnectionFixture.limit) { session in
      try await session.run("SELECT count(*) FROM kept").int64(0, 0)
    }
    #expect(count == 0)
    #expect(pool.statistics.connects == 1)
    await pool.close()
  }

  @Test("A caller waits for a session, up to its time limit")
  func sessionLimit() async throws {
    let pool = try ConnectionFixture.sharedPool { $0.sessions = 2 }
    let counter = CallCounter()
    try await withThrowingTaskGroup { group in
      for _ in 0..<40 {
        group.addTask {
          try await pool.inSession { session in
            counter.enter()
            try await session.run("SELECT pg_sleep(0.005)")
            counter.leave()
          }
        }
      }
      try await group.waitForAll()
    }
    // It is one if the second connection is made when the first has served all. Below are two.
    #expect(counter.maximum <= 2)
    try await pool.inSession { first in
      try await pool.inSession { second in
        let failure = await postgresFailure {
          try await pool.withSession(within: .milliseconds(30)) { _ in }
        }
        #expect(failure?.kind == .poolTimedOut)
        #expect(failure?.wasSent == false)
        try await first.run("SELECT 1")
        try await second.run("SELECT 1")
      }
    }
    await pool.close()
  }

  @Test("Waiting calls above the limit are refused at once")
  func admission() async throws {
    let pool = try ConnectionFixture.sharedPool {
      $0.readingConnections = 1
      $0.pipelineDepth = 1
      $0.waitingReads = 10
      $0.sessions = 1
      $0.waitingSessions = 1
    }
    _ = try await pool.read("SELECT 1")
    let kinds = await withTaskGroup(of: PostgresFailure.Kind?.self) { group in
      for _ in 0..<40 {
        group.addTask {
          await postgresFailure { _ = try await pool.read("SELECT pg_sleep(0.02)") }?.kind
        }
      }
      return await group.reduce(into: []) { $0.append($1) }
    }
    let refused = kinds.count { $0 == .overloaded }
    #expect(refused == kinds.count { $0 != nil })
    #expect((1...30).contains(refused))
    #expect(pool.statistics.rejected == refused)
    await pool.close()
  }

  @Test("A statement timeout of the server is reported as its error")
  func statementTimeout() async throws {
    let pool = try ConnectionFixture.sharedPool {
      $0.statementTimeout = .milliseconds(50)
      $0.lockTimeout = .milliseconds(50)
    }
    let failure = await postgresFailure { _ = try await pool.read("SELECT pg_sleep(30)") }
    #expect(failure?.kind == .server(.queryCanceled))
    // Without these limits: on a busy machine, they are too short for any statement.
    let holder = try ConnectionFixture.sharedPool()
    try await holder.inSession { first in
      try await first.run("BEGIN")
      try await first.run("SELECT pg_advisory_xact_lock(7341)")
      try await pool.inSession { second in
        let failure = await postgresFailure {
          try await second.run("SELECT pg_advisory_xact_lock(7341)")
        }
        #expect([.server(.lockNotAvailable), .server(.queryCanceled)].contains(failure?.kind))
      }
    }
    await holder.close()
    #expect(pool.statistics.lostConnections == 0)
    await pool.close()
  }

  @Test("A late answer closes its connection, and the reads behind it run on another")
  func lateAnswers() async throws {
    let pool = try ConnectionFixture.sharedPool { $0.readingConnections = 1 }
    _ = try await pool.read("SELECT 1")
    async let late = postgresFailure {
      _ = try await pool.read(
        [ConnectionFixture.command("SELECT pg_sleep(9)")], within: .seconds(1))
    }
    try await withThrowingTaskGroup { group in
      for number in 0..<20 as Range<Int64> {
        group.addTask {
          let rows = try await pool.read("SELECT $1", [.int64(number)])
          #expect(try rows.int64(0, 0) == number)
        }
      }
      try await group.waitForAll()
    }
    let failure = await late
    #expect(failure?.kind == .timedOut)
    #expect(failure?.wasSent == true)
    await pool.close()
  }

  @Test("A cancelled read is not sent, or its answer is dropped; the connection stays usable")
  func cancellation() async throws {
    let pool = try ConnectionFixture.sharedPool {
      $0.readingConnections = 1
      $0.pipelineDepth = 2
      $0.statementTimeout = .seconds(60)
      $0.lockTimeout = .seconds(60)
    }
    _ = try await pool.read("SELECT 1")
    // Until it ends, the server answers none of the reads.
    let holder = try ConnectionFixture.sharedPool { $0.idleTransactionTimeout = .seconds(60) }
    try await holder.inSession { session in
      try await session.run("BEGIN")
      try await session.run("SELECT pg_advisory_xact_lock(7342)")
      let tasks = (0..<20).map { _ in
        Task {
          await postgresFailure { _ = try await pool.read("SELECT pg_advisory_xact_lock(7342)") }
        }
      }
      for task in tasks { task.cancel() }
      for task in tasks { #expect(await task.value?.kind == .cancelled) }
      try await session.run("ROLLBACK")
    }
    await holder.close()
    #expect(try await pool.read("SELECT 41 + 1").int64(0, 0) == 42)
    #expect(pool.statistics.connects == 1)
    await pool.close()
  }

  @Test("A cancelled wait for a session ends at once, and leaks no session")
  func cancelledWait() async throws {
    let pool = try ConnectionFixture.sharedPool { $0.sessions = 1 }
    try await pool.inSession { session in
      let waiting = Task {
        await postgresFailure {
          try await pool.withSession(within: .seconds(600)) { _ in }
        }
      }
      waiting.cancel()
      #expect(await waiting.value?.kind == .cancelled)
      try await session.run("SELECT 1")
    }
    try await pool.inSession { try await $0.run("SELECT 1") }
    await pool.close()
  }

  @Test("A session of a cancelled task sends nothing more")
  func cancelledSession() async throws {
    let pool = try ConnectionFixture.sharedPool()
    let task = Task {
      try await pool.withSession(within: ConnectionFixture.limit) { session in
        try await session.run("SELECT 1")
        withUnsafeCurrentTask { $0?.cancel() }
        return await postgresFailure { try await session.run("SELECT 1") }
      }
    }
    let failure = try await task.value
    #expect(failure?.kind == .cancelled)
    #expect(failure?.wasSent == false)
    await pool.close()
  }

  @Test("Closing lets calls in flight finish, and refuses later calls")
  func closing() async throws {
    let pool = try ConnectionFixture.sharedPool { $0.readingConnections = 1 }
    _ = try await pool.read("SELECT 1")
    let closings = try await pool.withSession(within: ConnectionFixture.limit) { session in
      let closings = (0..<2).map { _ in Task { await pool.close() } }
      var kind: PostgresFailure.Kind?
      // The request to close comes at some time.
      while kind == nil {
        kind = await postgresFailure { _ = try await pool.read("SELECT 1") }?.kind
      }
      #expect(kind == .closed)
      let rows = try await session.run("SELECT 7::bigint")
      #expect(try rows.int64(0, 0) == 7)
      return closings
    }
    for closing in closings { await closing.value }
    let failure = await postgresFailure { _ = try await pool.read("SELECT 1") }
    #expect(failure?.kind == .closed)
    await pool.close()
  }

  @Test("Closing does not wait forever")
  func closingWhileBusy() async throws {
    let pool = try ConnectionFixture.sharedPool { $0.closeTimeout = .milliseconds(50) }
    let busy = Task { await postgresFailure { _ = try await pool.read("SELECT pg_sleep(20)") } }
    while pool.statistics.readsInFlight == 0 { await Task.yield() }
    await pool.close()
    #expect(await busy.value?.kind == .closed)
    #expect(await busy.value?.wasSent == true)
  }
}

/// How many are inside something, and were at most.
final class CallCounter: Sendable {
  private let inside = Atomic<Int>(0)
  private let most = Atomic<Int>(0)

  var maximum: Int { most.load(ordering: .relaxed) }

  func enter() {
    let now = inside.add(1, ordering: .relaxed).newValue
    most.max(now, ordering: .relaxed)
  }

  func leave() { inside.subtract(1, ordering: .relaxed) }
}
