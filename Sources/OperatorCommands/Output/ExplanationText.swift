import EntitlementDomain

/// Why a customer's state is what it is, for people.
enum ExplanationText {
  /// - Parameter catalog: the file that was answered under instead of the catalog in force.
  static func text(of explanation: Explanation, catalog: String? = nil) -> String {
    let state = explanation.state
    var lines = StateTable.heading(of: state)
    if let catalog { lines.append(StateTable.line("catalog", catalog)) }
    lines += [
      StateTable.line("state", wireName(state.coreState)),
      StateTable.line("evaluated at", state.evaluatedAt.display),
    ]
    for entitlement in explanation.entitlements {
      let outcome = entitlement.isConferred ? "conferred" : "not conferred"
      lines += ["", visible("entitlement \(entitlement.entitlementID): \(outcome)")]
      lines += body(of: entitlement.reasoning)
    }
    for group in explanation.groups {
      lines += ["", visible("group \(group.groupID): \(wireName(group.status))")]
      lines += body(of: group.reasoning)
    }
    return lines.joined(separator: "\n")
  }

  private static func body(of reasoning: Reasoning) -> [String] {
    let sections = [
      ("decided by", items(reasoning.considered.filter(\.isDecisive), of: reasoning)),
      ("also considered", items(reasoning.considered.filter { !$0.isDecisive }, of: reasoning)),
      ("would change it", changes(reasoning.changes)),
    ]
    return ["  \(sentence(reasoning.decision))"]
      + sections.flatMap { title, lines in lines.isEmpty ? [] : ["  \(title)"] + lines }
  }

  private static func items(_ items: [ConsideredItem], of reasoning: Reasoning) -> [String] {
    items.flatMap { item in
      var line = "    \(name(of: item.kind)) \(item.identifier)"
      if let productID = item.productID { line += ", \(productID)" }
      if let statedAt = item.statedAt {
        line += ", \(item.kind == .grant ? "given" : "stated") \(statedAt.display)"
      }
      // What decided has its sentence above already.
      let own = item.decision == reasoning.decision ? [] : ["      \(sentence(item.decision))"]
      return [visible(line)] + own
    }
  }

  /// The moments, or that there is none, in a column of their own.
  private static func changes(_ changes: [ExpectedChange]) -> [String] {
    let moments = changes.map { $0.at?.display ?? "at any time" }
    let width = moments.map(\.count).max() ?? 0
    return zip(changes, moments).map { change, moment in
      let space = String(repeating: " ", count: width - moment.count)
      return "    \(moment)\(space)  \(sentence(change.decision))"
    }
  }

  private static func sentence(_ decision: Decision) -> String {
    visible("\(decision.rule): \(decision.sentence)")
  }

  private static func name(of kind: ConsideredItem.Kind) -> String {
    switch kind {
    case .transaction: "transaction"
    case .renewalInfo: "renewal info of chain"
    case .appTransaction: "app transaction"
    case .grant: "grant"
    case .grandfatheringRule: "grandfathering rule"
    }
  }

  private static func visible(_ text: String) -> String {
    TerminalText.visible(text)
  }
}
