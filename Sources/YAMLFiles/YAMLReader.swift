/// Reads a YAML document into a tree whose nodes have positions.
///
/// Callers of the service can send catalogs too. Time and memory are therefore proportional to the
/// length of every text.
package enum YAMLReader {
  /// The largest nesting depth. Configuration files need less; the limit bounds recursion.
  package static let maximumDepth = 32

  /// Reads the one document of a text.
  ///
  /// - Returns: nil when the text has only white space and comments.
  /// - Throws: ``YAMLError`` with the first position at which the text is not YAML, or uses a
  ///   feature that is not supported.
  package static func document(in text: String) throws(YAMLError) -> YAMLNode? {
    try refuseTagDirectives(in: text)
    var events = try YAMLEventReader(text)
    _ = try events.next()
    guard case .documentStart = try events.next().content else { return nil }
    let root = try node(from: try events.next(), in: &events, depth: 1)
    _ = try events.next()
    let end = try events.next()
    guard case .streamEnd = end.content else {
      throw YAMLError(position: end.position, message: "another document; only one is allowed")
    }
    return root.scalar?.isEmpty == true ? nil : root
  }

  /// libyaml compares each tag directive with all earlier ones: one megabyte of them takes a
  /// minute.
  private static func refuseTagDirectives(in text: String) throws(YAMLError) {
    guard let found = text.utf8.firstRange(of: "%TAG".utf8) else { return }
    let offset = text.utf8.distance(from: text.startIndex, to: found.lowerBound)
    throw YAMLError(
      position: YAMLPosition(ofByte: offset, in: text.utf8),
      message: "%TAG is not supported, also in comments")
  }

  /// Reads the node that begins with `event`. Tags and anchors are ignored.
  private static func node(
    from event: YAMLEvent, in events: inout YAMLEventReader, depth: Int
  ) throws(YAMLError) -> YAMLNode {
    guard depth <= maximumDepth else {
      throw YAMLError(
        position: event.position, message: "nested deeper than \(maximumDepth) levels")
    }
    switch event.content {
    case .scalar(let text):
      return YAMLNode(position: event.position, content: .scalar(text))
    case .sequenceStart:
      return YAMLNode(
        position: event.position, content: .sequence(try items(in: &events, depth: depth + 1)))
    case .mappingStart:
      return YAMLNode(
        position: event.position, content: .mapping(try entries(in: &events, depth: depth + 1)))
    case .alias:
      throw YAMLError(position: event.position, message: "aliases are not supported")
    case .streamStart, .streamEnd, .documentStart, .documentEnd, .sequenceEnd, .mappingEnd:
      // Not reached: libyaml sends a scalar event for a value that is left out.
      throw YAMLError(position: event.position, message: "a value is expected")
    }
  }

  private static func items(
    in events: inout YAMLEventReader, depth: Int
  ) throws(YAMLError) -> [YAMLNode] {
    var items: [YAMLNode] = []
    while true {
      let event = try events.next()
      if case .sequenceEnd = event.content { return items }
      items.append(try node(from: event, in: &events, depth: depth))
    }
  }

  private static func entries(
    in events: inout YAMLEventReader, depth: Int
  ) throws(YAMLError) -> [YAMLNode.Entry] {
    var entries: [YAMLNode.Entry] = []
    var keys: Set<String> = []
    while true {
      let event = try events.next()
      if case .mappingEnd = event.content { return entries }
      guard case .scalar(let key) = event.content else {
        throw YAMLError(position: event.position, message: "a key is text")
      }
      guard keys.insert(key).inserted else {
        throw YAMLError(
          position: event.position,
          message: "the same key twice: \(YAMLPath.field(key, at: ""))")
      }
      entries.append(
        YAMLNode.Entry(
          key: key, keyPosition: event.position,
          value: try node(from: try events.next(), in: &events, depth: depth)))
    }
  }
}

/// A value in a YAML document, with its position.
package struct YAMLNode: Hashable, Sendable {
  package enum Content: Hashable, Sendable {
    /// The text of a scalar, without quotes and escapes; "" where a value is left out. The caller
    /// interprets it, for example as a number.
    case scalar(String)
    case sequence([YAMLNode])
    /// In the order of the file, without duplicate keys.
    case mapping([Entry])
  }

  package struct Entry: Hashable, Sendable {
    package let key: String
    package let keyPosition: YAMLPosition
    package let value: YAMLNode
  }

  /// The start of the value. If the value is left out, the position of its key or dash.
  package let position: YAMLPosition
  package let content: Content

  package var scalar: String? {
    if case .scalar(let text) = content { text } else { nil }
  }

  package var sequence: [YAMLNode]? {
    if case .sequence(let items) = content { items } else { nil }
  }

  package var mapping: [Entry]? {
    if case .mapping(let entries) = content { entries } else { nil }
  }
}

/// A position in a text. Lines and columns count from 1; a column is one Unicode scalar.
package struct YAMLPosition: Hashable, Sendable {
  package let line: Int
  package let column: Int

  package init(line: Int, column: Int) {
    self.line = line
    self.column = column
  }

  static let start = YAMLPosition(line: 1, column: 1)

  /// - Parameter offset: in bytes, from 0.
  init(ofByte offset: Int, in bytes: some Collection<UInt8>) {
    var line = 1
    var column = 1
    for byte in bytes.prefix(max(offset, 0)) {
      if byte == UInt8(ascii: "\n") {
        line += 1
        column = 1
      } else if byte & 0xc0 != 0x80 {
        // Continuation bytes of a scalar are not counted.
        column += 1
      }
    }
    self.init(line: line, column: column)
  }
}

/// The position and the reason of a failure to read a YAML text.
package struct YAMLError: Error, Hashable, Sendable {
  package let position: YAMLPosition
  package let message: String
}
