/// A JSON text that was checked as a whole; its values are read on demand. Immutable.
package final class JSONDocument: Sendable {
  let bytes: [UInt8]
  let nodes: ContiguousArray<JSONNode>

  /// - Throws: ``PayloadError`` about the text, by ``JSONParser``'s rules.
  package init(_ bytes: [UInt8]) throws(PayloadError) {
    self.bytes = bytes
    nodes = try bytes.withUnsafeBufferPointer { (buffer) throws(PayloadError) in
      try JSONParser.nodes(of: buffer)
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
    let end = Int(nodes[object].next)
    var index = object + 1
    while index < end {
      let node = nodes[index]
      if node.hash == hash,
        bytes.withUnsafeBufferPointer({ JSONText.matches(node, wanted, in: $0) })
      {
        return index + 1
      }
      index = Int(nodes[index + 1].next)
    }
    return nil
  }

  /// What a string reads, in UTF-8.
  func content(ofStringAt index: Int) -> [UInt8] {
    bytes.withUnsafeBufferPointer { JSONText.content(of: nodes[index], in: $0) }
  }

  func text(ofStringAt index: Int) -> String {
    let node = nodes[index]
    if node.hasEscapes { return String(decoding: content(ofStringAt: index), as: UTF8.self) }
    return bytes.withUnsafeBufferPointer { buffer in
      String(decoding: buffer[Int(node.start)..<Int(node.end)], as: UTF8.self)
    }
  }
}
