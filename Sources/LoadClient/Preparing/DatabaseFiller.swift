import EntitlementDomain
import EntitlementStore
import PostgresBulkLoader
import PostgresStore
import Programs

/// Loads customers into an empty PostgreSQL database. Continues an interrupted load.
struct DatabaseFiller: Sendable {
  let uri: String
  let customers: BulkCustomers
  let workers: Int
  let progress: Progress

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  private enum Stage: String {
    case begun, complete
  }

  /// - Throws: ``CommandFailure`` when the schema cannot be migrated; ``Failure`` when the database
  ///   contains other customers; ``Subprocess/Failure`` when `psql` fails, with its reason on
  ///   stderr.
  func run() async throws {
    do throws(StoreError) {
      _ = try await PostgresSchema.migrate(connection: uri, dryRun: false) { _ in }
    } catch {
      throw CommandFailure(error.code == .unavailable ? .unreachable : .failed, error.message)
    }
    let database = Psql(uri: uri)
    let found = try database.run(
      """
      SELECT shobj_description(oid, 'pg_database') FROM pg_database
      WHERE datname = current_database();
      """
    ).split(whereSeparator: \.isNewline).first.map(String.init)
    switch found {
    case mark(.complete):
      progress.say("\(customers.count) customers are already loaded")
      return
    case mark(.begun):
      progress.say("continuing the interrupted load")
    default:
      try requireEmpty(database)
      try set(.begun, in: database)
    }
    try await BulkLoader(
      database: database, customers: customers, workers: workers, progress: progress
    ).run()
    try set(.complete, in: database)
  }

  private func requireEmpty(_ database: Psql) throws {
    let count = try database.number(
      "SELECT count(*) FROM (SELECT FROM accounts LIMIT 1) AS any_account;")
    guard count == 0 else {
      throw Failure(
        description: "the database contains other customers: use an empty database")
    }
  }

  /// The comment of the database, which records what was loaded.
  private func mark(_ stage: Stage) -> String {
    "entitle-load: \(customers.count) customers in \(customers.scope.environment.rawValue), seed "
      + "\(customers.seed), at \(customers.now), \(stage.rawValue)"
  }

  private func set(_ stage: Stage, in database: Psql) throws {
    try database.run(
      """
      DO $$ BEGIN
        EXECUTE format('COMMENT ON DATABASE %I IS %L', current_database(), '\(mark(stage))');
      END $$;
      """)
  }
}
