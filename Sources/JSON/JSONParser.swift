/// Validates one JSON text (RFC 8259) in one pass and records its nodes.
///
/// It is stricter than the RFC: it refuses duplicate names and lone surrogates, and limits depth
/// and length.
struct JSONParser {
  let bytes: UnsafeBufferPointer<UInt8>
  private let valueLimit: Int
  private var values = 0
  var position = 0
  private(set) var nodes: ContiguousArray<JSONNode> = []
  /// The names of the object that ended last. Nil unless that object has many members.
  private var names: JSONNameTable?

  init(_ bytes: UnsafeBufferPointer<UInt8>, valueLimit: Int = .max) {
    self.bytes = bytes
    self.valueLimit = valueLimit
  }

  /// - Returns: the nodes, and the names of the outermost object if it has many members.
  /// - Throws: ``JSONError``.
  static func nodes(
    of bytes: UnsafeBufferPointer<UInt8>, lengthLimit: Int, valueLimit: Int
  ) throws(JSONError) -> (ContiguousArray<JSONNode>, names: JSONNameTable?) {
    guard bytes.count <= lengthLimit else {
      throw JSONError(.tooLarge, "more than \(lengthLimit) bytes")
    }
    var parser = JSONParser(bytes, valueLimit: valueLimit)
    // Transactions have about one node for every 16 bytes.
    parser.nodes.reserveCapacity(16 + bytes.count / 16)
    parser.skipWhiteSpace()
    try parser.readValue(depth: 0)
    parser.skipWhiteSpace()
    guard parser.position == bytes.count else { throw parser.malformed("bytes follow the value") }
    // The outermost object ends last.
    return (parser.nodes, parser.nodes[0].kind == .object ? parser.names : nil)
  }

