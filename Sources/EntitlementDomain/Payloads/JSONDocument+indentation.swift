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
