import EntitlementStore

/// A violation by a store, with its place in the suite.
package struct ConformanceFailure: Error, CustomStringConvertible {
  package let description: String

  init(_ message: String, file: StaticString, line: UInt) {
    description = "\(file):\(line): \(message)"
  }
}

func expect(
  _ condition: Bool, _ message: @autoclosure () -> String, file: StaticString = #fileID,
  line: UInt = #line
) throws {
  if !condition { throw ConformanceFailure(message(), file: file, line: line) }
}

func expectEqual<Value: Equatable>(
  _ value: Value, _ expected: Value, _ what: @autoclosure () -> String = "value",
  file: StaticString = #fileID, line: UInt = #line
) throws {
  try expect(
    value == expected, "\(what()) is \(value), expected \(expected)", file: file, line: line)
}

func unwrap<Value>(
  _ value: Value?, _ what: @autoclosure () -> String, file: StaticString = #fileID,
  line: UInt = #line
) throws -> Value {
  guard let value else {
    throw ConformanceFailure("\(what()) is missing", file: file, line: line)
  }
  return value
}

/// Expects `body` to throw a `StoreError` with a certain code.
func expectError(
  _ code: StoreError.Code, file: StaticString = #fileID, line: UInt = #line,
  _ body: () async throws -> Void
) async throws {
  do {
    try await body()
  } catch let error as StoreError {
    try expectEqual(error.code.rawValue, code.rawValue, "error code", file: file, line: line)
    return
  }
  throw ConformanceFailure("no error, expected \(code.rawValue)", file: file, line: line)
}
