import EntitlementDomain
import Yams

/// A fact as written in the file, before defaults.
struct FactDraft {
  let path: String
  let line: Int
  /// Values by Apple's name. A nil value leaves the field out.
  var fields: [String: (value: PayloadValue?, line: Int)] = [:]
  /// Fields that are signed as written. They override all others.
  var extra = PayloadObject()

  /// The time in a field. A step can take its own time from it.
  func moment(_ name: String) -> Milliseconds? {
    guard case .number(let text) = fields[name]?.value else { return nil }
    return Int64(text).map { Milliseconds($0) }
  }

  func text(_ name: String) -> String? {
    guard case .text(let text) = fields[name]?.value else { return nil }
    return text
  }
}

/// Reads facts with Apple's field names, and references to named facts.
struct FactDraftReader {
  let values: ValueReader
  private var named: [String: FactDraft] = [:]

  private var issues: IssueCollector { values.issues }

  init(values: ValueReader) {
    self.values = values
  }

  /// Reads `facts` of the file. A fact can use a fact above it.
  mutating func readNamed(_ node: Node?) {
    guard let node else { return }
    guard let mapping = node.mapping else {
      return issues.report("a mapping of names to facts is expected", at: "facts", node)
    }
    for (key, value) in mapping {
      let name = key.scalar?.string ?? ""
      guard let draft = draft(value, at: "facts.\(name)", fields: .anyFact, kind: "fact") else {
        continue
      }
      named[name] = draft
    }
  }

  /// Reads a fact of a step: a mapping, or the name of a fact.
  ///
  /// - Parameter kind: the name of the kind in messages, such as "renewal info".
  func draft(_ node: Node, at path: String, fields: AppleFields, kind: String) -> FactDraft? {
    if let scalar = node.scalar, !node.isNull {
      guard let draft = use(scalar.string, node, at: path) else { return nil }
      return checked(draft, at: path, line: node.line, fields: fields, kind: kind)
    }
    guard let mapping = node.mapping else {
      issues.report("a \(kind) or the name of a fact is expected", at: path, node)
      return nil
    }
    var draft = FactDraft(path: path, line: node.line)
    if let used = mapping["use"] {
      let field = "\(path).use"
      guard let name = values.text(used, at: field), let base = use(name, used, at: field),
        let fitting = checked(base, at: field, line: used.line, fields: fields, kind: kind)
      else { return nil }
      draft.fields = fitting.fields
      draft.extra = fitting.extra
    }
    for (key, value) in mapping {
      let name = key.scalar?.string ?? ""
      switch name {
      case "use": continue
      case "extra": readExtra(value, at: "\(path).extra", into: &draft.extra)
      default:
        guard let form = fields[name] else {
          issues.report(
            "a \(kind) has no such field; fields that Apple does not have go under extra",
            at: "\(path).\(name)", key)
          continue
        }
        draft.fields[name] = (payloadValue(value, form, at: "\(path).\(name)"), value.line)
      }
    }
    return draft
  }

  /// Reads the members of an object that is not a fact, such as `summary`. A nil value leaves the
  /// member out.
  func object(
    _ node: Node, at path: String, fields: AppleFields
  ) -> [(name: String, value: PayloadValue?)] {
    guard let mapping = node.mapping else {
      issues.report("a mapping is expected", at: path, node)
      return []
    }
    return mapping.compactMap { key, value in
      let name = key.scalar?.string ?? ""
      guard let form = fields[name] else {
        let allowed = fields.names.joined(separator: ", ")
        issues.report("unknown field; allowed: \(allowed)", at: "\(path).\(name)", key)
        return nil
      }
      return (name, payloadValue(value, form, at: "\(path).\(name)"))
    }
  }

  func readExtra(_ node: Node?, at path: String, into object: inout PayloadObject) {
    guard let node else { return }
    guard case .object(let extra) = PayloadValue(node) else {
      return issues.report("a mapping is expected", at: path, node)
    }
    for name in extra.names { object[name] = extra[name] }
  }

  private func use(_ name: String, _ node: Node, at path: String) -> FactDraft? {
    if let draft = named[name] { return draft }
    let known = named.keys.sorted().joined(separator: ", ")
    issues.report(
      "no fact above has this name\(known.isEmpty ? "" : "; there are \(known)")", at: path, node)
    return nil
  }

  private func checked(
    _ draft: FactDraft, at path: String, line: Int, fields: AppleFields, kind: String
  ) -> FactDraft? {
    let unknown = draft.fields.keys.filter { fields[$0] == nil }.sorted()
    guard unknown.isEmpty else {
      issues.report(
        "a \(kind) has no \(unknown.joined(separator: ", ")), which the named fact has",
        at: path, line: line)
      return nil
    }
    var fitting = FactDraft(path: path, line: line)
    fitting.fields = draft.fields
    fitting.extra = draft.extra
    return fitting
  }

  /// - Returns: nil when the field is left out, or has an issue, which was reported.
  private func payloadValue(_ node: Node, _ form: AppleFieldForm, at path: String) -> PayloadValue?
  {
    if node.isNull { return nil }
    switch form {
    case .text:
      return values.text(node, at: path).map { .text($0) }
    case .integer:
      return values.integer(node, at: path).map { .number(String($0)) }
    case .boolean:
      return values.boolean(node, at: path).map { .boolean($0) }
    case .moment:
      return values.moment(node, at: path).map { .number(String($0.rawValue)) }
    case .texts:
      return .list(
        values.list(node, at: path).compactMap { item in
          values.text(item.node, at: item.path).map { .text($0) }
        })
    case .object(let fields):
      var members = PayloadObject()
      for (name, value) in object(node, at: path, fields: fields) { members[name] = value }
      return .object(members)
    case .anything:
      return PayloadValue(node)
    }
  }
}
