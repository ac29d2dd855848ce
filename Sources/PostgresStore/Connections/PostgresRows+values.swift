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
