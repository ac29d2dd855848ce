/// Writes one JSON object without white space. Fields are in the order of the calls, so the same
/// calls give the same bytes. A nil value leaves its field out.
package struct JSONObjectWriter: Sendable {
  private var contents: [UInt8] = []

  package init() {}

  /// The object with the fields set so far, in UTF-8.
  package var bytes: [UInt8] { [UInt8(ascii: "{")] + contents + [UInt8(ascii: "}")] }

  package var text: String { String(decoding: bytes, as: UTF8.self) }

  package mutating func set(_ name: String, _ value: String?) {
    guard let value else { return }
    begin(name)
    append(quoted: value)
  }

  package mutating func set(_ name: String, _ value: Int64?) {
    guard let value else { return }
    begin(name)
    contents += String(value).utf8
  }

  /// A number by its text.
  package mutating func set(_ name: String, number text: String) {
    begin(name)
    contents += text.utf8
  }

  package mutating func set(_ name: String, _ value: Bool?) {
    guard let value else { return }
    begin(name)
    contents += (value ? "true" : "false").utf8
  }

  /// An empty list leaves the field out, as the App Store does.
  package mutating func set(_ name: String, _ values: [String]) {
    guard !values.isEmpty else { return }
    begin(name)
    contents.append(UInt8(ascii: "["))
    for (index, value) in values.enumerated() {
      if index > 0 { contents.append(UInt8(ascii: ",")) }
      append(quoted: value)
    }
    contents.append(UInt8(ascii: "]"))
  }

  /// An empty list is written as `[]`.
  package mutating func set(_ name: String, texts values: [String]) {
    guard values.isEmpty else { return set(name, values) }
    begin(name)
    contents += "[]".utf8
  }

  package mutating func set(_ name: String, _ value: JSONObjectWriter?) {
    guard let value else { return }
    begin(name)
    contents += value.bytes
  }

  /// An empty list is written as `[]`.
  package mutating func set(_ name: String, objects values: [JSONObjectWriter]) {
    begin(name)
    contents.append(UInt8(ascii: "["))
    for (index, value) in values.enumerated() {
      if index > 0 { contents.append(UInt8(ascii: ",")) }
      contents += value.bytes
    }
    contents.append(UInt8(ascii: "]"))
  }

  private mutating func begin(_ name: String) {
    if !contents.isEmpty { contents.append(UInt8(ascii: ",")) }
    append(quoted: name)
    contents.append(UInt8(ascii: ":"))
  }

  /// RFC 8259 §7: only the quotation mark, the backslash and control characters must be escaped.
  private mutating func append(quoted text: String) {
    contents.append(UInt8(ascii: "\""))
    defer { contents.append(UInt8(ascii: "\"")) }
    // Most texts are signed payloads of kilobytes.
    let isPlain = text.utf8.allSatisfy {
      $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
    }
    if isPlain {
      contents += text.utf8
      return
    }
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        contents += [UInt8(ascii: "\\"), byte]
      case 0..<0x20:
        let digits = Array("0123456789abcdef".utf8)
        contents += "\\u00".utf8
        contents += [digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      default:
        contents.append(byte)
      }
    }
  }
}
