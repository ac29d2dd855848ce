import EntitlementDomain
import EntitlementService
import StoreSimulator
import Yams

extension ScenarioReader {
  /// The kinds of steps, with the fields that each allows in addition to `bundle_id` and
  /// `environment`.
  private static let allowedFields: KeyValuePairs<String, Set<String>> = [
    "notification": ["at", "account", "name", "expect"],
    "submit": ["at", "account", "name", "expect"],
    "again": ["at", "account", "expect"],
    "life_cycle": ["account"],
    "grant": ["at", "account"],
    "withdraw_grant": ["at"],
    "catalog": ["at"],
    "state": ["at", "account", "customer", "knowledge"],
    "explain": ["at", "account", "customer", "knowledge"],
    "offers": ["at", "account", "customer"],
    "as_notified": [],
  ]

  private static let fields =
    allowedFields.map(\.key) + [
      "at", "account", "bundle_id", "environment", "name", "expect", "customer",
      "knowledge",
    ]

  mutating func step(_ node: Node, at path: String) -> ScenarioStep? {
    guard var fields = NodeFields(node, at: path, allowed: Self.fields, issues: issues),
      let kind = kind(of: fields)
    else { return nil }
    let frame = frame(&fields)
    let name = fields.take("name")
    let expectNode = fields.take("expect")
    let action: (at: Milliseconds, action: ScenarioStep.Action)?
    switch kind {
    case "notification": action = notification(fields.take(kind), frame)
    case "submit": action = submission(fields.take(kind), frame)
    case "again": action = repetition(fields.take(kind), frame)
    case "life_cycle": action = lifeCycle(fields.take(kind), frame)
    case "grant": action = grant(fields.take(kind), frame)
    case "withdraw_grant": action = withdrawal(fields.take(kind), frame)
    case "catalog": action = catalogChange(fields.take(kind), frame)
    case "as_notified": action = asNotified(fields.take(kind), frame)
    default: action = query(&fields, frame)
    }
    guard let action else { return nil }
    if let name, let text = values.identifier(name, at: "\(path).name") {
      if named[text] != nil { issues.report("the name is used twice", at: "\(path).name", name) }
      named[text] = action.action
    }
    return ScenarioStep(
      line: node.line, path: path, at: action.at, account: frame.account, action: action.action,
      expectation: expectNode.flatMap { expectation($0, of: action.action, at: "\(path).expect") })
  }

  /// The kind of a step: the name of its action.
  private func kind(of fields: NodeFields) -> String? {
    var kinds = Self.allowedFields.map(\.key).filter { fields.contains($0) }
    // They query the same customer at the same times. Offers are judged by all that is known.
    let queries = kinds.filter { ["state", "explain", "offers"].contains($0) }
    if queries == kinds, let last = queries.last { kinds = [last] }
    guard kinds.count == 1, let kind = kinds.first else {
      let list = Self.allowedFields.map(\.key).joined(separator: ", ")
      issues.report(
        kinds.isEmpty
          ? "one of \(list) is needed" : "only one of \(kinds.joined(separator: ", ")) is possible",
        at: fields.path, fields.node)
      return nil
    }
    let allowed = Self.allowedFields.first { $0.key == kind }?.value ?? []
    for name in ["at", "account", "name", "expect", "customer", "knowledge"]
    where fields.contains(name) && !allowed.contains(name) {
      issues.report("\(kind) has no such field", at: fields.path(of: name), fields.node)
    }
    return kind
  }

  private func frame(_ fields: inout NodeFields) -> StepFrame {
    var scope = defaults.scope
    if let node = fields.take("bundle_id"),
      let identifier = values.identifier(node, at: fields.path(of: "bundle_id"))
    {
      scope = AppScope(bundleID: BundleID(identifier), environment: scope.environment)
    }
    let environment: StoreEnvironment? = values.choice(
      fields.take("environment"), at: fields.path(of: "environment"))
    if let environment {
      scope = AppScope(bundleID: scope.bundleID, environment: environment)
    }
    var account = defaults.account
    if let node = fields.take("account") {
      account =
        node.isNull
        ? nil
        : values.identifier(node, at: fields.path(of: "account")).map { AccountID($0) }
    }
    return StepFrame(
      node: fields.node, path: fields.path, account: account, scope: scope,
      atNode: fields.take("at"))
  }

