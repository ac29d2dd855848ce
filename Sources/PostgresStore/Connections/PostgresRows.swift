import CPostgres

/// The result of one command. It owns libpq's immutable result; values are in the binary format.
///
/// No accessor traps, whatever the server sent. All accessors throw
/// ``PostgresFailure/Kind/protocolViolation``.
final class PostgresRows: Sendable {
  // unsafe: libpq's read-only functions may be called from any thread (manual, §34.20), and the
  // pointer is not shared.
  private nonisolated(unsafe) let result: OpaquePointer

  /// The number of rows.
  let count: Int
  let columns: Int

  /// Takes ownership of the result.
  init(owning result: OpaquePointer) {
    self.result = result
    count = Int(PQntuples(result))
    columns = Int(PQnfields(result))
  }

  deinit { PQclear(result) }

  /// The number of rows that the command wrote; 0 for other commands.
  var affectedRows: Int { Int(String(cString: PQcmdTuples(result))) ?? 0 }

  /// The command tag without counts. `COMMIT` of a failed transaction answers `ROLLBACK`.
  var tag: String {
    String(String(cString: PQcmdStatus(result)).prefix { $0 != " " })
  }

  func isNull(_ row: Int, _ column: Int) throws(PostgresFailure) -> Bool {
    try check(row, column)
    return PQgetisnull(result, CInt(row), CInt(column)) == 1
  }

  /// Calls `body` with the bytes of a value, without a copy; nil for null. The buffer is valid only
  /// within `body`.
  func withBytes<Outcome>(
    _ row: Int, _ column: Int,
    _ body: (UnsafeRawBufferPointer?) throws(PostgresFailure) -> Outcome
  ) throws(PostgresFailure) -> Outcome {
    try withExtendedLifetime(self) { () throws(PostgresFailure) in
      try body(unsafeBytes(row, column))
    }
  }

  /// The bytes of a value, without a copy; nil for null. They are valid as long as this object.
  func unsafeBytes(
    _ row: Int, _ column: Int
  ) throws(PostgresFailure) -> UnsafeRawBufferPointer? {
    try check(row, column)
    let (resultRow, resultColumn) = (CInt(row), CInt(column))
    let length = PQgetlength(result, resultRow, resultColumn)
    // Null has no bytes, so that only values without any need the question.
    if length == 0, PQgetisnull(result, resultRow, resultColumn) == 1 { return nil }
    let start = PQgetvalue(result, resultRow, resultColumn)
    return UnsafeRawBufferPointer(start: start, count: Int(length))
  }

  /// The type of a column.
  func type(of column: Int) -> Oid { PQftype(result, CInt(clamping: column)) }

  private func check(_ row: Int, _ column: Int) throws(PostgresFailure) {
    guard row >= 0, row < count, column >= 0, column < columns else {
      throw PostgresFailure(.protocolViolation, "the result has no such row or column")
    }
  }
}

extension PostgresRows {
  /// Reads a `bigint`, `integer` or `smallint`.
  func int64(_ row: Int, _ column: Int) throws(PostgresFailure) -> Int64 {
    try present(optionalInt64(row, column))
  }

  func bool(_ row: Int, _ column: Int) throws(PostgresFailure) -> Bool {
    try present(optionalBool(row, column))
  }

  func text(_ row: Int, _ column: Int) throws(PostgresFailure) -> String {
    try present(optionalText(row, column))
  }

  func bytes(_ row: Int, _ column: Int) throws(PostgresFailure) -> [UInt8] {
    try present(optionalBytes(row, column))
  }

  func optionalInt64(_ row: Int, _ column: Int) throws(PostgresFailure) -> Int64? {
    try withBytes(row, column) { bytes throws(PostgresFailure) in
      guard let bytes else { return nil }
      return try ValueDecoder.int64(bytes)
    }
  }

  func optionalBool(_ row: Int, _ column: Int) throws(PostgresFailure) -> Bool? {
    try withBytes(row, column) { bytes throws(PostgresFailure) in
      guard let bytes else { return nil }
      return try ValueDecoder.bool(bytes)
    }
  }

