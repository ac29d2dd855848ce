/// A part that was considered, with the moment by which items are sorted. Its sentence is made only if
/// it is listed: a customer may have many more parts than an explanation lists.
struct Consideration {
  let kind: ConsideredItem.Kind
  let identifier: String
  var productID: ProductID?
  let statedAt: Milliseconds?
  /// Nil for an item without a moment, such as a rule.
  let moment: Milliseconds?

  /// The decision on this part alone.
  let decide: () -> Decision

  var ground: DecisionGround { DecisionGround(kind: kind, identifier: identifier) }

  /// - Parameter decision: nil for the decision on this part alone.
  func item(isDecisive: Bool = false, decision: Decision? = nil) -> ConsideredItem {
    ConsideredItem(
      kind: kind, identifier: identifier, productID: productID, statedAt: statedAt,
      isDecisive: isDecisive, decision: decision ?? decide())
  }

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
        consideration(ofTransaction: purchases.windows[index].fact) {
          decision(onWindow: index, of: position)
        }
      }
    }
    items += history.grants.lazy.filter { $0.entitlementID == entitlement }.map { grant in
      Consideration(
        kind: .grant, identifier: grant.id.rawValue, statedAt: grant.createdAt,
        moment: grant.starts, decide: { decision(on: grant) })
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
      consideration(ofTransaction: period.fact) {
        period.fact == decisive
          ? decision(onChain: position, for: entitlement)
          : statement(on: period, of: position, for: entitlement)
      }
    }
    items += chain.repeats.map { fact in
      consideration(ofTransaction: fact) {
        Decision(
          6,
          "\(table.subject(fact)) is another version of a period of chain \(chain.id.name), "
            + "of the same line item, and a later one stands: set aside."
        ).withAuthority(table.transaction(fact).authority)
      }
    }
    if let renewal = chain.renewal {
      let info = table.renewalInfo(renewal.fact)
      items.append(
        Consideration(
          kind: .renewalInfo, identifier: chain.id.rawValue, productID: info.productID,
          statedAt: info.signedDate, moment: info.signedDate,
          decide: { statement(on: renewal, of: position).withAuthority(info.authority) }))
    }
    return items
  }

  /// - Parameter fact: the position of a transaction.
  private func consideration(
    ofTransaction fact: Int, decide: @escaping () -> Decision
  ) -> Consideration {
    let transaction = table.transaction(fact)
    return Consideration(
      kind: .transaction, identifier: transaction.transactionID.rawValue,
      productID: transaction.productID, statedAt: transaction.signedDate,
      moment: transaction.purchaseDate, decide: decide)
  }

  /// The grandfathering rules for an entitlement, and the app transactions that they were applied
  /// to.
  private func grandfatheringConsiderations(on entitlement: EntitlementID) -> [Consideration] {
    let rules = history.grandfathering.indices.filter {
      history.grandfathering[$0].rule.entitlements.contains(entitlement)
    }
    var items = rules.map { position in
      Consideration(
        kind: .grandfatheringRule,
        identifier: history.grandfathering[position].rule.id.rawValue, statedAt: nil, moment: nil,
        decide: { decision(onRule: position) })
    }
    let isEvaluated = rules.contains {
      history.grandfathering[$0].verdict.state.outcome != .notEvaluated
    }
    guard isEvaluated else { return items }
    items += appTransactions.map { fact in
      Consideration(
        kind: .appTransaction, identifier: fact.identity.rawValue, statedAt: fact.signedDate,
        moment: fact.signedDate,
        decide: { statement(on: fact).withAuthority(fact.authority) })
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
      consideration(ofTransaction: fact) {
        decision(on: .unnamedProduct(position), for: entitlement)
      }
    }
  }

  /// Sorts the items and limits their number. Decisive items come first, then the others by kind,
  /// the latest first. Of the others, the most recent are kept.
  static func bounded(
    _ items: [Consideration], grounds: [DecisionGround], decision: Decision, to limit: Int
  ) -> [ConsideredItem] {
    var decisive: [ConsideredItem] = []
    for ground in grounds {
      guard let item = items.first(where: { $0.ground == ground }) else { continue }
      // The decision is about the first item.
      decisive.append(item.item(isDecisive: true, decision: decisive.isEmpty ? decision : nil))
    }
    let rest = items.filter { !grounds.contains($0.ground) }
      .sorted(by: Consideration.isMoreRecent)
      .prefix(max(0, limit - decisive.count))
      .enumerated()
      .sorted { left, right in
        let kinds = (left.element.kind.rawValue, right.element.kind.rawValue)
        return kinds.0 == kinds.1 ? left.offset < right.offset : kinds.0 < kinds.1
      }
    return decisive + rest.map { $0.element.item() }
  }
}
