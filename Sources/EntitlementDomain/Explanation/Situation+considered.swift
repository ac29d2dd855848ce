/// A part that was considered, by its position, with the moment by which items are sorted. Its texts
/// are made only if it is listed: a customer may have many more parts than an explanation lists.
struct ConsideredPart {
  enum Part: Hashable {
    case transaction(fact: Int)
    case renewal(chain: Int)
    case appTransaction(fact: Int)
    case grant(Int)
    /// A grandfathering rule.
    case rule(Int)
  }

  /// What the sentence of a transaction is about.
  enum Role {
    case period(index: Int, chain: Int)
    /// Another transaction of a period or purchase (R6).
    case repeated
    case window(index: Int, of: Int)
    case unnamedProduct(Int)
    /// The part is no transaction.
    case other
  }

  let part: Part
  var role = Role.other
  /// Nil for an item without a moment, such as a rule.
  let moment: Milliseconds?

  var kind: ConsideredItem.Kind {
    switch part {
    case .transaction: .transaction
    case .renewal: .renewalInfo
    case .appTransaction: .appTransaction
    case .grant: .grant
    case .rule: .grandfatheringRule
    }
  }
}

extension Situation {
  /// The parts that could decide an entitlement: purchases, grants and rules that can confer it. A
  /// chain with such a purchase contributes all its transactions.
  func consideredParts(on entitlement: EntitlementID, by finding: Finding?) -> [ConsideredPart] {
    var parts: [ConsideredPart] = []
    for position in chains(conferring: entitlement) {
      parts += consideredParts(ofChain: position)
    }
    for (position, purchases) in history.purchases.enumerated()
    where confers(purchases.product, entitlement) {
      for (index, window) in purchases.windows.enumerated() {
        parts.append(
          ConsideredPart(
            part: .transaction(fact: window.fact), role: .window(index: index, of: position),
            moment: window.purchaseDate))
      }
      parts += repeats(purchases.repeats)
    }
    for position in history.grants.indices
    where history.grants[position].entitlementID == entitlement {
      parts.append(
        ConsideredPart(part: .grant(position), moment: history.grants[position].starts))
    }
    parts += grandfatheringParts(on: entitlement)
    if case .unnamedProduct(let position) = finding?.subject {
      parts += facts(ofUnnamedProduct: position).map { fact in
        ConsideredPart(
          part: .transaction(fact: fact), role: .unnamedProduct(position),
          moment: table.transaction(fact).purchaseDate)
      }
    }
    return parts
  }

  private func repeats(_ facts: [Int]) -> [ConsideredPart] {
    facts.map { fact in
      ConsideredPart(
        part: .transaction(fact: fact), role: .repeated,
        moment: table.transaction(fact).purchaseDate)
    }
  }

  /// The parts of a chain: its periods, the repeated transactions, and the renewal info.
  func consideredParts(ofChain position: Int) -> [ConsideredPart] {
    let chain = history.chains[position]
    var parts = chain.periods.indices.map { index in
      ConsideredPart(
        part: .transaction(fact: chain.periods[index].fact),
        role: .period(index: index, chain: position), moment: chain.periods[index].start)
    }
    parts += repeats(chain.repeats)
    if let renewal = chain.renewal {
      parts.append(
        ConsideredPart(part: .renewal(chain: position), moment: renewal.signedDate))
    }
    return parts
  }

  /// The grandfathering rules for an entitlement, and the app transactions that they were applied
  /// to.
  private func grandfatheringParts(on entitlement: EntitlementID) -> [ConsideredPart] {
    let rules = history.grandfathering.indices.filter {
      history.grandfathering[$0].rule.entitlements.contains(entitlement)
    }
    let parts = rules.map { ConsideredPart(part: .rule($0), moment: nil) }
    let isEvaluated = rules.contains {
      history.grandfathering[$0].verdict.state.outcome != .notEvaluated
    }
    guard isEvaluated else { return parts }
    return parts
      + history.appTransactions.map {
        ConsideredPart(
          part: .appTransaction(fact: $0), moment: table.appTransaction($0).signedDate)
      }
  }

  /// The transactions of a product that is not in the catalog (R14).
  func facts(ofUnnamedProduct position: Int) -> [Int] {
    let id = state.products[position].standing.transactionID
    return history.chains.lazy.flatMap { $0.periods.lazy.map(\.fact) }
      .filter { table.transaction($0).transactionID == id }
      + history.purchases.lazy.flatMap { $0.windows.lazy.map(\.fact) }
      .filter { table.transaction($0).transactionID == id }
  }

  // MARK: Items

