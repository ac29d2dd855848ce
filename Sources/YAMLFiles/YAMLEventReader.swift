import CYaml

/// Reads the events of a YAML text with libyaml.
///
/// Yams uses libyaml too, but reads only whole documents: it expands aliases, allows deep nesting,
/// and hashes whole keys. A short text can then expand without end or take minutes, and callers of
/// the service can send catalogs. This reader can stop after each event.
struct YAMLEventReader: ~Copyable {
  // libyaml keeps pointers into both. They do not move until deinit, and only this value owns them.
  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private let input: UnsafeMutableBufferPointer<UInt8>

  /// - Throws: ``YAMLError`` when libyaml cannot allocate memory.
  init(_ text: String) throws(YAMLError) {
    input = .allocate(capacity: text.utf8.count)
    _ = input.initialize(from: text.utf8)
    parser = .allocate(capacity: 1)
    parser.initialize(to: yaml_parser_t())
    guard yaml_parser_initialize(parser) == 1 else {
      throw YAMLError(position: .start, message: "out of memory")
    }
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    yaml_parser_set_input_string(parser, input.baseAddress, input.count)
  }

  deinit {
    // Also safe after a failed initialization, which leaves only zeros.
    yaml_parser_delete(parser)
    parser.deallocate()
    input.deallocate()
  }

  /// Reads the next event. It must not be called after ``YAMLEvent/Content-swift.enum/streamEnd``.
  ///
  /// - Throws: ``YAMLError`` when the text is not YAML.
  mutating func next() throws(YAMLError) -> YAMLEvent {
    var event = yaml_event_t()
    guard yaml_parser_parse(parser, &event) == 1 else { throw error }
    defer { yaml_event_delete(&event) }
    let content: YAMLEvent.Content
    switch event.type {
    case YAML_STREAM_START_EVENT: content = .streamStart
    case YAML_DOCUMENT_START_EVENT: content = .documentStart
    case YAML_DOCUMENT_END_EVENT: content = .documentEnd
    case YAML_ALIAS_EVENT: content = .alias
    case YAML_SCALAR_EVENT:
      let scalar = event.data.scalar
      content = .scalar(
        String(
          decoding: UnsafeBufferPointer(start: scalar.value, count: scalar.length), as: UTF8.self))
    case YAML_SEQUENCE_START_EVENT: content = .sequenceStart
    case YAML_SEQUENCE_END_EVENT: content = .sequenceEnd
    case YAML_MAPPING_START_EVENT: content = .mappingStart
    case YAML_MAPPING_END_EVENT: content = .mappingEnd
    default: content = .streamEnd
    }
    return YAMLEvent(content: content, position: YAMLPosition(event.start_mark))
  }

  /// The error that libyaml reports after a failed call.
  private var error: YAMLError {
    let message = parser.pointee.problem.map { String(cString: $0) } ?? "not YAML"
    guard parser.pointee.error == YAML_READER_ERROR else {
      return YAMLError(position: YAMLPosition(parser.pointee.problem_mark), message: message)
    }
    // The reader works ahead of the parser and reports only a byte offset.
    return YAMLError(
      position: YAMLPosition(ofByte: parser.pointee.problem_offset, in: input), message: message)
  }
}

extension YAMLPosition {
  fileprivate init(_ mark: yaml_mark_t) {
    self.init(line: mark.line + 1, column: mark.column + 1)
  }
}

/// One event of a YAML text.
struct YAMLEvent {
  enum Content {
    case streamStart
    case streamEnd
    case documentStart
    case documentEnd
    case alias
    /// The text without quotes and escapes; "" where a value is left out.
    case scalar(String)
    case sequenceStart
    case sequenceEnd
    case mappingStart
    case mappingEnd
  }

  let content: Content
  /// The start of the event.
  let position: YAMLPosition
}
