import EntitlementStore
import Logging
import Synchronization
import TestSupport

@testable import PostgresStore

/// One cluster for the tests of the store, with migrated databases in it.
///
/// It does not flush to disk, because the tests do not depend on it. Tests that stop or kill a
/// server start their own.
enum TestDatabases {
  static let cluster = Result { () throws -> EphemeralPostgres in
    var options = EphemeralPostgres.Options()
    options.isDurable = false
    options.settings = ["max_connections": "300", "autovacuum": "off"]
    return try EphemeralPostgres.start(options)
  }

  private static let template = Task { () throws -> String in
    let name = "entitle_template"
    let cluster = try Self.cluster.get()
    try cluster.execute("CREATE DATABASE \(name)")
    _ = try await PostgresSchema.migrate(
      connection: cluster.connectionString(database: name), dryRun: false, report: { _ in })
    return name
  }

  /// - Returns: the connection string of a new database with the schema of the program.
  static func make() async throws -> String {
    try cluster.get().makeDatabase(template: try await template.value)
  }

  /// Lends an empty database. Emptying one is several times faster than creating one.
  static func withDatabase(_ body: (String) async throws -> Void) async throws {
    let connection: String
    if let free = free.withLock({ $0.popLast() }) {
      connection = free
    } else {
      connection = try await make()
    }
    try await body(connection)
    try empty(connection)
    free.withLock { $0.append(connection) }
  }

  private static let free = Mutex<[String]>([])

  private static func empty(_ connection: String) throws {
    try cluster.get().execute(
      """
      DO $$
      DECLARE name text;
      BEGIN
        PERFORM set_config('entitle.audit_removal', 'on', true);
        FOR name IN SELECT relname FROM pg_class
          WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p')
            AND NOT relispartition AND relname NOT IN ('meta', 'schema_migrations')
        LOOP
          EXECUTE format('DELETE FROM %I', name);
        END LOOP;
        UPDATE meta SET sequence_offset = 0, trimmed_through = 0;
      END
      $$
      """, database: EphemeralPostgres.databaseName(of: connection))
  }

  static func open(
    _ connection: String, replicas: [String] = [],
    _ change: (inout PostgresStoreLimits) -> Void = { _ in }
  ) async throws -> PostgresStore {
    var limits = PostgresStoreLimits()
    limits.readingConnections = 2
    limits.writingConnections = 2
    change(&limits)
    return try await PostgresStore.open(
      PostgresStoreConfiguration(connection: connection, replicas: replicas, limits: limits),
      logger: logger)
  }

  /// As ``open(_:replicas:_:)``, for tests with many writers at once: on a slow machine a write may wait
  /// for the others for longer than the limits of a server.
  static func openPatient(
    _ connection: String, _ change: (inout PostgresStoreLimits) -> Void = { _ in }
  ) async throws -> PostgresStore {
    try await open(connection + "&options=-c%20statement_timeout%3D120000") {
      $0.lockTimeLimit = .seconds(60)
      $0.rowLockTimeLimit = .seconds(60)
      $0.exchangeTimeLimit = .seconds(60)
      $0.writeTimeLimit = .seconds(120)
      $0.readTimeLimit = .seconds(60)
      change(&$0)
    }
  }

  static let logger = {
    var logger = Logger(label: "PostgresStoreTests")
    logger.logLevel = .error
    return logger
  }()
}

extension EphemeralPostgres {
  /// A new database with the schema of the program.
  func makeMigratedDatabase() async throws -> String {
    let connection = try makeDatabase()
    _ = try await PostgresSchema.migrate(
      connection: connection, dryRun: false, report: { _ in })
    return connection
  }
}
