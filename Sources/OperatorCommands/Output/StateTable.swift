import EntitlementDomain

/// Customers' states for people.
enum StateTable {
  /// One line a customer: what decides, and until when.
  static func list(_ states: [CustomerState]) -> String {
    var table = TextTable(
      header: ["CUSTOMER", "STATE", "ENTITLEMENTS", "PRODUCT", "STATUS", "UNTIL", "SUGGEST"])
    for state in states {
      let leading = leadingStanding(of: state)
      table.add([
        state.accountID?.rawValue ?? "-", wireName(state.coreState),
        cell(state.entitlements.map(\.entitlementID.rawValue)),
        leading?.productID.rawValue ?? "-", leading.map(status) ?? "-",
        leading.flatMap { $0.graceEnd ?? $0.periodEnd }?.display ?? "-",
        cell(state.callsToAction.map { wireName($0) }),
      ])
    }
    return table.text
  }

  /// One customer with all products, groups and entitlements.
  static func details(_ state: CustomerState) -> String {
    var lines = [
      "customer        \(TerminalText.visible(state.accountID?.rawValue ?? "not linked to an account"))",
      "app             \(TerminalText.visible(state.scope.bundleID.rawValue)) (\(state.scope.environment.rawValue))",
      "state           \(wireName(state.coreState))",
      "suggest         \(cell(state.callsToAction.map { wireName($0) }))",
      "revision        \(state.revision)",
      "evaluated at    \(state.evaluatedAt.display)",
      "next transition \(state.nextTransitionAt?.display ?? "-")",
    ]
    if !state.entitlements.isEmpty {
      var table = TextTable(header: ["ENTITLEMENT", "SINCE", "UNTIL", "PRODUCT", "TRANSACTION"])
      for entitlement in state.entitlements {
        for source in entitlement.sources {
          table.add([
            entitlement.entitlementID.rawValue, source.since.display, source.until?.display ?? "-",
            source.productID.rawValue, source.transactionID.rawValue,
          ])
        }
      }
      lines += ["", table.text]
    }
    let standings =
      state.groups.map { ("group \($0.groupID)", $0.standing) }
      + state.products.map { ($0.productID.rawValue, $0.standing) }
    if !standings.isEmpty {
      var table = TextTable(
        header: ["PRODUCT OR GROUP", "STATE", "STATUS", "FROM", "UNTIL", "RENEWS", "NOTICES"])
      for (name, standing) in standings {
        table.add([
          name, wireName(standing.coreState), status(standing), standing.periodStart.display,
          (standing.graceEnd ?? standing.periodEnd)?.display ?? "-",
          standing.willRenew.map { $0 ? "yes" : "no" } ?? "-",
          cell(standing.notices.map { wireName($0) }),
        ])
      }
      lines += ["", table.text]
    }
    return lines.joined(separator: "\n")
  }

  /// The standing that explains the state best: one that is active, else that of a group, else
  /// that of a product.
  private static func leadingStanding(of state: CustomerState) -> Standing? {
    let standings = state.groups.map(\.standing) + state.products.map(\.standing)
    return standings.first { $0.coreState == .active } ?? standings.first
  }

  private static func status(_ standing: Standing) -> String {
    let reason = standing.expirationReason.map { " (\(wireName($0)))" } ?? ""
    return wireName(standing.status) + reason
  }

  private static func cell(_ values: [String]) -> String {
    values.isEmpty ? "-" : values.joined(separator: ", ")
  }
}