  /// The time of the step. Sets ``previousMoment`` to it.
  ///
  /// - Parameter written: the signing dates in the step.
  mutating func receive(_ frame: StepFrame, written: [Milliseconds] = []) -> Milliseconds {
    let field = "\(frame.path).at"
    var moment: Milliseconds?
    if let node = frame.atNode {
      moment = values.clockMoment(node, at: field)
      if let moment, let previousMoment, moment < previousMoment {
        issues.report("before the step above", at: field, node)
      }
    } else if let latest = written.filter({ SimulatedCalendar.range.contains($0) }).max() {
      moment = max(latest, previousMoment ?? latest)
    } else if previousMoment == nil {
      issues.report("missing; no step above has a time", at: field, frame.node)
    }
    let received = moment ?? previousMoment ?? SimulatedCalendar.range.lowerBound
    previousMoment = received
    return received
  }

  private func expectation(
    _ node: Node, of action: ScenarioStep.Action, at path: String
  ) -> Expectation? {
    switch action {
    case .notification: expectations.expectation(node, .notification, at: path)
    case .submission: expectations.expectation(node, .submission, at: path)
    default: nil
    }
  }

  // MARK: Steps without signed payloads

  private mutating func asNotified(
    _ node: Node?, _ frame: StepFrame
  ) -> (at: Milliseconds, action: ScenarioStep.Action)? {
    guard let previousMoment else {
      issues.report("no notification above", at: "\(frame.path).as_notified", frame.node)
      return nil
    }
    if node?.scalar?.string != "true" {
      issues.report("true is the only value", at: "\(frame.path).as_notified", frame.node)
      return nil
    }
    return (previousMoment, .asNotified)
  }

  private mutating func repetition(
    _ node: Node?, _ frame: StepFrame
  ) -> (at: Milliseconds, action: ScenarioStep.Action)? {
    let field = "\(frame.path).again"
    let at = receive(frame)
    guard let node, let name = values.identifier(node, at: field) else { return nil }
    guard let action = named[name] else {
      issues.report("no step above has this name", at: field, node)
      return nil
    }
    return (at, action)
  }

  private mutating func catalogChange(
    _ node: Node?, _ frame: StepFrame
  ) -> (at: Milliseconds, action: ScenarioStep.Action)? {
    let at = receive(frame)
    guard let node, let next = catalogs.catalog(node, at: "\(frame.path).catalog") else {
      return nil
    }
    catalog = next
    return (at, .catalog(next))
  }

  private mutating func grant(
    _ node: Node?, _ frame: StepFrame
  ) -> (at: Milliseconds, action: ScenarioStep.Action)? {
    let at = receive(frame)
    guard let node,
      var fields = NodeFields(
        node, at: "\(frame.path).grant",
        allowed: ["entitlement", "id", "starts", "expires", "reason", "on_behalf_of"],
        issues: issues)
    else { return nil }
    payloadCount += 1
    let id = values.identifier(fields.take("id"), at: fields.path(of: "id"))?.lowercased()
    let starts = values.moment(fields.take("starts"), at: fields.path(of: "starts"))
    let expires = values.moment(fields.take("expires"), at: fields.path(of: "expires"))
    let reason = values.identifier(fields.take("reason"), at: fields.path(of: "reason"))
    let onBehalfOf = values.identifier(
      fields.take("on_behalf_of"), at: fields.path(of: "on_behalf_of"))
    let entitlement = values.required(&fields, "entitlement")
    guard let account = frame.account else {
      issues.report("missing; a grant needs one", at: "\(frame.path).account", frame.node)
      return nil
    }
    guard let entitlement else { return nil }
    return (
      at,
      .grant(
        GrantRequest(
          id: GrantID(id ?? Self.uuid(payloadCount)), scope: frame.scope, accountID: account,
          entitlementID: EntitlementID(entitlement), starts: starts, expires: expires,
          reason: reason ?? "scenario", onBehalfOf: onBehalfOf))
    )
  }

  private mutating func withdrawal(
    _ node: Node?, _ frame: StepFrame
  ) -> (at: Milliseconds, action: ScenarioStep.Action)? {
    let at = receive(frame)
    guard let node,
      var fields = NodeFields(
        node, at: "\(frame.path).withdraw_grant", allowed: ["id", "reason", "on_behalf_of"],
        issues: issues)
    else { return nil }
    let reason = values.identifier(fields.take("reason"), at: fields.path(of: "reason"))
    let onBehalfOf = values.identifier(
      fields.take("on_behalf_of"), at: fields.path(of: "on_behalf_of"))
    guard let id = values.required(&fields, "id") else { return nil }
    return (
      at,
      .withdrawal(
        PlannedWithdrawal(
          id: GrantID(id.lowercased()), scope: frame.scope, onBehalfOf: onBehalfOf,
          reason: reason ?? "scenario"))
    )
  }

  /// A UUID in the form of RFC 9562 §5.4, the same in every run.
  static func uuid(_ number: Int) -> String {
    let digits = String(number)
    return "00000000-0000-4000-8000-"
      + String(repeating: "0", count: max(0, 12 - digits.count)) + digits
  }
}
