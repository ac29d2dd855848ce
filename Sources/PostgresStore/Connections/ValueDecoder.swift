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
