import CPostgres

/// A command with its values in the binary format, as libpq takes them. Encoding is done by the
/// caller, not on the thread that serves all.
struct EncodedCommand: Sendable {
  /// Of all values of a command together. The server's own limit of a message is 1 GiB.
  static let maximumBytes = 256 << 20

  struct Parameter: Sendable {
    var type: Oid
    var offset: Int
    /// Negative: null.
    var length: Int32
  }

  let statement: PostgresStatement
  let parameters: [Parameter]
  /// The values one after another, and one byte more so that it is never empty.
  private let bytes: [UInt8]

  /// - Throws: ``PostgresFailure/Kind/protocolViolation`` when it is larger than
  ///   ``maximumBytes``.
  init(_ command: PostgresCommand) throws(PostgresFailure) {
    var encoder = ValueEncoder()
    var parameters: [Parameter] = []
    parameters.reserveCapacity(command.values.count)
    for value in command.values {
      let offset = encoder.bytes.count
      let type = encoder.append(value)
      let length = encoder.bytes.count - offset
      guard encoder.bytes.count <= Self.maximumBytes else {
        throw PostgresFailure(.protocolViolation, "a command's values are too large")
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
  /// - Returns: false when libpq refused; its connection then says why.
  func send(on connection: OpaquePointer) -> Bool {
    let count = parameters.count
    return bytes.withUnsafeBytes { bytes in
      withUnsafeTemporaryAllocation(of: UnsafePointer<CChar>?.self, capacity: count) { values in
        withUnsafeTemporaryAllocation(of: CInt.self, capacity: 2 * count) { numbers in
          for (index, parameter) in parameters.enumerated() {
            // The buffer is never empty, so each value has an address, also an empty one.
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

  /// Queues the preparation of the statement for parameters of these types.
  ///
  /// - Returns: false when libpq refused; its connection then says why.
  func prepare(on connection: OpaquePointer) -> Bool {
    PQsendPrepare(
      connection, statement.name, statement.sql, CInt(parameters.count), parameters.map(\.type))
      == 1
  }
}
