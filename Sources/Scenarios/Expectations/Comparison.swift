package import EntitlementDomain

/// Compares answers with expectations and collects the differences.
struct Comparison {
  let moment: Milliseconds
  let variant: String?
  private(set) var differences: [Difference] = []

  init(at moment: Milliseconds, variant: String? = nil) {
    self.moment = moment
    self.variant = variant
  }

  mutating func compare(_ expected: Expectation, with actual: AnswerValue?, at path: String) {
    let line = expected.line
    switch expected.content {
    case .absent:
      // JSON leaves out empty lists.
      if let actual, actual != .list([]) { differ(line, path, "absent", Self.shown(actual)) }
    case .value(let value):
      if actual != value { differ(line, path, value.text, Self.shown(actual)) }
    case .moment(let value):
      if actual != .integer(value) {
        differ(
          line, path, Self.shown(.integer(value), isMoment: true),
          Self.shown(actual, isMoment: true))
      }
    case .texts(let texts):
      let value = AnswerValue.list(texts.map { .text($0) })
      if actual != value { differ(line, path, value.text, Self.shown(actual)) }
    case .object(let members):
      guard case .object(let answered) = actual else {
        return differ(line, path, "present", Self.shown(actual))
      }
      for member in members {
        guard let expectation = member.expectation else { continue }
        compare(
          expectation, with: answered[member.name], at: NodeFields.join(path, member.written))
      }
    case .list(let items): compareList(items, with: actual, at: path, line: line)
    case .named(let key, let members):
      compareNamed(members, with: Self.byID(actual, key), at: path)
    case .all(let key, let members):
      let answered = Self.byID(actual, key)
      let expectedIDs = members.map(\.name).sorted()
      if expectedIDs != answered.keys.sorted() {
        differ(line, path, Self.shown(ids: expectedIDs), Self.shown(ids: answered.keys.sorted()))
      }
      compareNamed(members.filter { answered[$0.name] != nil }, with: answered, at: path)
    }
  }

  /// Compares two answers that must be equal.
  mutating func compare(
    _ expected: AnswerValue?, with actual: AnswerValue?, line: Int, at path: String
  ) {
    if expected == actual { return }
    switch (expected, actual) {
    case (.object(let left), .object(let right)):
      for name in Set(left.keys).union(right.keys).sorted() {
        compare(left[name], with: right[name], line: line, at: NodeFields.join(path, name))
      }
    case (.list(let left), .list(let right)) where left.count == right.count:
      for (index, pair) in zip(left, right).enumerated() {
        compare(pair.0, with: pair.1, line: line, at: "\(path)[\(index)]")
      }
    default:
      let isMoment = path.hasSuffix("Ms")
      differ(
        line, path, Self.shown(expected, isMoment: isMoment),
        Self.shown(actual, isMoment: isMoment))
    }
  }

  mutating func differ(_ line: Int, _ path: String, _ expected: String, _ actual: String) {
    differences.append(
      Difference(
        line: line, moment: moment, variant: variant, field: path, expected: expected,
        actual: actual))
  }

  private mutating func compareList(
    _ items: [Expectation], with actual: AnswerValue?, at path: String, line: Int
  ) {
    guard case .list(let answered) = actual else {
      return differ(line, path, "\(items.count) entries", Self.shown(actual))
    }
    if items.count != answered.count {
      differ(
        line, path, "\(items.count) entries",
        "\(answered.count): \(AnswerValue.list(answered).text)")
    }
    for (index, pair) in zip(items, answered).enumerated() {
      compare(pair.0, with: pair.1, at: "\(path)[\(index)]")
    }
  }

  private mutating func compareNamed(
    _ members: [Expectation.Member], with answered: [String: AnswerValue], at path: String
  ) {
    for member in members {
      guard let expectation = member.expectation else { continue }
      let field = NodeFields.join(path, member.written)
      guard answered[member.name] != nil || expectation.content == .absent else {
        differ(
          expectation.line, field, "present",
          "absent; there are \(Self.shown(ids: answered.keys.sorted()))")
        continue
      }
      compare(expectation, with: answered[member.name], at: field)
    }
  }

  private static func byID(_ actual: AnswerValue?, _ key: String) -> [String: AnswerValue] {
    guard case .list(let items) = actual else { return [:] }
    var byID: [String: AnswerValue] = [:]
    for item in items {
      if case .text(let id) = item[key] { byID[id] = item }
    }
    return byID
  }

  private static func shown(ids: [String]) -> String { "[\(ids.joined(separator: ", "))]" }

  private static func shown(_ value: AnswerValue?, isMoment: Bool = false) -> String {
    guard let value else { return "absent" }
    guard isMoment, case .integer(let number) = value else { return value.text }
    return Milliseconds(number).exactRFC3339
  }
}

/// One difference between an answer and the expectation of a scenario.
package struct Difference: Hashable, Sendable, CustomStringConvertible {
  /// The line of the expectation, from 1.
  package let line: Int
  /// The time of the query or of the step.
  package let moment: Milliseconds
  /// The order of the facts if it is not the file's, such as "facts in one call"; nil for the order
  /// of the file.
  package let variant: String?
  /// The path in the answer.
  package let field: String
  package let expected: String
  package let actual: String

  /// Three lines, without the name of the file.
  package var description: String {
    let context = variant.map { " (\($0))" } ?? ""
    return """
      \(line): \(moment.exactRFC3339)\(context): \(field)
        expected  \(expected)
        actual    \(actual)
      """
  }
}
