import CPostgres

/// The types that parameters have, by their object identifiers, which are the same in every
/// database (`pg_type.dat` of PostgreSQL).
enum PostgresType {
  /// Left to the server, which looks at the statement.
  static let unspecified: Oid = 0
  static let bool: Oid = 16
  static let bytes: Oid = 17
  static let int64: Oid = 20
  static let text: Oid = 25
  static let bools: Oid = 1000
  static let byteStrings: Oid = 1001
  static let texts: Oid = 1009
  static let int64s: Oid = 1016
}
