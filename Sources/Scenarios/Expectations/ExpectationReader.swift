import EntitlementDomain
import Yams

/// What a scenario expects of an answer or of a part of it. Only named fields are compared.
struct Expectation: Hashable, Sendable {
  indirect enum Content: Hashable, Sendable {
    case absent
    case value(AnswerValue)
    /// Milliseconds, shown as RFC 3339.
    case moment(Int64)
    case texts([String])
    case object([Member])
    /// A list of this length, in this order.
    case list([Expectation])
    /// Objects with these ids; others are ignored.
    case named(by: String, [Member])
    /// Objects with these ids, and no others.
    case all(by: String, [Member])
  }

  struct Member: Hashable, Sendable {
    /// The name in the answer.
    let name: String
    /// The name in the scenario.
    let written: String
    /// Nil when the member only has to be present.
    let expectation: Expectation?
  }

  /// The line in the file, from 1.
  let line: Int
  let content: Content

  /// The expectation of an object's member; nil when it is not named.
  func member(_ name: String) -> Expectation? {
    guard case .object(let members) = content else { return nil }
    return members.first { $0.name == name }?.expectation
  }

  /// The expectation of a list's item; nil when it is not named.
  func item(_ index: Int) -> Expectation? {
    guard case .list(let items) = content, items.indices.contains(index) else { return nil }
    return items[index]
  }
}

/// Reads expectations, and reports fields and types that the answer does not have.
struct ExpectationReader {
  private static let absent = "absent"

  let values: ValueReader

  private var issues: IssueCollector { values.issues }

  func expectation(_ node: Node, _ shape: AnswerShape, at path: String) -> Expectation? {
    content(node, shape, at: path).map { Expectation(line: node.line, content: $0) }
  }

  private func content(
    _ node: Node, _ shape: AnswerShape, at path: String
  ) -> Expectation.Content? {
    if node.isNull || (node.scalar?.style == .plain && node.scalar?.string == Self.absent) {
      return .absent
    }
    switch shape {
    case .text: return values.text(node, at: path).map { .value(.text($0)) }
    case .integer: return values.integer(node, at: path).map { .value(.integer($0)) }
    case .boolean: return values.boolean(node, at: path).map { .value(.boolean($0)) }
    case .moment: return values.moment(node, at: path).map { .moment($0.rawValue) }
    case .enumeration(let names):
      return enumeration(node, names, at: path).map { .value(.text($0)) }
    case .values(.enumeration(let names)):
      return .texts(
        values.list(node, at: path).compactMap { enumeration($0.node, names, at: $0.path) })
    case .values:
      return .texts(
        values.list(node, at: path).compactMap { values.text($0.node, at: $0.path) })
    case .object(let shapes): return object(node, shapes, at: path)
    case .list(let item):
      return .list(
        values.list(node, at: path).compactMap { expectation($0.node, item, at: $0.path) })
    case .keyed(let key, let item): return keyed(node, by: key, item, at: path)
    case .rules: return rules(node, at: path)
    }
  }

  private func enumeration(_ node: Node, _ names: [String], at path: String) -> String? {
    guard let name = values.text(node, at: path) else { return nil }
    guard names.contains(name) else {
      issues.report("unknown value; allowed: \(names.joined(separator: ", "))", at: path, node)
      return nil
    }
    return name
  }

  private func object(
    _ node: Node, _ shapes: [String: AnswerShape], at path: String
  ) -> Expectation.Content? {
    guard let mapping = node.mapping else {
      let allowed = shapes.keys.sorted().joined(separator: ", ")
      issues.report("a mapping is expected, with any of \(allowed)", at: path, node)
      return nil
    }
    return .object(
      mapping.compactMap { key, value in
        let written = key.scalar?.string ?? ""
        let field = NodeFields.join(path, written)
        let name = shapes[written] == nil ? "\(written)Ms" : written
        guard let shape = shapes[name] else {
          let allowed = shapes.keys.sorted().joined(separator: ", ")
          issues.report("unknown field; allowed: \(allowed)", at: field, key)
          return nil
        }
        return expectation(value, shape, at: field).map {
          Expectation.Member(name: name, written: written, expectation: $0)
        }
      })
  }

  private func keyed(
    _ node: Node, by key: String, _ shape: AnswerShape, at path: String
  ) -> Expectation.Content? {
    if let mapping = node.mapping {
      return .named(
        by: key,
        mapping.compactMap { id, value in
          let id = id.scalar?.string ?? ""
          return expectation(value, shape, at: NodeFields.join(path, id)).map {
            Expectation.Member(name: id, written: id, expectation: $0)
          }
        })
    }
    guard node.sequence != nil else {
      issues.report("ids are expected, as a list or as a mapping", at: path, node)
      return nil
    }
    return .all(
      by: key,
      values.list(node, at: path).compactMap { item in
        guard item.node.mapping != nil else {
          return values.identifier(item.node, at: item.path).map {
            Expectation.Member(name: $0, written: $0, expectation: nil)
          }
        }
        guard let expected = expectation(item.node, shape, at: item.path) else { return nil }
        guard case .value(.text(let id)) = expected.member(key)?.content else {
          issues.report("missing", at: NodeFields.join(item.path, key), item.node)
          return nil
        }
        return Expectation.Member(name: id, written: id, expectation: expected)
      })
  }

  private func rules(_ node: Node, at path: String) -> Expectation.Content? {
    guard let mapping = node.mapping else {
      issues.report("a mapping of ids to rules is expected", at: path, node)
      return nil
    }
    return .object(
      mapping.compactMap { id, value in
        let id = id.scalar?.string ?? ""
        let field = NodeFields.join(path, id)
        guard let content = content(value, .text, at: field) else { return nil }
        if case .value(.text(let rule)) = content, !RuleCitation.isRule(rule) {
          issues.report("a rule is expected, such as R19", at: field, value)
          return nil
        }
        return Expectation.Member(
          name: id, written: id,
          expectation: Expectation(line: value.line, content: content))
      })
  }
}
