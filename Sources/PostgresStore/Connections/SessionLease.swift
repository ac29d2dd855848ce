/// A session that somebody has. Its connection may have been lost meanwhile.
struct SessionLease {
  var connection: PostgresConnection?
}
