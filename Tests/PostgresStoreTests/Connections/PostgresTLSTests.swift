import EntitlementDomain
import EntitlementStore
import Foundation
import TestSupport
import Testing

@testable import PostgresStore

// Skipped where no PostgreSQL server is installed.
@Suite("Encrypted connections", .enabled(if: EphemeralPostgres.isAvailable))
struct PostgresTLSTests {
  private static let password = "hunter2-of-the-test"

  /// A server for `localhost`, its authority, and another one.
  private static let server = Result { () throws -> EphemeralPostgres in
    var options = EphemeralPostgres.Options()
    options.isDurable = false
    options.listensOnTCP = true
    options.requiresPassword = true
    options.certificate = try authority.get().server(named: "localhost")
    let cluster = try EphemeralPostgres.start(options)
    try cluster.execute("ALTER ROLE postgres PASSWORD '\(password)'")
    return cluster
  }
  private static let authority = Result { try TLSAuthority(name: "the right authority") }

  private let folder: TemporaryFolder
  private let cluster: EphemeralPostgres

  init() throws {
    folder = try TemporaryFolder()
    cluster = try Self.server.get()
  }

  private func connection(
    trusting authority: TLSAuthority, host: String = "localhost", database: String = "postgres"
  ) throws -> String {
    let path = folder.file("\(UUID().uuidString).pem")
    try Data(authority.pem.utf8).write(to: URL(filePath: path))
    return "postgresql://postgres:\(Self.password)@\(host):\(cluster.port)/\(database)"
      + "?hostaddr=127.0.0.1&sslmode=verify-full&sslrootcert=\(path)"
  }

  @Test("A store works over a connection whose certificate is checked")
  func verified() async throws {
    try cluster.execute("CREATE DATABASE verified")
    let connection = try connection(trusting: try Self.authority.get(), database: "verified")
    _ = try await PostgresSchema.migrate(connection: connection, dryRun: false, report: { _ in })
    let store = try await TestDatabases.open(connection)
    try await store.submit("1", "1", by: "alice")
    let customer = try await store.customer(.account("alice"), in: StoreSample.scope)
    #expect(customer.record.facts.count == 1)
    #expect(
      try cluster.execute(
        """
        SELECT bool_and(pg_stat_ssl.ssl) FROM pg_stat_ssl
        JOIN pg_stat_activity USING (pid) WHERE datname = 'verified'
        """) == "t")
    await store.close()
  }

  @Test("A certificate of another authority or server is refused, without showing secrets")
  func refused() async throws {
    let others = [
      (try connection(trusting: try TLSAuthority(name: "another authority")), "verify failed"),
      (
        try connection(trusting: try Self.authority.get(), host: "db.example.com"),
        "does not match host name"
      ),
    ]
    for (connection, reason) in others {
      let failure = await #expect(throws: StoreError.self) {
        _ = try await TestDatabases.open(connection) {
          $0.readTimeLimit = .seconds(5)
          $0.writeTimeLimit = .seconds(5)
        }
      }
      #expect(failure?.code == .unavailable)
      let message = failure?.message ?? ""
      #expect(message.contains(reason), "\(message)")
      #expect(!message.contains(Self.password))
    }
  }

  @Test("A server that requires encryption refuses plain connections")
  func plain() async throws {
    let connection =
      "postgresql://postgres:\(Self.password)@127.0.0.1:\(cluster.port)/postgres?sslmode=disable"
    let failure = await #expect(throws: StoreError.self) {
      _ = try await TestDatabases.open(connection) { $0.readTimeLimit = .seconds(5) }
    }
    #expect(failure?.message.contains("no encryption") == true)
    #expect(failure?.message.contains(Self.password) == false)
  }
}
