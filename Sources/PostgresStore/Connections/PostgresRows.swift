import CPostgres

/// What one command answered. It owns libpq's result, which nobody changes any more; values are in
/// the binary format.
///
/// No accessor traps, whatever the server sent: all throw
/// ``PostgresFailure/Kind/protocolViolation``.
final class PostgresRows: Sendable {
  // unsafe: libpq's read-only functions may be called from any thread (manual, §34.20), and nobody
  // else has the pointer.
  private nonisolated(unsafe) let result: OpaquePointer

  /// How many rows there are.
  let count: Int
  let columns: Int

  /// Takes the result over.
  init(owning result: OpaquePointer) {
    self.result = result
    count = Int(PQntuples(result))
    columns = Int(PQnfields(result))
  }

  deinit { PQclear(result) }

  /// How many rows a command wrote; zero for others.
  var affectedRows: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

  /// What was done, without counts. The `COMMIT` of a transaction that had failed answers
  /// `ROLLBACK`.
  var tag: String {
    String(String(cString: PQcmdStatus(result)).prefix { $0 != " " })
  }

  func isNull(_ row: Int, _ column: Int) throws(PostgresFailure) -> Bool {
    try check(row, column)
    return PQgetisnull(result, CInt(row), CInt(column)) == 1
  }

  /// The bytes of a value where they lie, without a copy; nil: null. They are valid within `body`
  /// only.
  func withBytes<Outcome>(
    _ row: Int, _ column: Int,
    _ body: (UnsafeRawBufferPointer?) throws(PostgresFailure) -> Outcome
  ) throws(PostgresFailure) -> Outcome {
    guard try !isNull(row, column) else { return try body(nil) }
    // It lives as long as the result, which this object keeps.
    let start = PQgetvalue(result, CInt(row), CInt(column))
    let length = PQgetlength(result, CInt(row), CInt(column))
    let outcome = try body(UnsafeRawBufferPointer(start: start, count: Int(length)))
    return outcome
  }

  /// The type of a column.
  func type(of column: Int) -> Oid { PQftype(result, CInt(clamping: column)) }

  private func check(_ row: Int, _ column: Int) throws(PostgresFailure) {
    guard row >= 0, row < count, column >= 0, column < columns else {
      throw PostgresFailure(.protocolViolation, "the answer has no such row or column")
    }
  }
}
