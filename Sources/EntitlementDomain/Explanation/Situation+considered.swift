/// A considered item with the moment by which items are sorted.
struct Consideration {
  var item: ConsideredItem
  /// Nil for an item without a moment, such as a rule.
  let moment: Milliseconds?

  var ground: DecisionGround { DecisionGround(kind: item.kind, identifier: item.identifier) }

  /// The order of items: those without a moment first, then the latest first.
  static func isMoreRecent(_ left: Consideration, _ right: Consideration) -> Bool {
    let (leftMoment, rightMoment) = (
      left.moment ?? Milliseconds(.max), right.moment ?? Milliseconds(.max)
    )
    return leftMoment == rightMoment ? left.ground < right.ground : leftMoment > rightMoment
  }
}

extension Situation {
  /// The items that could decide an entitlement: purchases, grants and rules that can confer it. A
  /// chain with such a purchase contributes all its transactions.
  func considerations(on entitlement: EntitlementID, by finding: Finding?) -> [Consideration] {
    var items: [Consideration] = []
    for (position, chain) in history.chains.enumerated()
    where chain.products.contains(where: { confers($0, entitlement) }) {
      items += considerations(ofChain: position, for: entitlement)
    }
    for (position, purchases) in history.purchases.enumerated()
    where confers(purchases.product, entitlement) {
      items += purchases.windows.indices.map { index in
        consideration(
          ofTransaction: purchases.windows[index].fact,
          decision: decision(onWindow: index, of: position))
      }
    }
    items += history.grants.lazy.filter { $0.entitlementID == entitlement }.map { grant in
      Consideration(
        item: ConsideredItem(
          kind: .grant, identifier: grant.id.rawValue, statedAt: grant.createdAt,
          isDecisive: false, decision: decision(on: grant)), moment: grant.starts)
    }
    items += grandfatheringConsiderations(on: entitlement)
    if case .unnamedProduct(let position) = finding?.subject {
      items += unnamedProduct(position, for: entitlement)
    }
    return items
  }

  /// The items of a chain: its periods, the superseded transactions, and the renewal info.
  ///
  /// - Parameter entitlement: the entitlement to explain; nil to explain the group.
  func considerations(
    ofChain position: Int, for entitlement: EntitlementID?
  ) -> [Consideration] {
    let chain = history.chains[position]
    let decisive = verdicts[position].period.fact
    var items = chain.periods.map { period in
      consideration(
        ofTransaction: period.fact,
        decision: period.fact == decisive
          ? decision(onChain: position, for: entitlement)
          : statement(on: period, of: position, for: entitlement))
    }
    items += chain.repeats.map { fact in
      consideration(
        ofTransaction: fact,
        decision: Decision(
          6,
          "\(table.subject(fact)) is another version of a period of chain \(chain.id.name), "
            + "of the same line item, and a later one stands: set aside."
        ).withAuthority(table.transaction(fact).authority))
    }
    if let renewal = chain.renewal {
      let info = table.renewalInfo(renewal.fact)
      items.append(
        Consideration(
          item: ConsideredItem(
            kind: .renewalInfo, identifier: chain.id.rawValue, productID: info.productID,
            statedAt: info.signedDate, isDecisive: false,
            decision: statement(on: renewal, of: position).withAuthority(info.authority)),
          moment: info.signedDate))
    }
    return items
  }

  /// - Parameter fact: the position of a transaction.
  private func consideration(ofTransaction fact: Int, decision: Decision) -> Consideration {
    let transaction = table.transaction(fact)
    return Consideration(
      item: ConsideredItem(
        kind: .transaction, identifier: transaction.transactionID.rawValue,
        productID: transaction.productID, statedAt: transaction.signedDate, isDecisive: false,
        decision: decision), moment: transaction.purchaseDate)
  }

  /// The grandfathering rules for an entitlement, and the app transactions that they were applied
  /// to.
  private func grandfatheringConsiderations(on entitlement: EntitlementID) -> [Consideration] {
    let rules = history.grandfathering.indices.filter {
      history.grandfathering[$0].rule.entitlements.contains(entitlement)
    }
    var items = rules.map { position in
      Consideration(
        item: ConsideredItem(
          kind: .grandfatheringRule,
          identifier: history.grandfathering[position].rule.id.rawValue, isDecisive: false,
          decision: decision(onRule: position)), moment: nil)
    }
    let isEvaluated = rules.contains {
      history.grandfathering[$0].verdict.state.outcome != .notEvaluated
    }
    guard isEvaluated else { return items }
    items += appTransactions.map { fact in
      Consideration(
        item: ConsideredItem(
          kind: .appTransaction, identifier: fact.identity.rawValue, statedAt: fact.signedDate,
          isDecisive: false, decision: statement(on: fact).withAuthority(fact.authority)),
        moment: fact.signedDate)
    }
    return items
  }

  /// The transactions of a product that is not in the catalog (R14).
  private func unnamedProduct(
    _ position: Int, for entitlement: EntitlementID
  ) -> [Consideration] {
    let id = state.products[position].standing.transactionID
    let facts =
      history.chains.lazy.flatMap { $0.periods.lazy.map(\.fact) }
      .filter { table.transaction($0).transactionID == id }
      + history.purchases.lazy.flatMap { $0.windows.lazy.map(\.fact) }
      .filter { table.transaction($0).transactionID == id }
    return facts.map { fact in
      consideration(
        ofTransaction: fact, decision: decision(on: .unnamedProduct(position), for: entitlement))
    }
  }

  /// Sorts the items and limits their number. Decisive items come first, then the others by kind,
  /// the latest first. Of the others, the most recent are kept.
  static func bounded(
    _ items: [Consideration], grounds: [DecisionGround], decision: Decision, to limit: Int
  ) -> [ConsideredItem] {
    var decisive: [ConsideredItem] = []
    for ground in grounds {
      guard var item = items.first(where: { $0.ground == ground })?.item else { continue }
      item.isDecisive = true
      // The decision is about the first item.
      if decisive.isEmpty { item.decision = decision }
      decisive.append(item)
    }
    let rest = items.filter { !grounds.contains($0.ground) }
      .sorted(by: Consideration.isMoreRecent)
      .prefix(max(0, limit - decisive.count))
      .enumerated()
      .sorted { left, right in
        let kinds = (left.element.item.kind.rawValue, right.element.item.kind.rawValue)
        return kinds.0 == kinds.1 ? left.offset < right.offset : kinds.0 < kinds.1
      }
    return decisive + rest.map(\.element.item)
  }
}
