import EntitlementDomain
import EntitlementStore
import Foundation
import TestSupport
import Testing

@testable import PostgresStore

// Skipped where no PostgreSQL server is installed.
@Suite("Damaged data", .enabled(if: EphemeralPostgres.isAvailable))
struct DamageTests {
  @Test("A damaged page is an error of its customer, and health stays bad", .timeLimit(.minutes(3)))
  func page() async throws {
    let cluster = try EphemeralPostgres.start()
    let connection = try await cluster.makeMigratedDatabase()
    let name = try EphemeralPostgres.databaseName(of: connection)
    let store = try await TestDatabases.open(connection)
    try await store.submit("1", "1", by: "alice")
    try cluster.execute("CHECKPOINT")
    let files = try cluster.execute(
      """
      SELECT pg_relation_filepath(oid) FROM pg_class
      WHERE relname ~ '^facts_[0-7]$' AND pg_relation_size(oid) > 0
      """, database: name
    ).split(separator: "\n")
    #expect(files.count == 1)
    try cluster.stop()
    for file in files {
      let path = URL(filePath: "\(cluster.dataFolder)/\(file)")
      let handle = try FileHandle(forUpdating: path)
      // The header of the first page.
      try handle.write(contentsOf: Data(repeating: 0xa5, count: 64))
      try handle.close()
    }
    try cluster.start()

    // Until it is read, nothing shows the damage.
    try await eventually { (try? await store.checkHealth()) != nil }
    let failure = await #expect(throws: StoreError.self) {
      _ = try await store.customer(.account("alice"), in: StoreSample.scope)
    }
    #expect(failure?.code == .corrupt)
    for _ in 0..<2 {
      let failure = await #expect(throws: StoreError.self) { try await store.checkHealth() }
      #expect(failure?.code == .corrupt)
      #expect(failure?.message.contains("restore a backup") == true)
    }
    // Another customer is still served.
    #expect(try await store.submit("2", "2", by: "bob").dispositions == [.added])
    await store.close()
  }
}
