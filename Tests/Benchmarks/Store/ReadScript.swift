import EntitlementDomain
import EntitlementStore
import LoadClient
import PostgresBulkLoader
import PostgresStore

/// The query by which a store reads a customer, as a script of pgbench. Its text comes from
/// PostgreSQL, which reports the last query of the store's connection.
enum ReadScript {
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// - Throws: ``Failure`` when the last query of the store is not found or not the expected one.
  static func script(of store: PostgresStore, on database: BenchmarkDatabase) async throws -> String
  {
    _ = try await store.customer(
      .account(BulkCustomers.account(at: 0)), in: BulkCustomers.scope, .primary)
    let separator = "\u{1e}"
    let texts = try database.psql.run(
      """
      SELECT query || '\(separator)' FROM pg_stat_activity
      WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE '%payload%'
      ORDER BY query_start DESC;
      """)
    guard let text = texts.split(separator: separator).first, texts.contains(separator) else {
      throw Failure(description: "PostgreSQL reports no query of the store")
    }
    let limit = try database.psql.number(
      "SELECT setting::bigint - 1 FROM pg_settings WHERE name = 'track_activity_query_size';")
    guard text.utf8.count < limit else {
      throw Failure(description: "the server cuts queries: raise its track_activity_query_size")
    }
    guard text.contains("$1"), text.contains("$2"), !text.contains("$3") else {
      throw Failure(
        description: "the store's query has other parameters than a scope and an account")
    }
    let scope = try database.psql.number("SELECT min(id) FROM scopes;")
    let first = BulkCustomers.firstAccount
    return """
      \\set account random(\(first), \(first + database.customers.count - 1))
      \\set scope \(scope)
      \(text.replacing("$1", with: ":scope").replacing("$2", with: ":account"));

      """
  }
}