  /// Sorts the parts and limits their number. Decisive items come first, then the others by kind,
  /// the latest first. Of the others, the most recent are kept.
  ///
  /// - Parameters:
  ///   - decision: that of the first ground.
  ///   - entitlement: the entitlement to explain; nil to explain a group.
  func bounded(
    _ parts: [ConsideredPart], grounds: [ConsideredPart.Part], decision: Decision,
    for entitlement: EntitlementID?, to limit: Int
  ) -> [ConsideredItem] {
    var decisive: [ConsideredItem] = []
    for ground in grounds {
      guard let part = parts.first(where: { $0.part == ground }) else { continue }
      // The decision is about the first item.
      decisive.append(
        item(of: part, for: entitlement, isDecisive: true, as: decisive.isEmpty ? decision : nil))
    }
    let rest = mostRecent(max(0, limit - decisive.count), of: parts, without: grounds)
      .enumerated()
      .sorted { left, right in
        let kinds = (left.element.kind.rawValue, right.element.kind.rawValue)
        return kinds.0 == kinds.1 ? left.offset < right.offset : kinds.0 < kinds.1
      }
    return decisive + rest.map { item(of: $0.element, for: entitlement) }
  }

  /// The most recent parts, in their order. Takes O(n log k) for k of n parts.
  private func mostRecent(
    _ count: Int, of parts: [ConsideredPart], without grounds: [ConsideredPart.Part]
  ) -> [ConsideredPart] {
    var kept: [ConsideredPart] = []
    for part in parts where !grounds.contains(part.part) {
      if kept.count == count {
        guard let last = kept.last, isMoreRecent(part, last) else { continue }
        kept.removeLast()
      }
      var (low, high) = (0, kept.count)
      while low < high {
        let middle = (low + high) / 2
        if isMoreRecent(kept[middle], part) { low = middle + 1 } else { high = middle }
      }
      kept.insert(part, at: low)
    }
    return kept
  }

  /// The order of items: those without a moment first, then the latest first.
  private func isMoreRecent(_ left: ConsideredPart, _ right: ConsideredPart) -> Bool {
    let (leftMoment, rightMoment) = (
      left.moment ?? Milliseconds(.max), right.moment ?? Milliseconds(.max)
    )
    return leftMoment == rightMoment
      ? ground(of: left) < ground(of: right) : leftMoment > rightMoment
  }

  private func ground(of part: ConsideredPart) -> DecisionGround {
    DecisionGround(kind: part.kind, identifier: identifier(of: part.part))
  }

  private func identifier(of part: ConsideredPart.Part) -> String {
    switch part {
    case .transaction(let fact): table.transaction(fact).transactionID.rawValue
    case .renewal(let chain): history.chains[chain].id.rawValue
    case .appTransaction(let fact): table.appTransaction(fact).identity.rawValue
    case .grant(let position): history.grants[position].id.rawValue
    case .rule(let position): history.grandfathering[position].rule.id.rawValue
    }
  }

  /// - Parameter decision: nil for the decision on this part alone.
  private func item(
    of part: ConsideredPart, for entitlement: EntitlementID?, isDecisive: Bool = false,
    as decision: Decision? = nil
  ) -> ConsideredItem {
    var item = ConsideredItem(
      kind: part.kind, identifier: identifier(of: part.part), isDecisive: isDecisive,
      decision: decision ?? self.decision(on: part, for: entitlement))
    switch part.part {
    case .transaction(let fact):
      let transaction = table.transaction(fact)
      item.productID = transaction.productID
      item.statedAt = transaction.signedDate
    case .renewal(let chain):
      let info = history.chains[chain].renewal.map { table.renewalInfo($0.fact) }
      item.productID = info?.productID
      item.statedAt = info?.signedDate
    case .appTransaction(let fact):
      item.statedAt = table.appTransaction(fact).signedDate
    case .grant(let position):
      item.statedAt = history.grants[position].createdAt
    case .rule: break
    }
    return item
  }

  /// The decision on one part alone.
  private func decision(on part: ConsideredPart, for entitlement: EntitlementID?) -> Decision {
    switch part.part {
    case .transaction(let fact):
      return decision(onTransaction: fact, as: part.role, for: entitlement)
    case .renewal(let chain):
      guard let renewal = history.chains[chain].renewal else {
        preconditionFailure("the chain has no renewal info")
      }
      return statement(on: renewal, of: chain)
        .withAuthority(table.renewalInfo(renewal.fact).authority)
    case .appTransaction(let fact):
      let appTransaction = table.appTransaction(fact)
      return statement(on: appTransaction).withAuthority(appTransaction.authority)
    case .grant(let position): return decision(on: history.grants[position])
    case .rule(let position): return decision(onRule: position)
    }
  }

  private func decision(
    onTransaction fact: Int, as role: ConsideredPart.Role, for entitlement: EntitlementID?
  ) -> Decision {
    switch role {
    case .period(let index, let chain):
      return fact == verdicts[chain].period.fact
        ? decision(onChain: chain, for: entitlement)
        : statement(on: history.chains[chain].periods[index], of: chain, for: entitlement)
    case .repeated:
      let chain = table.transaction(fact).originalTransactionID
      return Decision(
        6,
        "\(table.subject(fact)) is of a purchase of chain \(chain.name) that has another transaction, "
          + "which stands: set aside."
      ).withAuthority(table.transaction(fact).authority)
    case .window(let index, let position):
      return decision(onWindow: index, of: position)
    case .unnamedProduct(let position):
      guard let entitlement else {
        preconditionFailure("a group is decided by a chain")
      }
      return decision(on: .unnamedProduct(position), for: entitlement)
    case .other:
      preconditionFailure("a transaction has a role")
    }
  }
}
