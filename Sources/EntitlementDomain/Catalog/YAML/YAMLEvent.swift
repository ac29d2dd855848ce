/// One step through a YAML text.
struct YAMLEvent {
  enum Content {
    case streamStart
    case streamEnd
    case documentStart
    case documentEnd
    case alias
    /// Without quotes and escapes; "" where a value is left out.
    case scalar(String)
    case sequenceStart
    case sequenceEnd
    case mappingStart
    case mappingEnd
  }

  let content: Content
  /// Where it begins.
  let position: YAMLPosition
}
