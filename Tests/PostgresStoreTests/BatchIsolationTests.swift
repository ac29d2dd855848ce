import EntitlementDomain
import EntitlementStore
import TestSupport
import Testing

@testable import PostgresStore

@Suite("Isolation of failures within a batch")
struct BatchIsolationTests {
  // Skipped where no PostgreSQL server is installed.
  @Test(
    "A write that the database refuses fails alone, whatever shares its transaction",
    .enabled(if: EphemeralPostgres.isAvailable))
  func failsAlone() async throws {
    try await TestDatabases.withDatabase { connection in
      let store = try await TestDatabases.openPatient(connection) { $0.writingConnections = 1 }
      try await store.submit("0", "0", by: "alice")
      let outcomes = await withTaskGroup(of: (Int, StoreError?).self) { group in
        for number in 0..<30 {
          group.addTask {
            // PostgreSQL refuses a text with a NUL.
            let reason = number.isMultiple(of: 10) ? "a\u{0}b" : "a gift"
            do throws(StoreError) {
              _ = try await store.addGrant(
                Grant(
                  id: GrantID("grant-\(number)"), scope: StoreSample.scope,
                  accountID: "alice", entitlementID: "pro", starts: 0, reason: reason,
                  author: "otto", createdAt: Milliseconds(Int64(number))))
              return (number, nil)
            } catch {
              return (number, error)
            }
          }
        }
        return await group.reduce(into: [:]) { $0[$1.0] = .some($1.1) }
      }
      for (number, failure) in outcomes {
        #expect(failure?.code == (number.isMultiple(of: 10) ? .internalFault : nil))
        #expect(
          failure?.message.contains("b") != true || failure?.message.contains("22021") == true)
      }
      let kept = try await store.grants(of: "alice", in: StoreSample.scope)
      #expect(kept.count == 27)
      #expect(store.statistics.batches < 28, "nothing shared a transaction")
      await store.close()
    }
  }

  @Test(
    "A write whose lock another session holds fails alone, whatever shares its transaction",
    .enabled(if: EphemeralPostgres.isAvailable), .timeLimit(.minutes(2)))
  func lockedElsewhere() async throws {
    let connection = try await TestDatabases.make()
    let store = try await TestDatabases.open(connection) {
      $0.writingConnections = 1
      $0.lockTimeLimit = .seconds(60)
      $0.rowLockTimeLimit = .milliseconds(200)
      $0.writeTimeLimit = .seconds(90)
    }
    try await store.submit("0", "0", by: "alice")
    let holder = try await OpenTransaction(connection, locking: ["alice"], in: store)
    // Blocks the writer until all other writes wait, so that they share a transaction.
    let gate = try await OpenTransaction(connection, "LOCK TABLE changes IN EXCLUSIVE MODE")
    let before = store.statistics
    try await withThrowingTaskGroup(of: Void.self) { group in
      func submit(_ number: Int) {
        group.addTask {
          let account = AccountID("bob-\(number)")
          let receipt = try await store.submit("\(number)", "\(number)", by: account)
          #expect(receipt.dispositions == [.added])
        }
      }
      submit(1)
      try await eventually { store.statistics.writingConnectionsInUse == 1 }
      group.addTask {
        let failure = await #expect(throws: StoreError.self) {
          try await store.submit("2", "2", by: "alice")
        }
        #expect(failure?.message == StoreError.lockedElsewhere.message)
      }
      for number in 3..<20 { submit(number) }
      try await eventually { store.waitingWrites == 19 }
      await gate.end()
      try await group.waitForAll()
    }
    #expect(store.statistics.commits - before.commits == 18)
    #expect(store.statistics.batches - before.batches < 10, "nothing shared a transaction")
    await holder.end()
    try await eventually { (try? await store.submit("2", "2", by: "alice")) != nil }
    await store.close()
  }

  @Test(
    "Each SQLSTATE has the error code that callers act on",
    arguments: [
      ("53100", StoreError.Code.full), ("53200", .unavailable), ("53300", .unavailable),
      ("57P01", .unavailable), ("57P03", .unavailable), ("57014", .unavailable),
      ("08006", .unavailable), ("25006", .unavailable), ("40001", .unavailable),
      ("40P01", .unavailable), ("55P03", .unavailable), ("58030", .unavailable),
      ("XX001", .corrupt), ("XX002", .corrupt), ("42P01", .corrupt), ("42501", .internalFault),
      ("22021", .internalFault), ("23505", .internalFault), ("", .internalFault),
    ])
  func codes(state: String, code: StoreError.Code) {
    let failure = PostgresFailure(.server(SQLState(state)), "secret detail", wasSent: true)
    let error = StoreError(translating: failure)
    #expect(error.code == code)
    #expect(!error.message.contains("secret"))
  }

  @Test(
    "Only an unreachable database fails waiting writes too",
    arguments: [
      (PostgresFailure.Kind.cannotConnect, BatchFailure.Cause.unreachable),
      (.poolTimedOut, .unreachable), (.closed, .unreachable), (.timedOut, .timeout),
      (.connectionLost, .timeout), (.overloaded, .timeout),
      (.server(.adminShutdown), .timeout), (.server(.readOnlyTransaction), .timeout),
      (.server(.lockNotAvailable), .locks), (.server(.queryCanceled), .statementTimeout),
      (.server(.outOfMemory), .rejection),
      (.server(.uniqueViolation), .rejection), (.protocolViolation, .protocolViolation),
    ])
  func causes(kind: PostgresFailure.Kind, cause: BatchFailure.Cause) {
    #expect(BatchFailure(PostgresFailure(kind, "", wasSent: true)).cause == cause)
    #expect(BatchFailure.unresolved.cause == .timeout)
  }

  @Test(
    "Only a commit that was sent may have taken place",
    arguments: [
      (PostgresFailure.Kind.connectionLost, true), (.timedOut, true), (.protocolViolation, true),
      (.closed, true), (.server(.adminShutdown), true), (.server(.crashShutdown), true),
      (.server(.serializationFailure), false), (.server(.diskFull), false),
      (.cannotConnect, false), (.poolTimedOut, false), (.overloaded, false),
    ])
  func unknownCommits(kind: PostgresFailure.Kind, isUnknown: Bool) {
    #expect(PostgresFailure(kind, "", wasSent: true).leavesCommitUnknown == isUnknown)
    #expect(!PostgresFailure(kind, "", wasSent: false).leavesCommitUnknown)
  }
}
