import EntitlementDomain
import EntitlementStore
import TestSupport
import Testing

@testable import PostgresStore

@Suite("What fails alone, and how it is told")
struct BatchIsolationTests {
  // Skipped where no PostgreSQL server is installed.
  @Test(
    "What the database cannot take fails alone, whoever it shared a transaction with",
    .enabled(if: EphemeralPostgres.isAvailable))
  func failsAlone() async throws {
    try await TestDatabases.withDatabase { connection in
      let store = try await TestDatabases.open(connection) { $0.writingConnections = 1 }
      try await store.submit("0", "0", by: "alice")
      let outcomes = await withTaskGroup(of: (Int, StoreError?).self) { group in
        for number in 0..<30 {
          group.addTask {
            // No text of PostgreSQL's has a NUL.
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
    "Codes of the server have the meanings that callers act on",
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
    "Only what had begun to leave may have been committed",
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
