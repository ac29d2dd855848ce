/// One execution of a statement. `BEGIN` and `COMMIT` are statements too.
struct PostgresCommand: Sendable {
  var statement: PostgresStatement
  var values: [PostgresValue]

  init(_ statement: PostgresStatement, _ values: [PostgresValue] = []) {
    self.statement = statement
    self.values = values
  }
}