  private mutating func readValue(depth: Int) throws(JSONError) {
    guard position < bytes.count else { throw malformed("the text ends early") }
    values += 1
    guard values <= valueLimit else {
      throw JSONError(.tooLarge, "more than \(valueLimit) values, at byte \(position)")
    }
    switch bytes[position] {
    case UInt8(ascii: "{"): try readObject(depth: depth + 1)
    case UInt8(ascii: "["): try readArray(depth: depth + 1)
    case UInt8(ascii: "\""): nodes.append(try readString(isName: false))
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): try readNumber()
    case UInt8(ascii: "t"): try readLiteral("true", .trueLiteral)
    case UInt8(ascii: "f"): try readLiteral("false", .falseLiteral)
    case UInt8(ascii: "n"): try readLiteral("null", .nullLiteral)
    default: throw malformed("a value is missing")
    }
  }

  private mutating func readObject(depth: Int) throws(JSONError) {
    let index = try open(.object, depth: depth)
    var members = 0
    if !skip(UInt8(ascii: "}")) {
      repeat {
        skipWhiteSpace()
        guard position < bytes.count, bytes[position] == UInt8(ascii: "\"") else {
          throw malformed("a name is missing")
        }
        nodes.append(try readString(isName: true))
        guard skip(UInt8(ascii: ":")) else { throw malformed("a colon is missing") }
        skipWhiteSpace()
        try readValue(depth: depth)
        members += 1
      } while skip(UInt8(ascii: ","))
      guard skip(UInt8(ascii: "}")) else { throw malformed("an object does not end") }
    }
    close(index)
    try refuseDuplicates(ofObjectAt: index, members: members)
  }

  private mutating func readArray(depth: Int) throws(JSONError) {
    let index = try open(.array, depth: depth)
    if !skip(UInt8(ascii: "]")) {
      repeat {
        skipWhiteSpace()
        try readValue(depth: depth)
      } while skip(UInt8(ascii: ","))
      guard skip(UInt8(ascii: "]")) else { throw malformed("an array does not end") }
    }
    close(index)
  }

  private mutating func open(_ kind: JSONNode.Kind, depth: Int) throws(JSONError) -> Int {
    guard depth <= JSONLimits.depth else {
      throw JSONError(.tooDeep, "nested deeper than \(JSONLimits.depth) at byte \(position)")
    }
    nodes.append(node(kind, start: position, end: position))
    position += 1
    return nodes.count - 1
  }

  private mutating func close(_ index: Int) {
    nodes[index].end = Int32(position)
    nodes[index].next = Int32(nodes.count)
  }

  // The length limit bounds offsets and indices, so they fit 32 bits.
  func node(
    _ kind: JSONNode.Kind, start: Int, end: Int, hasEscapes: Bool = false, hash: UInt32 = 0
  ) -> JSONNode {
    JSONNode(
      kind: kind, hasEscapes: hasEscapes, start: Int32(start), end: Int32(end),
      next: Int32(nodes.count + 1), hash: hash)
  }

  private mutating func readLiteral(
    _ text: StaticString, _ kind: JSONNode.Kind
  ) throws(JSONError) {
    let end = position + text.utf8CodeUnitCount
    guard end <= bytes.count,
      bytes[position..<end].elementsEqual(
        UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    else { throw malformed("a literal is misspelled") }
    nodes.append(node(kind, start: position, end: end))
    position = end
  }

  private mutating func readNumber() throws(JSONError) {
    let start = position
    if bytes[position] == UInt8(ascii: "-") { position += 1 }
    let integerStart = position
    let integerDigits = skipDigits()
    guard integerDigits > 0 else { throw malformed("a number has no digits") }
    guard integerDigits == 1 || bytes[integerStart] != UInt8(ascii: "0") else {
      throw malformed("a number begins with zero")
    }
    if position < bytes.count, bytes[position] == UInt8(ascii: ".") {
      position += 1
      guard skipDigits() > 0 else { throw malformed("a fraction has no digits") }
    }
    if position < bytes.count, bytes[position] | 0x20 == UInt8(ascii: "e") {
      position += 1
      if position < bytes.count,
        bytes[position] == UInt8(ascii: "+") || bytes[position] == UInt8(ascii: "-")
      {
        position += 1
      }
      guard skipDigits() > 0 else { throw malformed("an exponent has no digits") }
    }
    nodes.append(node(.number, start: start, end: position))
  }

  private mutating func skipDigits() -> Int {
    let start = position
    while position < bytes.count, bytes[position] &- UInt8(ascii: "0") < 10 { position += 1 }
    return position - start
  }

  /// Skips white space, and then `byte` if it is next.
  ///
  /// - Returns: whether `byte` was next.
  private mutating func skip(_ byte: UInt8) -> Bool {
    skipWhiteSpace()
    guard position < bytes.count, bytes[position] == byte else { return false }
    position += 1
    return true
  }

  private mutating func skipWhiteSpace() {
    while position < bytes.count {
      switch bytes[position] {
      case 0x20, 0x0A, 0x0D, 0x09: position += 1
      default: return
      }
    }
  }

  private mutating func refuseDuplicates(
    ofObjectAt index: Int, members: Int
  ) throws(JSONError) {
    names = nil
    guard members > 1 else { return }
    guard members <= JSONLimits.pairwiseComparedMembers else {
      return try refuseDuplicates(ofLargeObjectAt: index, members: members)
    }
    let end = Int(nodes[index].next)
    var name = index + 1
    while name < end {
      var earlier = index + 1
      while earlier < name {
        if nodes[earlier].hash == nodes[name].hash,
          JSONText.areEqual(nodes[earlier], nodes[name], in: bytes)
        {
          throw duplicate(name)
        }
        earlier = Int(nodes[earlier + 1].next)
      }
      name = Int(nodes[name + 1].next)
    }
  }

  private mutating func refuseDuplicates(
    ofLargeObjectAt index: Int, members: Int
  ) throws(JSONError) {
    var table = JSONNameTable(members: members)
    let end = Int(nodes[index].next)
    var name = index + 1
    while name < end {
      guard table.insert(name, of: nodes, in: bytes) else { throw duplicate(name) }
      name = Int(nodes[name + 1].next)
    }
    names = table
  }

  private func duplicate(_ name: Int) -> JSONError {
    JSONError(
      .duplicateName, "a name occurs twice in one object, again at byte \(nodes[name].start)")
  }

  func malformed(_ reason: String) -> JSONError {
    JSONError(.malformedJSON, "not JSON: \(reason), at byte \(position)")
  }
}
