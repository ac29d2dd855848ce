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

extension PostgresRows {
  /// A `bigint`, `integer` or `smallint`.
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

  private static var unexpectedNull: PostgresFailure {
    PostgresFailure(.protocolViolation, "the answer has a null where a value belongs")
  }
}

/// Reads values as PostgreSQL's `*send` functions write them.
enum ValueDecoder {
  /// Of eight, four or two bytes.
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

  /// An array of one dimension, or an empty one.
  static func array<Element>(
    _ bytes: UnsafeRawBufferPointer,
    _ decode: (UnsafeRawBufferPointer) throws(PostgresFailure) -> Element
  ) throws(PostgresFailure) -> [Element?] {
    var rest = bytes
    let dimensions = try number(&rest)
    // Whether it has nulls, and the type of its elements, are seen when they are read.
    _ = try number(&rest)
    _ = try number(&rest)
    guard dimensions != 0 else { return [] }
    let count = Int(try number(&rest))
    _ = try number(&rest)
    // Each element has at least its length, so the count cannot ask for more than there is.
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
    PostgresFailure(.protocolViolation, "a value of the answer is not of the type expected")
  }
}
