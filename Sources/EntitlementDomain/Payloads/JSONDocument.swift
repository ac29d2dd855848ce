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
