import CPostgres

/// Writes values as PostgreSQL's `*send` functions would (`array_send` in `arrayfuncs.c` for
/// arrays): numbers in network order, arrays with their dimension, element type and elements.
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
    // An empty array has no dimension at all.
    self.append(bigEndian: elements.isEmpty ? 0 : 1 as Int32)
    self.append(bigEndian: elements.contains { $0 == nil } ? 1 : 0 as Int32)
    self.append(bigEndian: type)
    guard !elements.isEmpty else { return }
    self.append(bigEndian: Int32(truncatingIfNeeded: elements.count))
    // Indexes count from one, as those of `ARRAY[…]` do.
    self.append(bigEndian: 1 as Int32)
    for element in elements {
      let place = bytes.count
      self.append(bigEndian: -1 as Int32)
      guard let element else { continue }
      append(&self, element)
      let length = bytes.count - place - 4
      withUnsafeBytes(of: UInt32(truncatingIfNeeded: length).bigEndian) { encoded in
        for (index, byte) in encoded.enumerated() { bytes[place + index] = byte }
      }
    }
  }

  private mutating func append<Number: FixedWidthInteger>(bigEndian number: Number) {
    withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
  }
}
