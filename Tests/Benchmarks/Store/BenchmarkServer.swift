import LoadClient
import PostgresBulkLoader
import PostgresStore

/// The measured PostgreSQL server, and its databases of customers.
struct BenchmarkServer: Sendable {
  /// The URI of any of its databases, for a role that may create others.
  let uri: String
  let progress: Progress

  private static let seed: UInt64 = 1

  /// A database with this many customers: the one of an earlier run, or a new one.
  func database(customers count: Int, workers: Int) async throws -> BenchmarkDatabase {
    let name = "entitle_benchmark_\(count)"
    let customers = try BulkCustomers(count: count, seed: Self.seed)
    let database = BenchmarkDatabase(uri: self.uri(ofDatabase: name), customers: customers)
    // The mark of a completely filled database.
    let mark = "\(count) customers, seed \(Self.seed)"
    let server = Psql(uri: uri)
    let found = try server.run(
      "SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = '\(name)';")
    if found.split(whereSeparator: \.isNewline).first.map(String.init) == mark {
      do {
        try await migrate(name)
        progress.say("using the database \(name) of an earlier run")
        return database
      } catch {
        progress.say("the database \(name) cannot be used and is replaced: \(error)")
      }
    }
    try await makeDatabase(name)
    try await BulkLoader(
      database: database.psql, customers: customers, workers: workers, progress: progress
    ).run()
    try server.run("COMMENT ON DATABASE \(name) IS '\(mark)'; CHECKPOINT;")
    return database
  }

  /// Runs `body` with a database of empty tables.
  func withEmptyDatabase<Result>(_ body: (Psql) async throws -> Result) async throws -> Result {
    let name = "entitle_benchmark_empty"
    try await makeDatabase(name)
    let result = try await body(Psql(uri: uri(ofDatabase: name)))
    try Psql(uri: uri).run("DROP DATABASE \(name);")
    return result
  }

  private func makeDatabase(_ name: String) async throws {
    try Psql(uri: uri).run(
      "SET client_min_messages = error; DROP DATABASE IF EXISTS \(name); CREATE DATABASE \(name);")
    try await migrate(name)
  }

  private func migrate(_ name: String) async throws {
    _ = try await PostgresSchema.migrate(connection: uri(ofDatabase: name), dryRun: false) { _ in }
  }

  /// The URI with the same server and role and another database.
  private func uri(ofDatabase name: String) -> String {
    let query = uri.firstIndex(of: "?") ?? uri.endIndex
    let authority = uri.firstRange(of: "://")?.upperBound ?? uri.startIndex
    let path = uri[authority..<query].firstIndex(of: "/") ?? query
    return uri[..<path] + "/\(name)" + uri[query...]
  }
}

/// A database with a generated population.
struct BenchmarkDatabase: Sendable {
  let uri: String
  let customers: BulkCustomers

  var psql: Psql { Psql(uri: uri) }

  /// The value of one setting of the server.
  func setting(_ name: String) throws -> String {
    String(try psql.run("SHOW \(name);").prefix { !$0.isWhitespace })
  }

  /// The size of each table with its indexes, in bytes, in total and per customer.
  func sizes() throws -> String {
    let rows = try psql.run(
      """
      SELECT coalesce(parent.relname, class.relname) AS name,
        sum(pg_table_size(class.oid))::bigint, sum(pg_indexes_size(class.oid))::bigint
      FROM pg_class AS class
        LEFT JOIN pg_inherits ON inhrelid = class.oid
        LEFT JOIN pg_class AS parent ON parent.oid = inhparent
      WHERE class.relkind = 'r' AND class.relnamespace = 'public'::regnamespace
      GROUP BY 1 ORDER BY sum(pg_total_relation_size(class.oid)) DESC;
      """)
    var lines = ["bytes for each of \(size) customers: table, indexes"]
    var totals = (0.0, 0.0)
    for row in rows.split(whereSeparator: \.isNewline) {
      let fields = row.split(separator: "|")
      guard fields.count == 3, let table = Double(fields[1]), let indexes = Double(fields[2]) else {
        continue
      }
      totals = (totals.0 + table, totals.1 + indexes)
      lines.append(line(String(fields[0]), table, indexes))
    }
    lines.append(line("in all", totals.0, totals.1))
    return lines.joined(separator: "\n")
  }

  private func line(_ name: String, _ table: Double, _ indexes: Double) -> String {
    let each = [table, indexes].map { String(Int(($0 / Double(customers.count)).rounded())) }
    return TableText.left(name, 42) + TableText.right(each[0], 20) + TableText.right(each[1], 10)
  }

  /// As text: 10 k, 1 M.
  var size: String { Self.size(of: customers.count) }

  static func size(of count: Int) -> String {
    switch count {
    case 1_000_000... where count.isMultiple(of: 100_000):
      count.isMultiple(of: 1_000_000)
        ? "\(count / 1_000_000) M" : "\(count / 1_000_000).\(count / 100_000 % 10) M"
    case 1_000... where count.isMultiple(of: 1_000): "\(count / 1_000) k"
    default: "\(count)"
    }
  }
}
