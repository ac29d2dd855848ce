package import EntitlementDomain

/// Reads the values of a configuration file from its YAML tree, and collects all issues, so that one
/// run reports every mistake. Invalid values are reported, and nil is returned for them.
package protocol YAMLFileReader {
  var issues: FileIssues { get set }
}

extension YAMLFileReader {
  package mutating func report(
    _ message: String, at field: String, _ node: YAMLNode, severity: FileIssue.Severity = .error
  ) {
    report(message, at: field, node.position, severity: severity)
  }

  package mutating func report(
    _ message: String, at field: String, _ position: YAMLPosition,
    severity: FileIssue.Severity = .error
  ) {
    issues.add(
      FileIssue(
        severity: severity, line: position.line, column: position.column, field: field,
        message: message))
  }

  /// Reads a mapping and reports its unknown fields.
  package mutating func fields(
    of node: YAMLNode, at path: String, allowed: [String]
  ) -> YAMLFields? {
    let list = allowed.joined(separator: ", ")
    guard let entries = node.mapping else {
      report("a mapping is expected, with the fields \(list)", at: path, node)
      return nil
    }
    var nodes: [String: YAMLNode] = [:]
    for entry in entries {
      let field = YAMLPath.field(entry.key, at: path)
      if !allowed.contains(entry.key) {
        report("unknown field; allowed: \(list)", at: field, entry.keyPosition)
      } else {
        nodes[entry.key] = entry.value
      }
    }
    return YAMLFields(nodes)
  }

  /// Reads a list; an absent one is empty.
  ///
  /// - Parameter parent: given when the list must have an element; a missing list is reported
  ///   there.
  package mutating func sequence(
    _ node: YAMLNode?, at path: String, required parent: YAMLNode? = nil
  ) -> [YAMLNode] {
    guard let node else {
      if let parent { report("missing; at least one is needed", at: path, parent) }
      return []
    }
    guard let items = node.sequence else {
      report("a list is expected", at: path, node)
      return []
    }
    if parent != nil, items.isEmpty { report("at least one is needed", at: path, node) }
    return items
  }

  package mutating func text(_ node: YAMLNode?, at path: String) -> String? {
    guard let node else { return nil }
    guard let text = node.scalar else {
      report("text is expected", at: path, node)
      return nil
    }
    return text
  }

  /// Reads a required identifier of 1 to 255 bytes. Blanks and control characters are refused,
  /// because identifiers appear in logs, tables and C strings.
  package mutating func identifier(_ node: YAMLNode?, at path: String, in parent: YAMLNode)
    -> String?
  {
    guard let node else {
      report("missing", at: path, parent)
      return nil
    }
    guard let text = text(node, at: path) else { return nil }
    guard !text.isEmpty, text.utf8.count <= 255, text.unicodeScalars.allSatisfy(\.isPlain) else {
      report(
        "an identifier has 1 to 255 bytes, without blanks and control characters", at: path, node)
      return nil
    }
    return text
  }

  /// Reads one of the raw values of an enumeration.
  ///
  /// - Parameter noun: the name of the kind of value, for the message.
  package mutating func choice<Choice>(
    _ node: YAMLNode, of type: Choice.Type, _ noun: String, at path: String
  ) -> Choice? where Choice: RawRepresentable<String> & CaseIterable {
    if let choice = node.scalar.flatMap({ Choice(rawValue: $0) }) { return choice }
    report("unknown \(noun); allowed: \(Self.list(of: type))", at: path, node)
    return nil
  }

  /// As ``choice(_:of:_:at:)``, and reports a missing value.
  package mutating func requiredChoice<Choice>(
    _ node: YAMLNode?, of type: Choice.Type, _ noun: String, at path: String, in parent: YAMLNode
  ) -> Choice? where Choice: RawRepresentable<String> & CaseIterable {
    guard let node else {
      report("missing; allowed: \(Self.list(of: type))", at: path, parent)
      return nil
    }
    return choice(node, of: type, noun, at: path)
  }

  private static func list<Choice>(
    of type: Choice.Type
  ) -> String where Choice: RawRepresentable<String> & CaseIterable {
    type.allCases.map(\.rawValue).joined(separator: ", ")
  }

