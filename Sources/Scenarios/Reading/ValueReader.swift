import EntitlementDomain
import StoreSimulator
import Yams

/// Reads single values, and reports values of the wrong type. A missing node gives nil without a
/// report.
struct ValueReader {
  let issues: IssueCollector

  func text(_ node: Node?, at path: String) -> String? {
    guard let node else { return nil }
    guard let scalar = node.scalar, !node.isNull else {
      issues.report("text is expected", at: path, node)
      return nil
    }
    return scalar.string
  }

  /// Text that is not empty and contains no NUL.
  func identifier(_ node: Node?, at path: String) -> String? {
    guard let node, let text = text(node, at: path) else { return nil }
    guard !text.isEmpty, !text.utf8.contains(0) else {
      issues.report("an identifier is expected", at: path, node)
      return nil
    }
    return text
  }

  /// Like ``identifier(_:at:)``, but reports a missing field.
  func required(_ fields: inout NodeFields, _ name: String) -> String? {
    guard let node = fields.take(name) else {
      issues.report("missing", at: fields.path(of: name), fields.node)
      return nil
    }
    return identifier(node, at: fields.path(of: name))
  }

  func integer(_ node: Node?, at path: String) -> Int64? {
    guard let node else { return nil }
    guard let value = node.scalar.flatMap({ Int64($0.string) }) else {
      issues.report("an integer is expected", at: path, node)
      return nil
    }
    return value
  }

  func boolean(_ node: Node?, at path: String) -> Bool? {
    guard let node else { return nil }
    switch node.scalar?.string {
    case "true": return true
    case "false": return false
    default:
      issues.report("true or false is expected", at: path, node)
      return nil
    }
  }

  func moment(_ node: Node?, at path: String) -> Milliseconds? {
    guard let node else { return nil }
    guard let moment = node.scalar.flatMap({ Milliseconds(written: $0.string) }) else {
      issues.report(
        "a moment is expected: milliseconds, or RFC 3339 with an offset, such as "
          + "2026-01-10T09:00:00Z",
        at: path, node)
      return nil
    }
    return moment
  }

  /// A time within ``SimulatedCalendar/range``.
  func clockMoment(_ node: Node?, at path: String) -> Milliseconds? {
    guard let node, let moment = moment(node, at: path) else { return nil }
    guard SimulatedCalendar.range.contains(moment) else {
      issues.report("between 2009-07-01 and 2099-01-01 is expected", at: path, node)
      return nil
    }
    return moment
  }

  func list(_ node: Node?, at path: String) -> [(node: Node, path: String)] {
    guard let node else { return [] }
    guard let sequence = node.sequence else {
      issues.report("a list is expected", at: path, node)
      return []
    }
    return sequence.enumerated().map { ($1, "\(path)[\($0)]") }
  }

  func choice<Choice: RawRepresentable<String> & CaseIterable>(
    _ node: Node?, at path: String
  ) -> Choice? {
    guard let node else { return nil }
    guard let choice = node.scalar.flatMap({ Choice(rawValue: $0.string) }) else {
      let allowed = Choice.allCases.map(\.rawValue).joined(separator: ", ")
      issues.report("unknown; allowed: \(allowed)", at: path, node)
      return nil
    }
    return choice
  }
}

/// The fields of a mapping. Reading a field removes it.
struct NodeFields {
  let node: Node
  let path: String
  private var nodes: [String: Node] = [:]

  /// Reports every field that is not allowed; nil when the node is not a mapping.
  init?(_ node: Node, at path: String, allowed: [String], issues: IssueCollector) {
    let list = allowed.joined(separator: ", ")
    guard let mapping = node.mapping else {
      issues.report("a mapping is expected, with the fields \(list)", at: path, node)
      return nil
    }
    self.node = node
    self.path = path
    for (key, value) in mapping {
      let name = key.scalar?.string ?? ""
      guard allowed.contains(name) else {
        issues.report("unknown field; allowed: \(list)", at: Self.join(path, name), key)
        continue
      }
      nodes[name] = value
    }
  }

  mutating func take(_ name: String) -> Node? { nodes.removeValue(forKey: name) }

  func contains(_ name: String) -> Bool { nodes[name] != nil }

  func path(of name: String) -> String { Self.join(path, name) }

  static func join(_ path: String, _ name: String) -> String {
    path.isEmpty ? name : "\(path).\(name)"
  }
}

/// Collects the issues of a file, so that one run reports all.
final class IssueCollector {
  /// Bounds the report of a file that is wrong everywhere.
  private static let limit = 100

  private(set) var issues: [ScenarioIssue] = []

  func report(_ message: String, at field: String, _ node: Node) {
    report(message, at: field, line: node.line)
  }

  func report(_ message: String, at field: String, line: Int) {
    guard issues.count < Self.limit else { return }
    issues.append(ScenarioIssue(line: line, field: field, message: message))
  }

  /// In the order of the file.
  var sorted: [ScenarioIssue] {
    issues.enumerated()
      .sorted { ($0.element.line, $0.offset) < ($1.element.line, $1.offset) }
      .map(\.element)
  }
}

extension Node {
  /// From 1.
  var line: Int { mark?.line ?? 1 }

  /// Whether the node is one of YAML's plain null values. A quoted "null" is text.
  var isNull: Bool {
    guard let scalar, scalar.style == .plain else { return false }
    return ["", "~", "null", "Null", "NULL"].contains(scalar.string)
  }
}
