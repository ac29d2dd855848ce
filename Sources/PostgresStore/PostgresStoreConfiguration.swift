/// Where a PostgreSQL store is.
package struct PostgresStoreConfiguration: Sendable, CustomStringConvertible {
  /// A URI or keyword string of libpq; several hosts are allowed, of which that is used which accepts
  /// writes.
  package var connection: String
  /// Connection strings of standbys that may answer reads; without any, all go to the primary.
  package var replicas: [String]
  package var limits: PostgresStoreLimits

  package init(
    connection: String, replicas: [String] = [],
    limits: PostgresStoreLimits = PostgresStoreLimits()
  ) {
    self.connection = connection
    self.replicas = replicas
    self.limits = limits
  }

  /// Scheme, hosts, database and user; never a password.
  package var description: String {
    do throws(PostgresFailure) {
      return try PostgresConnectionString(connection).description
    } catch {
      return "postgresql: (malformed connection string)"
    }
  }
}
