/// An immutable JSON text. The whole text is validated on creation; values are decoded on demand.
package final class JSONDocument: Sendable {
  package let bytes: [UInt8]
  package let nodes: ContiguousArray<JSONNode>
  /// An index of the names of the outermost object. Nil unless that object has many members.
  private let names: JSONNameTable?

  /// - Parameters:
  ///   - lengthLimit: in bytes; less than 2 GiB.
  ///   - valueLimit: of objects, arrays and all other values, names not counted. What is longer is
  ///     refused when it is reached, so that a text of tiny values costs no more than this many.
  /// - Throws: ``JSONError`` when the text breaks a rule of ``JSONParser``.
  package init(
    _ bytes: [UInt8], lengthLimit: Int = JSONLimits.length, valueLimit: Int = .max
  ) throws(JSONError) {
    self.bytes = bytes
    (nodes, names) = try bytes.withUnsafeBufferPointer { (buffer) throws(JSONError) in
      try JSONParser.nodes(of: buffer, lengthLimit: lengthLimit, valueLimit: valueLimit)
    }
  }

  /// The node index of a member's value.
  ///
  /// - Parameter object: the node index of the object.
  /// - Returns: nil when the object has no member of that name.
  package func value(of name: StaticString, inObjectAt object: Int) -> Int? {
    let wanted = UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
    let hash = JSONName.hash(of: wanted)
    if object == 0, let names {
      let name = names.name(hash: hash) { isName($0, wanted, hash) }
      return name.map { $0 + 1 }
    }
    let end = Int(nodes[object].next)
    var index = object + 1
    while index < end {
      if isName(index, wanted, hash) { return index + 1 }
      index = Int(nodes[index + 1].next)
    }
    return nil
  }

  private func isName(
    _ index: Int, _ wanted: UnsafeBufferPointer<UInt8>, _ hash: UInt32
  ) -> Bool {
    let node = nodes[index]
    return node.hash == hash
      && bytes.withUnsafeBufferPointer { JSONText.matches(node, wanted, in: $0) }
  }

  /// Whether a string contains a NUL character. Only an escape can encode one.
  package func containsNUL(stringAt index: Int) -> Bool {
    nodes[index].hasEscapes && content(ofStringAt: index).contains(0)
  }

  /// The unescaped content of a string, in UTF-8.
  package func content(ofStringAt index: Int) -> [UInt8] {
    bytes.withUnsafeBufferPointer { JSONText.content(of: nodes[index], in: $0) }
  }

  /// The unescaped content of a string.
  package func text(ofStringAt index: Int) -> String {
    let node = nodes[index]
    if node.hasEscapes { return String(decoding: content(ofStringAt: index), as: UTF8.self) }
    return bytes.withUnsafeBufferPointer { buffer in
      String(decoding: buffer[Int(node.start)..<Int(node.end)], as: UTF8.self)
    }
  }
}

extension JSONDocument {
  /// The text with one member or element on each line, indented by two spaces a level. Names,
  /// strings and numbers are copied unchanged: nothing is reordered or rounded.
  package func indented() -> String {
    var output: [UInt8] = []
    output.reserveCapacity(bytes.count * 2)
    append(valueAt: 0, level: 0, to: &output)
    return String(decoding: output, as: UTF8.self)
  }

  // JSONLimits.depth bounds the recursion.
  private func append(valueAt index: Int, level: Int, to output: inout [UInt8]) {
    let node = nodes[index]
    switch node.kind {
    case .object: appendMembers(ofObjectAt: index, level: level, to: &output)
    case .array: appendElements(ofArrayAt: index, level: level, to: &output)
    case .string: appendString(node, to: &output)
    default: output.append(contentsOf: bytes[Int(node.start)..<Int(node.end)])
    }
  }

  private func appendMembers(ofObjectAt index: Int, level: Int, to output: inout [UInt8]) {
    let end = Int(nodes[index].next)
    output.append(UInt8(ascii: "{"))
    var name = index + 1
    while name < end {
      if name > index + 1 { output.append(UInt8(ascii: ",")) }
      appendLine(level: level + 1, to: &output)
      appendString(nodes[name], to: &output)
      output.append(contentsOf: [UInt8(ascii: ":"), UInt8(ascii: " ")])
      append(valueAt: name + 1, level: level + 1, to: &output)
      name = Int(nodes[name + 1].next)
    }
    if end > index + 1 { appendLine(level: level, to: &output) }
    output.append(UInt8(ascii: "}"))
  }

  private func appendElements(ofArrayAt index: Int, level: Int, to output: inout [UInt8]) {
    let end = Int(nodes[index].next)
    output.append(UInt8(ascii: "["))
    var element = index + 1
    while element < end {
      if element > index + 1 { output.append(UInt8(ascii: ",")) }
      appendLine(level: level + 1, to: &output)
      append(valueAt: element, level: level + 1, to: &output)
      element = Int(nodes[element].next)
    }
    if end > index + 1 { appendLine(level: level, to: &output) }
    output.append(UInt8(ascii: "]"))
  }

  private func appendString(_ node: JSONNode, to output: inout [UInt8]) {
    // The node's range excludes the quotes.
    output.append(contentsOf: bytes[Int(node.start) - 1..<Int(node.end) + 1])
  }

  private func appendLine(level: Int, to output: inout [UInt8]) {
    output.append(UInt8(ascii: "\n"))
    output.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * level))
  }
}

/// The reason why a JSON text was refused. Messages contain byte positions and never values.
package struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
  package enum Code: String, Hashable, Sendable {
    /// The bytes are not JSON (RFC 8259), or further bytes follow the value.
    case malformedJSON
    /// A string is not valid UTF-8, or contains a lone surrogate.
    case invalidText
    /// A name occurs twice in one object. JSON readers disagree about which value counts.
    case duplicateName
    /// The nesting exceeds ``JSONLimits/depth``.
    case tooDeep
    /// The text exceeds ``JSONLimits/length`` or a limit that the caller set.
    case tooLarge
  }

  package let code: Code
  package let message: String

  package init(_ code: Code, _ message: String) {
    self.code = code
    self.message = message
  }

  package var description: String { "\(code.rawValue): \(message)" }
}

/// Limits of accepted JSON texts. They are far above anything that the App Store signs.
package enum JSONLimits {
  /// In bytes. A notification with both of its inner payloads has about 20 kB.
  package static let length = 1_048_576
  /// Levels of nested objects and arrays. Apple uses four. The parser recurses once for each level.
  package static let depth = 64
  /// Up to this number of members, duplicate names are found by comparing all pairs. For few
  /// members that is faster than a table; for many, its quadratic cost would be a risk.
  static let pairwiseComparedMembers = 8
}
