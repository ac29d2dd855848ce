/// Header fields for the collector, such as its credentials, from a file: a line `NAME: VALUE` for each.
/// Empty lines, and lines that begin with `#`, are skipped. Its values are secrets, and no error has any.
package struct CollectorHeaders: Sendable {
  let fields: [(name: String, value: String)]

  package struct Invalid: Error, CustomStringConvertible {
    package let description: String
  }

  /// Bytes of the file.
  package static let maximumLength = 16_384
  private static let maximumCount = 32
  /// What the exporter sets itself, and what HTTP needs.
  private static let reserved: Set = [
    "host", "content-type", "content-length", "content-encoding", "transfer-encoding", "connection",
    "accept", "accept-encoding", "expect", "upgrade", "te",
  ]

  package init() {
    fields = []
  }

  /// - Throws: ``Invalid``.
  package init(parsing bytes: [UInt8]) throws(Invalid) {
    guard bytes.count <= Self.maximumLength else {
      throw Invalid(description: "it is longer than \(Self.maximumLength) bytes")
    }
    var fields: [(name: String, value: String)] = []
    for (index, line) in bytes.split(separator: 10, omittingEmptySubsequences: false).enumerated() {
      let line = Self.trimmed(line)
      if line.isEmpty || line.first == UInt8(ascii: "#") { continue }
      let name = line.prefix { $0 != UInt8(ascii: ":") }
      let value = Self.trimmed(line.dropFirst(name.count + 1))
      guard !name.isEmpty, name.count < line.count, name.allSatisfy(Self.isToken), !value.isEmpty,
        value.allSatisfy({ (0x20...0x7e).contains($0) })
      else { throw Invalid(description: "line \(index + 1): NAME: VALUE is expected") }
      let field = String(decoding: name, as: UTF8.self).lowercased()
      guard !Self.reserved.contains(field) else {
        throw Invalid(description: "line \(index + 1): this field cannot be set")
      }
      fields.append((field, String(decoding: value, as: UTF8.self)))
    }
    guard fields.count <= Self.maximumCount else {
      throw Invalid(description: "it has more than \(Self.maximumCount) fields")
    }
    self.fields = fields
  }

  private static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
    let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0d }
    let start = bytes.drop(while: isSpace)
    return start.prefix(start.count - start.reversed().prefix(while: isSpace).count)
  }

  /// RFC 9110 section 5.6.2.
  private static func isToken(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }
}
