import EntitlementDomain
import Yams

/// The names of ``Knowledge`` in scenario files.
private enum KnowledgeName: String, CaseIterable {
  case signedByThen = "signed_by_then"
  case now

  var value: Knowledge {
    switch self {
    case .signedByThen: .signedByThen
    case .now: .now
    }
  }
}

// Steps that query a state, an explanation or offers.
extension ScenarioReader {
  /// The fields that select a customer.
  private static let selectors = [
    "account", "originalTransactionId", "transactionId", "appTransactionId", "appAccountToken",
  ]

  mutating func query(
    _ fields: inout NodeFields, _ frame: StepFrame
  ) -> (at: Milliseconds, action: ScenarioStep.Action)? {
    let selector: CustomerSelector?
    if let node = fields.take("customer") {
      selector = self.selector(node, at: fields.path(of: "customer"))
    } else {
      selector = frame.account.map { .account($0) }
    }
    let state = fields.take("state").flatMap {
      expectations.expectation($0, .state, at: "\(frame.path).state")
    }
    let explanation = fields.take("explain").flatMap {
      expectations.expectation($0, .explanation, at: "\(frame.path).explain")
    }
    let offers = fields.take("offers").flatMap {
      expectations.expectation($0, .offers, at: "\(frame.path).offers")
    }
    let knowledge: KnowledgeName? = values.choice(
      fields.take("knowledge"), at: "\(frame.path).knowledge")
    let moments = moments(frame)
    guard let at = previousMoment ?? moments.min() else { return nil }
    return (
      at,
      .query(
        ScenarioQuery(
          scope: frame.scope, selector: selector, moments: moments,
          knowledge: knowledge?.value ?? .signedByThen, state: state,
          explanation: explanation, offers: offers))
    )
  }

  private func selector(_ node: Node, at path: String) -> CustomerSelector? {
    guard
      let fields = NodeFields(node, at: path, allowed: Self.selectors, issues: issues),
      let mapping = node.mapping
    else { return nil }
    guard mapping.count == 1, let (key, value) = mapping.first, let name = key.scalar?.string,
      let identifier = values.identifier(value, at: fields.path(of: name))
    else {
      issues.report("one of \(Self.selectors.joined(separator: ", "))", at: path, node)
      return nil
    }
    switch name {
    case "account": return .account(AccountID(identifier))
    case "originalTransactionId":
      return .originalTransaction(OriginalTransactionID(identifier))
    case "transactionId": return .transaction(TransactionID(identifier))
    case "appTransactionId": return .appTransaction(AppTransactionID(identifier))
    default: return .appAccountToken(AppAccountToken(identifier))
    }
  }

  /// The times of the query: the ones in the file, else the time of the previous step.
  private func moments(_ frame: StepFrame) -> [Milliseconds] {
    let field = "\(frame.path).at"
    guard let node = frame.atNode else {
      if previousMoment == nil {
        issues.report("missing; no step above has a time", at: field, frame.node)
      }
      return [previousMoment].compactMap { $0 }
    }
    if node.sequence != nil {
      return values.list(node, at: field).flatMap { interval($0.node, at: $0.path) }
    }
    return interval(node, at: field)
  }

  /// One time, or the first and the last millisecond of an interval.
  private func interval(_ node: Node, at path: String) -> [Milliseconds] {
    guard node.mapping != nil else {
      return [values.moment(node, at: path)].compactMap { $0 }
    }
    guard
      var fields = NodeFields(node, at: path, allowed: ["from", "until"], issues: issues)
    else { return [] }
    for name in ["from", "until"] where !fields.contains(name) {
      issues.report("missing", at: fields.path(of: name), node)
    }
    guard let from = values.moment(fields.take("from"), at: fields.path(of: "from")),
      let until = values.moment(fields.take("until"), at: fields.path(of: "until"))
    else { return [] }
    guard from < until else {
      issues.report("until is not after from", at: path, node)
      return []
    }
    let last = until.advanced(by: -1)
    return last == from ? [from] : [from, last]
  }
}
