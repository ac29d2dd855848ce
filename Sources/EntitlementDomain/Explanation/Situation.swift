/// The standing of each part of a history at one moment, with the resulting state. The sentences of
/// an explanation are derived from it.
struct Situation {
  let history: History
  /// The state at ``now``. Its next transition is not used.
  let state: CustomerState
  /// What decides each chain, by the chain's position in the history.
  let verdicts: [Verdict]
  /// The most relevant product in force that is not in the catalog (R14).
  let unnamedProduct: Finding?
  private let conferring: ConferringProducts
  private let sources: [EntitlementID: [EntitlementSource]]
  private let chainsOfGroups: [SubscriptionGroupID: [Int]]

  /// The period that decides a chain, and its outcome.
  struct Verdict {
    let period: Period
    let outcome: SubscriptionChain.Outcome
  }

  init(history: History, state: CustomerState) {
    self.init(
      history: history, state: state, conferring: ConferringProducts(in: history))
  }

  /// The situation of the same history at another moment.
  func at(_ state: CustomerState) -> Situation {
    Situation(history: history, state: state, conferring: conferring)
  }

  private init(history: History, state: CustomerState, conferring: ConferringProducts) {
    self.history = history
    self.state = state
    self.conferring = conferring
    sources = Dictionary(state.entitlements.map { ($0.entitlementID, $0.sources) }) { first, _ in
      first
    }
    verdicts = history.chains.indices.map { position in
      let chain = history.chains[position]
      let period = chain.decisivePeriod(in: history.table, at: state.evaluatedAt)
      return Verdict(
        period: period,
        outcome: chain.outcome(of: period, leeway: history.renewalLeeway, at: state.evaluatedAt))
    }
    unnamedProduct = Self.unnamedProduct(of: state)
    var chainsOfGroups: [SubscriptionGroupID: [Int]] = [:]
    for position in history.chains.indices {
      let period = verdicts[position].period
      if let group = history.chains[position].groupID(of: period, in: history.table) {
        chainsOfGroups[group, default: []].append(position)
      }
    }
    self.chainsOfGroups = chainsOfGroups
  }

  var now: Milliseconds { state.evaluatedAt }
  var table: FactTable { history.table }

  /// The sources of an entitlement in their order; empty when nothing confers it.
  func sources(of entitlement: EntitlementID) -> [EntitlementSource] {
    sources[entitlement] ?? []
  }

  func group(_ id: SubscriptionGroupID) -> GroupState? {
    state.groups.position(of: id, by: \.groupID).map { state.groups[$0] }
  }

  /// The positions of the chains of a group, sorted by chain id.
  func chains(in group: SubscriptionGroupID) -> [Int] {
    chainsOfGroups[group] ?? []
  }

  /// The positions of the chains with a product that confers an entitlement, in their order.
  func chains(conferring entitlement: EntitlementID) -> [Int] {
    conferring.chains[entitlement] ?? []
  }

  func confers(_ product: Int, _ entitlement: EntitlementID) -> Bool {
    conferring.confers(product, entitlement)
  }
}

extension Situation {
  /// The decision on an entitlement: the reason why it is conferred or not.
  ///
  /// - Parameter finding: the finding that decides the entitlement.
  func decision(on entitlement: EntitlementID, by finding: Finding?) -> Decision {
    guard let finding else {
      return Decision(27, "Nothing that confers \(entitlement.name) is known of this customer.")
    }
    return decision(on: finding.subject, for: entitlement)
  }

  func decision(on subject: Finding.Subject, for entitlement: EntitlementID) -> Decision {
    switch subject {
    case .chain(let position):
      return decision(onChain: position, for: entitlement)
    case .followed(let period, let position):
      let outcome = history.chains[position].outcomeOfFollowed(period, at: now)
      return decision(on: period, outcome: outcome, for: entitlement)
        .withAuthority(table.transaction(period.fact).authority)
    case .purchase(let window, let position):
      return decision(onWindow: window, of: position)
    case .grant(let position):
      return decision(on: history.grants[position])
    case .grandfathering(let position):
      return decision(onRule: position)
    case .unnamedProduct(let position):
      let product = state.products[position]
      return Decision(
        14,
        "Transaction \(product.standing.transactionID.name) is of \(product.productID.name), which "
          + "the catalog does not name: it confers nothing.")
    }
  }