  func optionalText(_ row: Int, _ column: Int) throws(PostgresFailure) -> String? {
    try withBytes(row, column) { bytes throws(PostgresFailure) in
      guard let bytes else { return nil }
      return try ValueDecoder.text(bytes)
    }
  }

  func optionalBytes(_ row: Int, _ column: Int) throws(PostgresFailure) -> [UInt8]? {
    try withBytes(row, column) { bytes throws(PostgresFailure) in bytes.map { Array($0) } }
  }

  func int64s(_ row: Int, _ column: Int) throws(PostgresFailure) -> [Int64?] {
    try array(row, column, ValueDecoder.int64)
  }

  func bools(_ row: Int, _ column: Int) throws(PostgresFailure) -> [Bool?] {
    try array(row, column, ValueDecoder.bool)
  }

  func texts(_ row: Int, _ column: Int) throws(PostgresFailure) -> [String?] {
    try array(row, column, ValueDecoder.text)
  }

  func byteStrings(_ row: Int, _ column: Int) throws(PostgresFailure) -> [[UInt8]?] {
    try array(row, column) { Array($0) }
  }

  private func array<Element>(
    _ row: Int, _ column: Int,
    _ decode: (UnsafeRawBufferPointer) throws(PostgresFailure) -> Element
  ) throws(PostgresFailure) -> [Element?] {
    try withBytes(row, column) { bytes throws(PostgresFailure) in
      guard let bytes else { throw Self.unexpectedNull }
      return try ValueDecoder.array(bytes, decode)
    }
  }

  private func present<Value>(_ value: Value?) throws(PostgresFailure) -> Value {
    guard let value else { throw Self.unexpectedNull }
    return value
  }

  static var unexpectedNull: PostgresFailure {
    PostgresFailure(.protocolViolation, "the result has a null instead of a value")
  }
}

/// Decodes values in the format of PostgreSQL's `*send` functions.
enum ValueDecoder {
  /// An integer of eight, four or two bytes.
  static func int64(_ bytes: UnsafeRawBufferPointer) throws(PostgresFailure) -> Int64 {
    switch bytes.count {
    case 8: Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    case 4: Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
    case 2: Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
    default: throw malformed
    }
  }

  static func bool(_ bytes: UnsafeRawBufferPointer) throws(PostgresFailure) -> Bool {
    guard bytes.count == 1 else { throw malformed }
    return bytes[0] != 0
  }

  static func text(_ bytes: UnsafeRawBufferPointer) throws(PostgresFailure) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else { throw malformed }
    return text
  }

  /// An array of one dimension, or an empty array.
  static func array<Element>(
    _ bytes: UnsafeRawBufferPointer,
    _ decode: (UnsafeRawBufferPointer) throws(PostgresFailure) -> Element
  ) throws(PostgresFailure) -> [Element?] {
    var rest = bytes
    let dimensions = try number(&rest)
    // The flag for nulls and the element type are not needed: each element is checked when it is
    // read.
    _ = try number(&rest)
    _ = try number(&rest)
    guard dimensions != 0 else { return [] }
    let count = Int(try number(&rest))
    _ = try number(&rest)
    // Each element takes at least four bytes, so the count cannot exceed the size of the value.
    guard dimensions == 1, count >= 0, count <= rest.count / 4 else { throw malformed }
    var elements: [Element?] = []
    elements.reserveCapacity(count)
    for _ in 0..<count {
      let length = Int(try number(&rest))
      guard length >= 0 else {
        elements.append(nil)
        continue
      }
      guard length <= rest.count else { throw malformed }
      elements.append(try decode(UnsafeRawBufferPointer(rebasing: rest.prefix(length))))
      rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(length))
    }
    guard rest.isEmpty else { throw malformed }
    return elements
  }

  private static func number(_ rest: inout UnsafeRawBufferPointer) throws(PostgresFailure) -> Int32
  {
    guard rest.count >= 4 else { throw malformed }
    defer { rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(4)) }
    return Int32(bigEndian: rest.loadUnaligned(as: Int32.self))
  }

  private static var malformed: PostgresFailure {
    PostgresFailure(.protocolViolation, "a value of the result has an unexpected type")
  }
}
