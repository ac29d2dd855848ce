/// Rows in the text format of PostgreSQL's COPY, written column by column.
struct CopyText {
  private(set) var bytes: [UInt8] = []
  private var isRowBegun = false

  static let endOfData: [UInt8] = Array("\\.\n".utf8)
  private static let digits = Array("0123456789abcdef".utf8)

  mutating func addNull() {
    beginColumn()
    bytes += [UInt8(ascii: "\\"), UInt8(ascii: "N")]
  }

  mutating func add(_ number: Int64) {
    beginColumn()
    bytes += String(number).utf8
  }

  /// Nil is written as NULL.
  mutating func add(_ number: Int64?) {
    guard let number else { return addNull() }
    add(number)
  }

  mutating func add(_ flag: Bool) {
    beginColumn()
    bytes.append(UInt8(ascii: flag ? "t" : "f"))
  }

  /// Nil is written as NULL.
  mutating func add(_ text: String?) {
    guard let text else { return addNull() }
    beginColumn()
    for byte in text.utf8 { append(escaping: byte) }
  }

  /// Adds a bytea value in the shorter of its two formats, hex or escape. Nil is written as NULL.
  mutating func add(bytes value: [UInt8]?) {
    guard let value else { return addNull() }
    beginColumn()
    // In the escape format, printable ASCII except the backslash represents itself.
    if !value.isEmpty, value.allSatisfy({ (0x20..<0x7f).contains($0) && $0 != 0x5c }) {
      bytes += value
      return
    }
    // COPY removes one backslash, so that the bytea input is `\x…`.
    bytes += [UInt8(ascii: "\\"), UInt8(ascii: "\\"), UInt8(ascii: "x")]
    for byte in value { bytes += [Self.digits[Int(byte >> 4)], Self.digits[Int(byte & 15)]] }
  }

  mutating func endRow() {
    bytes.append(UInt8(ascii: "\n"))
    isRowBegun = false
  }

  /// Keeps the allocated memory.
  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    isRowBegun = false
  }

  private mutating func beginColumn() {
    if isRowBegun { bytes.append(UInt8(ascii: "\t")) }
    isRowBegun = true
  }

  private mutating func append(escaping byte: UInt8) {
    switch byte {
    case UInt8(ascii: "\\"): bytes += [byte, byte]
    case UInt8(ascii: "\n"): bytes += [UInt8(ascii: "\\"), UInt8(ascii: "n")]
    case UInt8(ascii: "\r"): bytes += [UInt8(ascii: "\\"), UInt8(ascii: "r")]
    case UInt8(ascii: "\t"): bytes += [UInt8(ascii: "\\"), UInt8(ascii: "t")]
    default: bytes.append(byte)
    }
  }
}
