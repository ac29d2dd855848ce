/// Reads a YAML document into a tree with places.
///
/// Catalogs come from callers too: reading takes time and memory in proportion to the text,
/// whatever it says.
package enum YAMLReader {
  /// Deeper than configuration is nested; keeps recursion over the tree short.
  package static let maximumDepth = 32

  /// - Returns: nil when there is nothing but blanks and comments.
  /// - Throws: the first place at which the text is not YAML, or not of the kind that is read here.
  package static func document(in text: String) throws(YAMLError) -> YAMLNode? {
    try refuseTagDirectives(in: text)
    var events = try YAMLEventReader(text)
    _ = try events.next()
    guard case .documentStart = try events.next().content else { return nil }
    let root = try node(from: try events.next(), in: &events, depth: 1)
    _ = try events.next()
    let end = try events.next()
    guard case .streamEnd = end.content else {
      throw YAMLError(position: end.position, message: "another document; one is expected")
    }
    return root.scalar?.isEmpty == true ? nil : root
  }

  /// libyaml compares each with all before it: a megabyte of them takes it a minute.
  private static func refuseTagDirectives(in text: String) throws(YAMLError) {
    guard let found = text.utf8.firstRange(of: "%TAG".utf8) else { return }
    let offset = text.utf8.distance(from: text.startIndex, to: found.lowerBound)
    throw YAMLError(
      position: YAMLPosition(ofByte: offset, in: text.utf8),
      message: "%TAG is not supported, also in comments")
  }

  /// The node that begins with `event`. Tags and anchors say nothing here.
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
      // libyaml gives an event of its own to every value, also to one that is left out.
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
          message: "the same key twice: \(CatalogReader.field(key, at: ""))")
      }
      entries.append(
        YAMLNode.Entry(
          key: key, keyPosition: event.position,
          value: try node(from: try events.next(), in: &events, depth: depth)))
    }
  }
}
