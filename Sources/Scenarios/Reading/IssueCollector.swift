import Yams

/// Collects what is wrong with a file while its parts are read, so that one run tells everything.
final class IssueCollector {
  /// Nobody reads more at a time.
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

  /// YAML's ways to write nothing: plain, so that a quoted "null" stays text.
  var isNull: Bool {
    guard let scalar, scalar.style == .plain else { return false }
    return ["", "~", "null", "Null", "NULL"].contains(scalar.string)
  }
}
