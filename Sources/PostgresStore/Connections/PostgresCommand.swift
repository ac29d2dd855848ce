import CPostgres

/// One execution of a statement. `BEGIN` and `COMMIT` are statements too.
struct PostgresCommand: Sendable {
  var statement: PostgresStatement
  var values: [PostgresValue]

  init(_ statement: PostgresStatement, _ values: [PostgresValue] = []) {
    self.statement = statement
    self.values = values
  }
}

/// A statement of this program. Each connection prepares it at its first use.
///
/// The types of its parameters are those of the first bound values. A parameter that may be null,
/// or whose type is not one of ``PostgresValue``'s, needs a cast in the text (`$1::bigint`), so
/// that its type does not depend on the first values.
struct PostgresStatement: Sendable {
  /// Unique among all statements of the program. The server knows the prepared statement by it.
  let name: String
  let sql: String

  /// - Parameter name: at most 63 bytes, because the server truncates longer names.
  init(_ sql: String, name: String) {
    precondition(!name.isEmpty && name.utf8.count < 64)
    self.name = name
    self.sql = sql
  }
}

extension PostgresStatement: Hashable {
  /// Compares names only: names are unique, and texts are long.
  static func == (left: PostgresStatement, right: PostgresStatement) -> Bool {
    left.name == right.name
  }

  func hash(into hasher: inout Hasher) { hasher.combine(name) }
}

/// A parameter of a statement, sent in the binary format of its type.
enum PostgresValue: Sendable {
  /// Of any type. The statement text must give the type (see ``PostgresStatement``).
  case null
  case int64(Int64)
  case bool(Bool)
  /// UTF-8 without NUL; the server refuses a NUL with SQLSTATE 22021.
  case text(String)
  case bytes([UInt8])
  case int64s([Int64?])
  case bools([Bool?])
  case texts([String?])
  case byteStrings([[UInt8]?])
}

/// Object identifiers of the parameter types, which are the same in every database (`pg_type.dat`
/// of PostgreSQL).
enum PostgresType {
  /// The server infers the type from the statement.
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

/// A command with its values encoded in the binary format for libpq. The caller encodes it, so that
/// the pool's thread does not have to.
struct EncodedCommand: Sendable {
  /// Limit of all values of a command together. The server limits a message to 1 GiB.
  static let maximumBytes = 256 << 20

  struct Parameter: Sendable {
    var type: Oid
    var offset: Int
    /// Negative for null.
    var length: Int32
  }

  let statement: PostgresStatement
  let parameters: [Parameter]
  /// All values in sequence, and a last byte that keeps the array from being empty.
  private let bytes: [UInt8]

  /// - Throws: ``PostgresFailure/Kind/protocolViolation`` above ``maximumBytes``.
  init(_ command: PostgresCommand) throws(PostgresFailure) {
    var encoder = ValueEncoder()
    var parameters: [Parameter] = []
    parameters.reserveCapacity(command.values.count)
    for value in command.values {
      let offset = encoder.bytes.count
      let type = encoder.append(value)
      let length = encoder.bytes.count - offset
      guard encoder.bytes.count <= Self.maximumBytes else {
        throw PostgresFailure(.protocolViolation, "the values of a command are too large")
      }
      if case .null = value {
        parameters.append(Parameter(type: type, offset: offset, length: -1))
      } else {
        parameters.append(Parameter(type: type, offset: offset, length: Int32(length)))
      }
    }
    encoder.bytes.append(0)
    statement = command.statement
    self.parameters = parameters
    bytes = encoder.bytes
  }

  /// Queues the execution in libpq's pipeline.
  ///
  /// - Returns: false on failure; the connection then has the reason.
  func send(on connection: OpaquePointer) -> Bool {
    let count = parameters.count
    return bytes.withUnsafeBytes { bytes in
      withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: count) { values in
        withUnsafeTemporaryAllocation(of: CInt.self, capacity: 2 * count) { numbers in
          for (index, parameter) in parameters.enumerated() {
            // The buffer is never empty, so an empty value has an address too.
            let start = bytes.baseAddress?.advanced(by: parameter.offset)
            values.initializeElement(
              at: index,
              to: parameter.length < 0 ? nil : start?.assumingMemoryBound(to: CChar.self))
            numbers.initializeElement(at: index, to: max(parameter.length, 0))
            numbers.initializeElement(at: count + index, to: 1)
          }
          let formats = numbers.baseAddress?.advanced(by: count)
          return PQsendQueryPrepared(
            connection, statement.name, CInt(count), values.baseAddress, numbers.baseAddress,
            formats, 1) == 1
        }
      }
    }
  }

  /// Queues the preparation of the statement, with the types of these parameters.
  ///
  /// - Returns: false on failure; the connection then has the reason.
  func prepare(on connection: OpaquePointer) -> Bool {
    PQsendPrepare(
      connection, statement.name, statement.sql, CInt(parameters.count), parameters.map(\.type))
      == 1
  }
}

/// Encodes values like PostgreSQL's `*send` functions (`array_send` in `arrayfuncs.c` for arrays):
/// numbers in network byte order, arrays with dimension, element type and elements.
struct ValueEncoder {
  var bytes: [UInt8] = []

  /// - Returns: the type of the value.
  mutating func append(_ value: PostgresValue) -> Oid {
    switch value {
    case .null:
      return PostgresType.unspecified
    case .int64(let number):
      append(bigEndian: number)
      return PostgresType.int64
    case .bool(let flag):
      bytes.append(flag ? 1 : 0)
      return PostgresType.bool
    case .text(let text):
      bytes.append(contentsOf: text.utf8)
      return PostgresType.text
    case .bytes(let contents):
      bytes.append(contentsOf: contents)
      return PostgresType.bytes
    case .int64s(let numbers):
      append(numbers, of: PostgresType.int64) { $0.append(bigEndian: $1) }
      return PostgresType.int64s
    case .bools(let flags):
      append(flags, of: PostgresType.bool) { $0.bytes.append($1 ? 1 : 0) }
      return PostgresType.bools
    case .texts(let texts):
      append(texts, of: PostgresType.text) { $0.bytes.append(contentsOf: $1.utf8) }
      return PostgresType.texts
    case .byteStrings(let contents):
      append(contents, of: PostgresType.bytes) { $0.bytes.append(contentsOf: $1) }
      return PostgresType.byteStrings
    }
  }

  private mutating func append<Element>(
    _ elements: [Element?], of type: Oid, _ append: (inout ValueEncoder, Element) -> Void
  ) {
    // An empty array has no dimensions.
    self.append(bigEndian: elements.isEmpty ? 0 : 1 as Int32)
    self.append(bigEndian: elements.contains { $0 == nil } ? 1 : 0 as Int32)
    self.append(bigEndian: type)
    guard !elements.isEmpty else { return }
    self.append(bigEndian: Int32(truncatingIfNeeded: elements.count))
    // The lower bound is 1, as in `ARRAY[…]`.
    self.append(bigEndian: 1 as Int32)
    for element in elements {
      let start = bytes.count
      self.append(bigEndian: -1 as Int32)
      guard let element else { continue }
      append(&self, element)
      let length = bytes.count - start - 4
      withUnsafeBytes(of: UInt32(truncatingIfNeeded: length).bigEndian) { encoded in
        for (index, byte) in encoded.enumerated() { bytes[start + index] = byte }
      }
    }
  }

  private mutating func append<Number: FixedWidthInteger>(bigEndian number: Number) {
    withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
  }
}
