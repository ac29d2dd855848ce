/// One statement of ours, prepared on each connection when it is first used there.
///
/// The types of its parameters are those of the values that are first bound. A parameter that may
/// be null, or that is not of one of ``PostgresValue``'s types, needs a cast in the text
/// (`$1::bigint`), so that it means the same whatever came first.
struct PostgresStatement: Sendable {
  /// Unique among all statements of the program; it is what the server knows the statement by.
  let name: String
  let sql: String

  /// - Parameter name: at most 63 bytes, as the server tells no more of them apart.
  init(_ sql: String, name: String) {
    precondition(!name.isEmpty && name.utf8.count < 64)
    self.name = name
    self.sql = sql
  }
}

extension PostgresStatement: Hashable {
  /// By name alone: names are unique, and texts are long.
  static func == (left: PostgresStatement, right: PostgresStatement) -> Bool {
    left.name == right.name
  }

  func hash(into hasher: inout Hasher) { hasher.combine(name) }
}
