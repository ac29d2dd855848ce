/// A piece of a YAML document, with its place.
package struct YAMLNode: Hashable, Sendable {
  package enum Content: Hashable, Sendable {
    /// Text as it stands there, without quotes and escapes; "" where a value is left out. What it
    /// means, such as a number, is for the reader of the document to say.
    case scalar(String)
    case sequence([YAMLNode])
    /// In the order of the file, each key once.
    case mapping([Entry])
  }

  package struct Entry: Hashable, Sendable {
    package let key: String
    package let keyPosition: YAMLPosition
    package let value: YAMLNode
  }

  /// Where it begins; where a value is left out: where its key or dash stands.
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
