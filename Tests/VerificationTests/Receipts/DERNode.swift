/// A DER text as a tree, to be altered and written again with lengths that are right.
struct DERNode: Hashable {
  var tag: UInt8
  /// Of a primitive element.
  var value: [UInt8] = []
  /// Of a constructed element.
  var children: [DERNode] = []
  /// The element as it is to be written, instead of all of this.
  var raw: [UInt8]?

  /// - Parameter raw: an element, well formed or not.
  init(raw: [UInt8]) {
    tag = 0
    self.raw = raw
  }

  init(_ tag: UInt8, _ value: [UInt8]) {
    self.tag = tag
    self.value = value
  }

  init(_ tag: UInt8, _ children: [DERNode]) {
    self.tag = tag
    self.children = children
  }

  /// - Parameter der: one element that is well formed: a test's own.
  init(parsing der: [UInt8]) {
    var position = 0
    self = Self.next(der[...], &position)
  }

  var isConstructed: Bool { tag & 0x20 != 0 }

  var encoded: [UInt8] {
    if let raw { return raw }
    let contents = isConstructed ? children.flatMap(\.encoded) : value
    return [tag] + Self.length(contents.count) + contents
  }

  static func empty(_ tag: UInt8) -> DERNode { DERNode(tag, [UInt8]()) }

  static func integer(_ value: Int) -> DERNode {
    var bytes = withUnsafeBytes(of: value.bigEndian) { Array($0) }
    while bytes.count > 1, bytes[0] == (bytes[1] & 0x80 == 0 ? 0x00 : 0xFF) { bytes.removeFirst() }
    return DERNode(0x02, bytes)
  }

  static func utf8(_ text: String) -> DERNode { DERNode(0x0C, Array(text.utf8)) }
  static func ia5(_ text: String) -> DERNode { DERNode(0x16, Array(text.utf8)) }
  static func octets(_ value: [UInt8]) -> DERNode { DERNode(0x04, value) }

  static func length(_ count: Int) -> [UInt8] {
    guard count >= 0x80 else { return [UInt8(count)] }
    var bytes: [UInt8] = []
    var rest = count
    while rest > 0 {
      bytes.insert(UInt8(truncatingIfNeeded: rest), at: 0)
      rest >>= 8
    }
    return [0x80 | UInt8(bytes.count)] + bytes
  }

  private static func next(_ der: ArraySlice<UInt8>, _ position: inout Int) -> DERNode {
    let tag = der[position]
    var length = Int(der[position + 1])
    position += 2
    if length & 0x80 != 0 {
      let count = length & 0x7F
      length = der[position..<position + count].reduce(0) { $0 << 8 | Int($1) }
      position += count
    }
    let end = position + length
    guard tag & 0x20 != 0 else {
      defer { position = end }
      return DERNode(tag, Array(der[position..<end]))
    }
    var children: [DERNode] = []
    while position < end { children.append(next(der, &position)) }
    return DERNode(tag, children)
  }
}