  /// The decision on a group, by the chain that decides it (R28).
  func decision(on group: SubscriptionGroupID, by position: Int) -> Decision {
    let others = chains(in: group).filter { $0 != position }
    guard var second = others.first else { return decision(onChain: position, for: nil) }
    for other in others.dropFirst() where isBetter(other, than: second) {
      second = other
    }
    return Decision(
      28,
      "Of \(others.count + 1) chains, \(history.chains[position].id.name) stands above "
        + "\(history.chains[second].id.name) (\(verdicts[second].outcome.status.word)): "
        + bareDecision(onChain: position, for: nil).sentence
    ).withAuthority(authority(ofChain: position))
  }

  /// Whether one chain of a group ranks above another (R28).
  private func isBetter(_ left: Int, than right: Int) -> Bool {
    let (left, right) = (verdicts[left], verdicts[right])
    let level =
      table.products[left.period.product].level - table.products[right.period.product].level
    return StandingRank.isBetter(
      history.candidate(left.period, left.outcome),
      than: history.candidate(right.period, right.outcome),
      level: level)
  }

  /// The chain that decides a group.
  func decidingChain(of group: GroupState) -> Int? {
    history.chains.position(of: group.standing.originalTransactionID, by: \.id)
  }

  /// The authority of a chain's decision: that of its deciding period, or that of the renewal info
  /// if it also decides and its authority is lower.
  func authority(ofChain position: Int) -> FactAuthority {
    let authority = table.transaction(verdicts[position].period.fact).authority
    guard dependsOnRenewal(position), let renewal = history.chains[position].renewal else {
      return authority
    }
    return min(authority, table.renewalInfo(renewal.fact).authority)
  }

  // MARK: Grants

  /// The decision on a grant (R32).
  func decision(on grant: Grant) -> Decision {
    let name = "Grant \(grant.id.name)"
    if grant.isOver(at: now) {
      if let withdrawal = grant.withdrawal, grant.end == withdrawal.at {
        return Decision(32, "\(name) was withdrawn at \(withdrawal.at.rfc3339).")
      }
      return Decision(32, "\(name) ended at \((grant.end ?? grant.starts).rfc3339).")
    }
    let end = grant.end.map { "until \($0.rfc3339)" } ?? "without an end"
    return grant.isInForce(at: now)
      ? Decision(
        32, "\(name) confers \(grant.entitlementID.name) since \(grant.starts.rfc3339), \(end).")
      : Decision(32, "\(name) begins at \(grant.starts.rfc3339), \(end).")
  }
}

/// An index of the products and chains that confer each entitlement. An explanation queries it for
/// every entitlement of the catalog.
struct ConferringProducts {
  /// The positions in ``FactTable/products``.
  private let products: [EntitlementID: Set<Int>]
  /// The positions of the chains with such a product, in their order.
  let chains: [EntitlementID: [Int]]

  init(in history: History) {
    let table = history.table
    var products: [EntitlementID: Set<Int>] = [:]
    for (position, product) in table.products.enumerated() {
      for entitlement in product.entitlements {
        products[entitlement, default: []].insert(position)
      }
    }
    var chains: [EntitlementID: [Int]] = [:]
    for position in history.chains.indices {
      for product in history.chains[position].products {
        for entitlement in table.products[product].entitlements
        where chains[entitlement]?.last != position {
          chains[entitlement, default: []].append(position)
        }
      }
    }
    self.products = products
    self.chains = chains
  }

  func confers(_ product: Int, _ entitlement: EntitlementID) -> Bool {
    products[entitlement]?.contains(product) ?? false
  }
}
