import EntitlementDomain

/// Makes sure, within a transaction, that the numbers of apps and headers that were kept in memory
/// mean the same in the database: a failover may have lost the rows that gave them, and others may
/// have got the same numbers since.
enum NumberCheck {
  /// Answers whether all do.
  static func command(_ scopes: ScopeNumbers, _ headers: HeaderNumbers) -> PostgresCommand {
    let headers = headers.numbers
    let scopes = Array(scopes.numbers)
    return PostgresCommand(
      statement,
      [
        .int64s(headers.map(\.number)), .byteStrings(headers.map(\.digest)),
        .int64s(scopes.map(\.value)), .texts(scopes.map(\.key.environment.rawValue)),
        .texts(scopes.map(\.key.bundleID.rawValue)),
      ])
  }

  /// `$1` and `$2` numbers and digests of headers, `$3` to `$5` numbers, environments and bundle ids
  /// of apps.
  static let statement = PostgresStatement(
    """
    SELECT NOT EXISTS (
        SELECT 1 FROM unnest($1::bigint[], $2::bytea[]) AS held (id, digest)
        WHERE NOT EXISTS (
          SELECT 1 FROM headers
          WHERE sha256(headers.bytes) = held.digest AND headers.id = held.id OFFSET 0))
      AND NOT EXISTS (
        SELECT 1 FROM unnest($3::bigint[], $4::text[], $5::text[])
          AS held (id, environment, bundle_id)
        WHERE NOT EXISTS (
          SELECT 1 FROM scopes
          WHERE scopes.environment = held.environment AND scopes.bundle_id = held.bundle_id
            AND scopes.id = held.id OFFSET 0))
    """, name: "check_numbers")
}
