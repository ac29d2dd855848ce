import Logging
import TestSupport

@testable import PostgresStore

/// Pools for tests.
enum ConnectionFixture {
  static let limit = Duration.seconds(20)

  static func pool(
    _ connection: String, target: PostgresPoolConfiguration.Target = .primary,
    _ change: (inout PostgresPoolLimits) -> Void = { _ in }
  ) throws -> PostgresPool {
    var limits = PostgresPoolLimits()
    change(&limits)
    return try PostgresPool(
      PostgresPoolConfiguration(
        connection: try PostgresConnectionString(connection), target: target, limits: limits,
        logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }))
  }

  /// A pool of the shared cluster, in a database that no test changes.
  static func sharedPool(
    _ change: (inout PostgresPoolLimits) -> Void = { _ in }
  ) throws -> PostgresPool {
    try pool(try EphemeralPostgres.shared.connectionString(), change)
  }

  static func command(
    _ sql: String, _ values: [PostgresValue] = [], name: String? = nil
  ) -> PostgresCommand {
    // The server compares only the first 63 bytes of names, and texts of tests are longer.
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in sql.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return PostgresCommand(PostgresStatement(sql, name: name ?? "test_\(hash)"), values)
  }
}

extension PostgresPool {
  func read(_ sql: String, _ values: [PostgresValue] = []) async throws -> PostgresRows {
    let rows = try await read(
      [ConnectionFixture.command(sql, values)], within: ConnectionFixture.limit)
    return rows[0]
  }
}

extension PostgresPool {
  func inSession(_ body: (PostgresSession) async throws -> Void) async throws {
    try await withSession(within: ConnectionFixture.limit, body)
  }
}

extension PostgresSession {
  @discardableResult
  func run(_ sql: String, _ values: [PostgresValue] = []) async throws -> PostgresRows {
    let rows = try await exchange(
      [ConnectionFixture.command(sql, values)], within: ConnectionFixture.limit)
    return rows[0]
  }
}

/// The failure of `body`; nil when it succeeds.
func postgresFailure(
  of body: () async throws -> Void
) async -> PostgresFailure? {
  do {
    try await body()
    return nil
  } catch {
    return error as? PostgresFailure
  }
}
