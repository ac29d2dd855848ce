import EntitlementDomain
import StoreSimulator
import Yams

/// Reads single values, and reports those of another form. A missing node is nil without a report.
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

  /// Text that is not empty.
  func identifier(_ node: Node?, at path: String) -> String? {
    guard let node, let text = text(node, at: path) else { return nil }
    guard !text.isEmpty, !text.utf8.contains(0) else {
      issues.report("an identifier is expected", at: path, node)
      return nil
    }
    return text
  }

  /// As ``identifier(_:at:)``, reporting where there is none.
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
        "a moment is expected: RFC 3339 with an offset, such as 2026-01-10T09:00:00Z, or milliseconds",
        at: path, node)
      return nil
    }
    return moment
  }

  /// A moment on the scenario's clock.
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
