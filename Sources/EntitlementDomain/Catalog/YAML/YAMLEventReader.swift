import CYaml

/// Steps through a YAML text with libyaml.
///
/// Yams reads with it too, but only whole documents: it follows aliases, nests as deep as libyaml
/// lets it, and hashes every key with all that is in it. A short text can then stand for one
/// without end, or take minutes, and catalogs come from callers too. Here each step can be refused
/// before the next one is taken.
struct YAMLEventReader: ~Copyable {
  // libyaml points into both: neither moves until the end, and only this holds them.
  private let parser: UnsafeMutablePointer<yaml_parser_t>
  private let input: UnsafeMutableBufferPointer<UInt8>

  /// - Throws: ``YAMLError`` when there is no memory for it.
  init(_ text: String) throws(YAMLError) {
    input = .allocate(capacity: text.utf8.count)
    _ = input.initialize(from: text.utf8)
    parser = .allocate(capacity: 1)
    parser.initialize(to: yaml_parser_t())
    guard yaml_parser_initialize(parser) == 1 else {
      throw YAMLError(position: .start, message: "there is no memory to read it")
    }
    yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
    yaml_parser_set_input_string(parser, input.baseAddress, input.count)
  }

  deinit {
    // Also after a failed initialization, which leaves nothing but zeros.
    yaml_parser_delete(parser)
    parser.deallocate()
    input.deallocate()
  }

  /// The next step. After ``YAMLEvent/Content-swift.enum/streamEnd`` there is none to ask for.
  ///
  /// - Throws: ``YAMLError`` where the text is not YAML.
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

  /// What libyaml says after a failed step.
  private var error: YAMLError {
    let message = parser.pointee.problem.map { String(cString: $0) } ?? "not YAML"
    guard parser.pointee.error == YAML_READER_ERROR else {
      return YAMLError(position: YAMLPosition(parser.pointee.problem_mark), message: message)
    }
    // It was reading ahead, and only knows the byte.
    return YAMLError(
      position: YAMLPosition(ofByte: parser.pointee.problem_offset, in: input), message: message)
  }
}

extension YAMLPosition {
  fileprivate init(_ mark: yaml_mark_t) {
    self.init(line: mark.line + 1, column: mark.column + 1)
  }
}