  package mutating func integer(
    _ node: YAMLNode?, at path: String, range: ClosedRange<Int64>
  ) -> Int64? {
    guard let node else { return nil }
    guard let value = node.scalar.flatMap({ Int64($0) }), range.contains(value) else {
      let upper = range.upperBound == .max ? "" : " to \(range.upperBound)"
      report("an integer from \(range.lowerBound)\(upper) is expected", at: path, node)
      return nil
    }
    return value
  }

  package mutating func boolean(_ node: YAMLNode?, at path: String) -> Bool? {
    guard let node else { return nil }
    switch node.scalar {
    case "true": return true
    case "false": return false
    default:
      report("true or false is expected", at: path, node)
      return nil
    }
  }

  package mutating func duration(_ node: YAMLNode, at path: String) -> CalendarDuration? {
    guard let duration = node.scalar.flatMap({ CalendarDuration(iso8601: $0) }) else {
      report("an ISO 8601 duration such as P1M, P90D or PT72H is expected", at: path, node)
      return nil
    }
    return duration
  }

  /// Reads an RFC 3339 timestamp, or milliseconds since 1970. A moment before the App Store opened
  /// is refused: it is a mistake, such as seconds instead of milliseconds.
  package mutating func moment(_ node: YAMLNode, at path: String) -> Milliseconds? {
    guard let moment = node.scalar.flatMap({ Milliseconds(written: $0) }) else {
      report(
        "a moment such as 2024-03-01T00:00:00Z or 2024-03-01T00:00:00+01:00, or milliseconds since "
          + "1970, is expected",
        at: path, node)
      return nil
    }
    guard (Self.appStoreOpening...Self.endOfYear9999).contains(moment) else {
      report(
        "a moment from 2008-07-10, when the App Store opened, to the year 9999 is expected; "
          + "numbers are milliseconds",
        at: path, node)
      return nil
    }
    return moment
  }

  private static var appStoreOpening: Milliseconds { 1_215_648_000_000 }
  private static var endOfYear9999: Milliseconds { 253_402_300_799_999 }
}

/// The path of a value in a file, such as `products[2].duration`.
package enum YAMLPath {
  /// The path of a field. The name comes from the file, so it is cut to 64 characters, and control
  /// characters are escaped: they could damage logs, terminals and C strings.
  package static func field(_ name: String, at path: String) -> String {
    let limit = 64
    let scalars = name.unicodeScalars
    var shown = ""
    for scalar in scalars.prefix(limit) {
      if scalar.properties.generalCategory == .control {
        shown += "\\u{\(String(scalar.value, radix: 16))}"
      } else {
        shown.unicodeScalars.append(scalar)
      }
    }
    if scalars.dropFirst(limit).first != nil { shown += "…" }
    return path.isEmpty ? shown : "\(path).\(shown)"
  }
}

extension Unicode.Scalar {
  /// The character is neither a blank nor a control character.
  package var isPlain: Bool { value > 0x20 && !(0x7f...0xa0).contains(value) }
}

/// The fields of a mapping. Each can be taken once.
package struct YAMLFields {
  private var nodes: [String: YAMLNode]

  fileprivate init(_ nodes: [String: YAMLNode]) {
    self.nodes = nodes
  }

  package mutating func take(_ name: String) -> YAMLNode? { nodes.removeValue(forKey: name) }
}

/// Collects the issues of a file, so that one run reports all.
package struct FileIssues {
  /// The largest number of issues kept for each severity. A wrong file may have millions. The
  /// limits are separate, so that warnings do not displace errors.
  package static let limit = 100

  private var errors: [FileIssue] = []
  private var warnings: [FileIssue] = []
  private var droppedCount = 0

  package var hasErrors: Bool { !errors.isEmpty }

  package init() {}

  package mutating func add(_ issue: FileIssue) {
    let count = issue.severity == .error ? errors.count : warnings.count
    guard count < Self.limit else {
      droppedCount += 1
      return
    }
    switch issue.severity {
    case .error: errors.append(issue)
    case .warning: warnings.append(issue)
    }
  }

  /// The issues in the order of the file. If the limit dropped some, a last issue gives their
  /// number.
  package var sorted: [FileIssue] {
    var issues = (errors + warnings).sorted {
      ($0.line, $0.column, $0.field) < ($1.line, $1.column, $1.field)
    }
    if droppedCount > 0, let last = issues.last {
      issues.append(
        FileIssue(
          severity: hasErrors ? .error : .warning, line: last.line, column: last.column, field: "",
          message: "\(droppedCount) more issues are not shown"))
    }
    return issues
  }
}
