import EntitlementStore
import PostgresStore
import Programs

/// Fills a PostgreSQL database that holds nothing else, and goes on where it was interrupted.
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

  /// - Throws: ``StoreError``; ``Failure`` when the database holds something else;
  ///   ``Subprocess/Failure`` when it refuses something, whose reason is on stderr.
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
      progress.say("\(customers.count) customers are there already")
      return
    case mark(.begun):
      progress.say("going on with what was begun")
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
        description: "the database holds other customers, or others than these: name an empty one")
    }
  }

  /// Said of the database, where nothing else is written.
  private func mark(_ stage: Stage) -> String {
    "entitle-load: \(customers.count) customers, seed \(customers.seed), at "
      + "\(customers.now), \(stage.rawValue)"
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
