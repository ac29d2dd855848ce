/// DER as a tree. The reader shares no code with the writer that it checks.
struct DERTree: Equatable {
  let tag: UInt8
  /// Without the header.
  let contents: [UInt8]
  /// Those inside a constructed element.
  let children: [DERTree]
  /// With the header, in bytes.
  let length: Int

  struct Malformed: Error {}

  /// Reads one element that fills `bytes` exactly.
  init(_ bytes: [UInt8]) throws {
    let elements = try Self.elements(of: bytes[...])
    guard elements.count == 1 else { throw Malformed() }
    self = elements[0]
  }

  private init(tag: UInt8, contents: [UInt8], length: Int) throws {
    self.tag = tag
    self.contents = contents
    self.length = length
    children = tag & 0x20 == 0 ? [] : try Self.elements(of: contents[...])
  }

  private static func elements(of bytes: ArraySlice<UInt8>) throws -> [DERTree] {
    var rest = bytes
    var elements: [DERTree] = []
    while let tag = rest.popFirst() {
      let before = rest.count + 1
      guard let first = rest.popFirst() else { throw Malformed() }
      var count = Int(first)
      if first >= 0x80 {
        // Definite lengths only, and no longer than they have to be.
        guard (0x81...0x84).contains(first), rest.count >= Int(first & 0x7f), rest.first != 0
        else { throw Malformed() }
        count = rest.prefix(Int(first & 0x7f)).reduce(0) { $0 << 8 | Int($1) }
        rest = rest.dropFirst(Int(first & 0x7f))
        guard count >= 0x80 else { throw Malformed() }
      }
      guard rest.count >= count else { throw Malformed() }
      let contents = Array(rest.prefix(count))
      rest = rest.dropFirst(count)
      elements.append(try DERTree(tag: tag, contents: contents, length: before - rest.count))
    }
    return elements
  }

  /// The number of an INTEGER of up to eight bytes.
  var number: Int64? {
    guard tag == 0x02, let first = contents.first, contents.count <= 8 else { return nil }
    return contents.dropFirst().reduce(Int64(Int8(bitPattern: first))) { $0 << 8 | Int64($1) }
  }

  var text: String { String(decoding: contents, as: UTF8.self) }
}
