package import EntitlementDomain

/// A customer's actual state at one time, in the form of a scenario step.
package struct ActualState: Sendable {
  /// The line of the step that queried it, from 1.
  package let line: Int
  package let at: Milliseconds
  /// A step in the form of a scenario file.
  package let text: String
}

/// Writes an actual state as a step of a scenario file.
enum ActualStateText {
  /// Fields that a step leaves out: they repeat the query, or count changes.
  private static let ignoredFields: Set<String> = [
    "bundleId", "environment", "accountId", "revision", "evaluatedAtMs",
  ]

  /// - Parameter state: in the form of ``AnswerShape/state``.
  static func step(
    state: AnswerValue, at moment: Milliseconds, selector: CustomerSelector
  ) -> String {
    var lines = ["  - at: \(moment.exactRFC3339)", "    customer: \(selector.written)"]
    lines.append("    state:")
    guard case .object(let members) = state, case .object(let shapes) = AnswerShape.state else {
      return lines.joined(separator: "\n")
    }
    for (name, value) in members.sorted(by: { $0.key < $1.key })
    where !ignoredFields.contains(name) {
      append(name, value, shapes[name] ?? .text, indent: 6, to: &lines)
    }
    return lines.joined(separator: "\n")
  }

  private static func append(
    _ name: String, _ value: AnswerValue, _ shape: AnswerShape, indent: Int,
    to lines: inout [String]
  ) {
    let margin = String(repeating: " ", count: indent)
    switch (shape, value) {
    case (.moment, .integer(let number)):
      let written = name.hasSuffix("Ms") ? String(name.dropLast(2)) : name
      lines.append("\(margin)\(written): \(Milliseconds(number).exactRFC3339)")
    case (.object(let shapes), .object(let members)):
      lines.append("\(margin)\(name):")
      for (name, value) in members.sorted(by: { $0.key < $1.key }) {
        append(name, value, shapes[name] ?? .text, indent: indent + 2, to: &lines)
      }
    case (.keyed(let key, .object(let shapes)), .list(let items)) where !items.isEmpty:
      lines.append("\(margin)\(name):")
      for item in items {
        guard case .object(var members) = item, let id = members.removeValue(forKey: key) else {
          continue
        }
        append(quoted(id.text), .object(members), .object(shapes), indent: indent + 2, to: &lines)
      }
    case (.list(.object(let shapes)), .list(let items)) where !items.isEmpty:
      lines.append("\(margin)\(name):")
      for case .object(let members) in items {
        var inner: [String] = []
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
          append(name, value, shapes[name] ?? .text, indent: indent + 4, to: &inner)
        }
        guard let first = inner.first else { continue }
        lines.append("\(margin)  - \(first.drop { $0 == " " })")
        lines += inner.dropFirst()
      }
    case (_, .list(let items)):
      lines.append("\(margin)\(name): [\(items.map { quoted($0.text) }.joined(separator: ", "))]")
    case (_, .text(let text)):
      lines.append("\(margin)\(name): \(quoted(text))")
    default:
      lines.append("\(margin)\(name): \(value.text)")
    }
  }

  /// Without quotation marks if the reader understands the plain form as the same text.
  fileprivate static func quoted(_ text: String) -> String {
    let isPlain = text.wholeMatch(of: #/[A-Za-z][A-Za-z0-9_.-]*|\d+/#) != nil
    if isPlain, text != "null", text != "absent" { return text }
    var object = PayloadObject()
    object["text"] = .text(text)
    // A JSON string is a valid YAML string.
    return String(object.text.dropFirst(#"{"text":"#.count).dropLast())
  }
}

extension CustomerSelector {
  /// The selector in the form of a scenario file.
  fileprivate var written: String {
    let (name, id) =
      switch self {
      case .account(let id): ("account", id.rawValue)
      case .originalTransaction(let id): ("originalTransactionId", id.rawValue)
      case .transaction(let id): ("transactionId", id.rawValue)
      case .appTransaction(let id): ("appTransactionId", id.rawValue)
      case .appAccountToken(let id): ("appAccountToken", id.rawValue)
      }
    return "{\(name): \(ActualStateText.quoted(id))}"
  }
}
