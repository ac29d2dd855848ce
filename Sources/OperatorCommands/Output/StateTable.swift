import EntitlementDomain
import Programs

/// Customer states as text for a terminal.
enum StateTable {
  /// One line a customer, with the leading product and the end of its access.
  static func list(_ states: [CustomerState]) -> String {
    var table = TextTable(
      header: ["CUSTOMER", "STATE", "ENTITLEMENTS", "PRODUCT", "STATUS", "UNTIL", "SUGGEST"])
    for state in states {
      let leading = leadingStanding(of: state)
      table.add([
        state.accountID?.rawValue ?? "-", wireName(state.coreState),
        cell(state.entitlements.map(name)),
        leading?.productID.rawValue ?? "-", leading.map(status) ?? "-",
        leading.flatMap { $0.graceEnd ?? $0.periodEnd }?.display ?? "-",
        cell(state.callsToAction.map { wireName($0) }),
      ])
    }
    return table.text
  }

  /// One customer with all products, groups, entitlements and grandfathering rules.
  static func details(_ state: CustomerState) -> String {
    let head =
      heading(of: state) + [
        line("state", wireName(state.coreState)),
        line("suggest", cell(state.callsToAction.map { wireName($0) })),
        line("revision", "\(state.revision)"),
        line("evaluated at", state.evaluatedAt.display),
        line("next transition", state.nextTransitionAt?.display ?? "-"),
      ]
    let tables = [entitlements(of: state), standings(of: state), grandfathering(of: state)]
    return ([head.joined(separator: "\n")] + tables.compactMap { $0?.text })
      .joined(separator: "\n\n")
  }

  /// The customer, the app and the environment.
  static func heading(of state: CustomerState) -> [String] {
    [
      line("customer", state.accountID?.rawValue ?? "not linked to an account"),
      line("app", "\(state.scope.bundleID) (\(state.scope.environment.rawValue))"),
    ]
  }

  /// A name, padded to a column, and its value.
  static func line(_ name: String, _ value: String) -> String {
    let space = String(repeating: " ", count: max(1, 16 - name.count))
    return name + space + TerminalText.escaped(value)
  }

  private static func entitlements(of state: CustomerState) -> TextTable? {
    if state.entitlements.isEmpty { return nil }
    var table = TextTable(header: ["ENTITLEMENT", "SINCE", "UNTIL", "CONFERRED BY"])
    for entitlement in state.entitlements {
      for source in entitlement.sources {
        table.add([
          entitlement.entitlementID.rawValue, source.since.display, source.until?.display ?? "-",
          description(of: source),
        ])
      }
    }
    return table
  }

  private static func standings(of state: CustomerState) -> TextTable? {
    let standings =
      state.groups.map { ("group \($0.groupID)", $0.standing) }
      + state.products.map { ($0.productID.rawValue, $0.standing) }
    if standings.isEmpty { return nil }
    var table = TextTable(
      header: [
        "PRODUCT OR GROUP", "STATE", "STATUS", "FROM", "UNTIL", "RENEWS", "OFFERS", "NOTICES",
      ])
    for (name, standing) in standings {
      table.add([
        name, wireName(standing.coreState), status(standing), standing.periodStart.display,
        (standing.graceEnd ?? standing.periodEnd)?.display ?? "-",
        standing.willRenew.map { $0 ? "yes" : "no" } ?? "-", offers(of: standing),
        cell(standing.notices.map { wireName($0) }),
      ])
    }
    return table
  }

  private static func grandfathering(of state: CustomerState) -> TextTable? {
    if state.grandfathering.isEmpty { return nil }
    var table = TextTable(
      header: ["GRANDFATHERING RULE", "OUTCOME", "REASON", "FLAGGED", "APP TRANSACTION"])
    for rule in state.grandfathering {
      table.add([
        rule.ruleID.rawValue, wireName(rule.outcome), wireName(rule.reason),
        rule.isFlagged ? "yes" : "no", rule.appTransactionID?.rawValue ?? "-",
      ])
    }
    return table
  }

  private static func description(of source: EntitlementSource) -> String {
    let origin =
      switch source.origin {
      case .purchase(let transaction, chain: _, let product):
        "\(product), transaction \(transaction)"
      case .grant(let id): "grant \(id)"
      case .grandfathering(let id): "grandfathering rule \(id)"
      }
    switch source.evidence {
    case .archivedResponse: return origin + " (UNSIGNED)"
    case .receipt: return origin + " (receipt)"
    case .signedTransaction, nil: return origin
    }
  }

  /// The entitlement's id. If no purchase confers it, the kinds of its sources follow in
  /// parentheses.
  private static func name(of entitlement: EntitlementState) -> String {
    var kinds: [String] = []
    for source in entitlement.sources {
      let kind: String
      switch source.origin {
      case .purchase: return entitlement.entitlementID.rawValue
      case .grant: kind = "grant"
      case .grandfathering: kind = "grandfathering"
      }
      if !kinds.contains(kind) { kinds.append(kind) }
    }
    return "\(entitlement.entitlementID) (\(kinds.joined(separator: ", ")))"
  }

  /// The offer at the next renewal, and win-back offers.
  private static func offers(of standing: Standing) -> String {
    var offers: [String] = []
    if let offer = standing.renewalOffer {
      offers.append("at renewal: \(offer.identifier ?? description(of: offer.type))")
    }
    if !standing.winBackOfferIDs.isEmpty {
      offers.append("win-back: \(standing.winBackOfferIDs.joined(separator: ", "))")
    }
    return offers.isEmpty ? "-" : offers.joined(separator: "; ")
  }

  private static func description(of type: OfferType) -> String {
    switch type {
    case .introductory: "introductory"
    case .promotional: "promotional"
    case .offerCode: "offer code"
    case .winBack: "win-back"
    default: "type \(type.rawValue)"
    }
  }

  /// The standing that explains the state best: an active one, else the first group's, else the
  /// first product's.
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
