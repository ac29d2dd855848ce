/// A JSON text that was checked as a whole; its values are read on demand. Immutable.
package final class JSONDocument: Sendable {
  package let bytes: [UInt8]
  package let nodes: ContiguousArray<JSONNode>
  /// Of the whole, where it is an object with many members.
  private let names: JSONNameTable?

  /// - Parameter lengthLimit: bytes; under 2 GiB.
  /// - Throws: ``PayloadError`` about the text, by ``JSONParser``'s rules.
  package init(_ bytes: [UInt8], lengthLimit: Int = JSONLimits.length) throws(PayloadError) {
    self.bytes = bytes
    (nodes, names) = try bytes.withUnsafeBufferPointer { (buffer) throws(PayloadError) in
      try JSONParser.nodes(of: buffer, lengthLimit: lengthLimit)
    }
  }

  /// The fields of the whole.
  ///
  /// - Throws: ``PayloadError/Code/notAnObject``.
  package func fields() throws(PayloadError) -> PayloadFields {
    guard nodes[0].kind == .object else {
      throw PayloadError(.notAnObject, "the JSON is not an object")
    }
    return PayloadFields(document: self, node: 0)
  }

  /// The index of the value of a member of the object at `object`; nil when there is none.
  func value(of name: StaticString, inObjectAt object: Int) -> Int? {
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

  /// Whether a string holds a NUL, which only an escape can spell.
  func holdsNUL(stringAt index: Int) -> Bool {
    nodes[index].hasEscapes && content(ofStringAt: index).contains(0)
  }

  /// What a string reads, in UTF-8.
  package func content(ofStringAt index: Int) -> [UInt8] {
    bytes.withUnsafeBufferPointer { JSONText.content(of: nodes[index], in: $0) }
  }

  package func text(ofStringAt index: Int) -> String {
    let node = nodes[index]
    if node.hasEscapes { return String(decoding: content(ofStringAt: index), as: UTF8.self) }
    return bytes.withUnsafeBufferPointer { buffer in
      String(decoding: buffer[Int(node.start)..<Int(node.end)], as: UTF8.self)
    }
  }
}

extension JSONDocument {
  /// The same text, one member or element a line, two spaces a level. Names, strings and numbers
  /// stand as they came: nothing is interpreted, reordered or rounded.
  package func indented() -> String {
    var output: [UInt8] = []
    output.reserveCapacity(bytes.count * 2)
    append(valueAt: 0, level: 0, to: &output)
    return String(decoding: output, as: UTF8.self)
  }

  // Recursion is bounded by ``JSONLimits/depth``.
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
    // The quotes are just outside the node.
    output.append(contentsOf: bytes[Int(node.start) - 1..<Int(node.end) + 1])
  }

  private func appendLine(level: Int, to output: inout [UInt8]) {
    output.append(UInt8(ascii: "\n"))
    output.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * level))
  }
}
