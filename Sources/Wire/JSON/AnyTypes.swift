/// The messages that a `google.protobuf.Any` may contain, when it is converted to JSON or from it. The
/// product's messages have no `Any`; those of tests have.
package struct AnyTypes: Sendable {
  /// No message: an `Any` with content cannot be converted.
  package static let none = AnyTypes([])

  static let name = "google.protobuf.Any"
  /// The member of its JSON that names the type of the message inside.
  static let typeMember = "@type"

  /// The fields of an `Any`.
  enum Field {
    static let typeURL: UInt32 = 1
    static let value: UInt32 = 2
  }

  private let byName: [String: MessageType]

  package init(_ types: [MessageType]) {
    byName = Dictionary(types.map { ($0.name, $0) }) { first, _ in first }
  }

  /// The message of a type URL: its name is what follows the last slash. Nil if it is not known, and for an
  /// `Any` in an `Any`, which has another JSON form.
  func type(at url: String) -> MessageType? {
    guard let slash = url.lastIndex(of: "/") else { return nil }
    let name = String(url[url.index(after: slash)...])
    return name == Self.name ? nil : byName[name]
  }
}
