import EntitlementDomain
import EntitlementStore
import TestSupport
import Testing

@testable import PostgresStore

// Skipped where no PostgreSQL server is installed.
@Suite("Ids of apps and of headers", .enabled(if: EphemeralPostgres.isAvailable))
struct InterningTests {
  @Test(
    "are requested again when the connection is lost meanwhile", .timeLimit(.minutes(2)),
    arguments: ["headers", "scopes"])
  func lostConnection(table: String) async throws {
    let connection = try await TestDatabases.make()
    let name = try EphemeralPostgres.databaseName(of: connection)
    let cluster = try TestDatabases.cluster.get()
    let store = try await TestDatabases.openPatient(connection)
    let blocker = try await OpenTransaction(connection, "LOCK TABLE \(table) IN EXCLUSIVE MODE")
    async let receipt = store.submit("1", "1", by: "alice")
    let waiting = """
      SELECT pid FROM pg_stat_activity
      WHERE datname = '\(name)' AND wait_event_type = 'Lock' AND query LIKE '%INTO \(table)%'
      """
    try await eventually { try !cluster.execute(waiting).isEmpty }
    try cluster.execute(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid IN (\(waiting))")
    await blocker.end()
    #expect(try await receipt.dispositions == [.added])
    #expect(try await store.submit("2", "2", by: "alice").dispositions == [.added])
    #expect(try cluster.execute("SELECT count(*) FROM \(table)", database: name) == "1")
    await store.close()
  }

  @Test("An export gives each fact and each notification the header of its signer")
  func headersOfExport() async throws {
    try await TestDatabases.withDatabase { connection in
      let store = try await TestDatabases.open(connection)
      let facts = try (0..<6).map { number in
        try StoreSample.transaction(
          "\(number)", "1", header: [UInt8](repeating: UInt8(number % 2), count: 4_000))
      }
      for (number, fact) in facts.enumerated() {
        var submission = StoreSample.submission([fact], by: "alice")
        submission.notification = SignedNotification(
          record: NotificationRecord(
            uuid: NotificationUUID("\(number)"), type: "DID_RENEW", subtype: nil,
            scope: StoreSample.scope, status: nil, signedDate: nil,
            digest: try StoredPayload.digest(of: [1])),
          signed: SignedPayload(
            header: [UInt8](repeating: UInt8(number % 3), count: 4_000), payload: [1],
            signature: [2]))
        _ = try await store.commit(submission)
      }
      let export = try #require(try await store.export("alice", in: StoreSample.scope))
      #expect(Set(export.facts) == Set(facts))
      #expect(export.notifications.count == 6)
      for received in export.notifications {
        let record = received.notification.record
        let number = try #require(UInt8(record.uuid.rawValue))
        let stored = try #require(try await store.notification(record.uuid))
        #expect(stored == received.notification)
        guard case .jws(let header, _) = stored.signed.proof else {
          Issue.record("not a JWS")
          continue
        }
        #expect(header == [UInt8](repeating: number % 3, count: 4_000))
      }
      await store.close()
    }
  }
}
