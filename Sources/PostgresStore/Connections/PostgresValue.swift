/// A parameter of a statement. It is sent in the binary format of its type.
enum PostgresValue: Sendable {
  /// Of any type: the statement has to say which (see ``PostgresStatement``).
  case null
  case int64(Int64)
  case bool(Bool)
  /// UTF-8 without NUL, which the server refuses (SQLSTATE 22021).
  case text(String)
  case bytes([UInt8])
  case int64s([Int64?])
  case bools([Bool?])
  case texts([String?])
  case byteStrings([[UInt8]?])
}
