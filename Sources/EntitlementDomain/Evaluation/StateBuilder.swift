/// Builds a state from the parts of a history, which can be added in any order (R3).
///
/// Parts are compared by positions and moments. Only what the state shows gets its texts, at the end.
/// Not copyable, because a copy would count a reference for each of its lists.
struct StateBuilder: ~Copyable {
  private let history: History
  private let now: Milliseconds
  /// The best of each product, by the product's position.
  private var products: [Candidate?]
  private var groups: [Group] = []
  /// The positions in ``groups``.
  private var groupPositions = IdentifierPositions<SubscriptionGroupKind>()
  private var entitlements: [EntitlementID] = []
  /// The positions in ``entitlements``.
  private var entitlementPositions = IdentifierPositions<EntitlementKind>()
  private var sources: [(entitlement: Int, source: ConferringSource)] = []
  private var grandfathering: [GrandfatheringState] = []
  /// Whether a grant or a grandfathering rule confers an entitlement (R27).
  private var isActiveWithoutPurchase = false

  /// What may be the standing of a product or a group (R28).
  private struct Candidate {
    enum Ground {
      /// What decides a chain, by its position in ``History/chains``.
      case chain(Int, SubscriptionChain.Verdict)
      /// A period that another product of the chain has followed.
      case followed(chain: Int, Period)
      /// The best purchase of a product, by its position in ``History/purchases``.
      case purchase(Int, OneTimePurchases.Window)
    }

    let ground: Ground
    /// The position of the transaction in ``FactTable/facts``.
    let fact: Int
    let rank: StandingRank.Rank
    /// The earliest first purchase of all that were compared.
    var firstPurchaseAt: Milliseconds
    /// The position in ``groups``.
    var group: Int?
  }

  private struct Group {
    let id: SubscriptionGroupID
    var best: Candidate
    /// The catalog level of the best one's product.
    var level: Int
    var trialUsed = false
    var introductoryOfferUsed = false
  }

  init(history: History, now: Milliseconds) {
    self.history = history
    self.now = now
    products = Array(repeated: nil, count: history.table.products.count)
    sources.reserveCapacity(8)
    entitlements.reserveCapacity(8)
  }

  // MARK: Purchases

  /// - Parameter position: a position in ``History/chains``.
  mutating func addChain(_ position: Int) {
    let chain = history.chains[position]
    let verdict = chain.verdict(in: history, at: now)
    let (period, outcome) = (verdict.period, verdict.outcome)
    var candidate = Candidate(
      ground: .chain(position, verdict), fact: period.fact,
      rank: history.rank(of: period, outcome), firstPurchaseAt: chain.firstPurchaseAt)
    candidate.group = addToGroup(candidate, of: chain, period)
    if chain.products.count == 1 {
      candidate.firstPurchaseAt = chain.firstPurchaseOfProduct
      add(candidate, product: period.product)
    } else {
      addProducts(of: chain, at: position, deciding: candidate, product: period.product)
    }
    if outcome.isActive { addEntitlements(of: chain, verdict: verdict) }
  }

  /// Adds the products of a chain that has several.
  private mutating func addProducts(
    of chain: SubscriptionChain, at position: Int, deciding: Candidate, product decidingProduct: Int
  ) {
    for (product, known) in zip(chain.products, chain.productPeriods(at: now)) {
      if product == decidingProduct {
        var candidate = deciding
        candidate.firstPurchaseAt = known.firstPurchaseAt
        add(candidate, product: product)
        continue
      }
      let period = chain.periods[known.followed]
      add(
        Candidate(
          ground: .followed(chain: position, period), fact: period.fact,
          rank: history.rank(of: period, chain.outcomeOfFollowed(period, at: now)),
          firstPurchaseAt: known.firstPurchaseAt, group: deciding.group),
        product: product)
    }
  }

  /// - Parameter position: a position in ``History/purchases``.
  mutating func addPurchases(_ position: Int) {
    let purchases = history.purchases[position]
    let best = purchases.bestWindow(in: history.table, at: now)
    add(
      Candidate(
        ground: .purchase(position, best), fact: best.fact,
        rank: history.rank(of: best, of: purchases.product, at: now),
        firstPurchaseAt: purchases.windows[0].purchaseDate),
      product: purchases.product)
    // All purchases in force are sources (R31).
    var conferred: [Int]?
    for window in purchases.windows where window.isInForce(at: now) {
      let numbers = conferred ?? entitlementNumbers(ofProduct: purchases.product)
      conferred = numbers
      let source = ConferringSource(
        ground: .purchase(fact: window.fact), since: window.start,
        until: purchases.accessEnd(from: window))
      for number in numbers { sources.append((number, source)) }
    }
  }

  private mutating func add(_ candidate: Candidate, product: Int) {
    guard let known = products[product] else {
      products[product] = candidate
      return
    }
    let firstPurchaseAt = min(known.firstPurchaseAt, candidate.firstPurchaseAt)
    if isBetter(candidate, than: known, level: 0) { products[product] = candidate }
    products[product]?.firstPurchaseAt = firstPurchaseAt
  }

  /// Adds what decides a chain to its group (R28).
  ///
  /// - Returns: the position in ``groups``; nil when the chain has no group.
  private mutating func addToGroup(
    _ candidate: Candidate, of chain: SubscriptionChain, _ period: Period
  ) -> Int? {
    guard let id = chain.groupID(of: period, in: history.table) else { return nil }
    let level = history.table.products[period.product].level
    let index = groupPositions.position(of: id, in: groups) { $0.id }
    if index == groups.count {
      groups.append(Group(id: id, best: candidate, level: level))
    } else {
      let known = groups[index].best
      let firstPurchaseAt = min(known.firstPurchaseAt, candidate.firstPurchaseAt)
      if isBetter(candidate, than: known, level: level - groups[index].level) {
        groups[index].best = candidate
        groups[index].level = level
      }
      groups[index].best.firstPurchaseAt = firstPurchaseAt
    }
    if chain.usesTrial(at: now) { groups[index].trialUsed = true }
    if chain.usesIntroductoryOffer(at: now) { groups[index].introductoryOfferUsed = true }
    return index
  }

  /// - Parameter level: the catalog level of the first less that of the second.
  private func isBetter(_ left: Candidate, than right: Candidate, level: Int) -> Bool {
    StandingRank.isBetter(
      left.rank, than: right.rank, level: level,
      orByID: history.table.hasLesserID(right.fact, left.fact))
  }

  // MARK: Entitlements

  private mutating func addEntitlements(
    of chain: SubscriptionChain, verdict: SubscriptionChain.Verdict
  ) {
    let period = verdict.period
    let conferred = history.table.products[period.product].entitlements
    if conferred.isEmpty { return }
    let renewal = verdict.outcome.dependsOnRenewal ? chain.renewal?.fact : nil
    let ground = ConferringSource.Ground.purchase(fact: period.fact, renewal: renewal)
    func addSource(until end: Milliseconds, to entitlement: EntitlementID) {
      add(
        ConferringSource(ground: ground, since: period.accessStart, until: end), to: entitlement)
    }
    let alone = chain.endIfDecidingAlone(
      period, verdict.outcome, leeway: history.renewalLeeway, at: now)
    if let alone {
      for entitlement in conferred { addSource(until: alone, to: entitlement) }
      return
    }
    // All entitlements of a chain with one product end together.
    let asked = chain.products.count == 1 ? conferred.prefix(1) : conferred[...]
    let ends = chain.conferringEnds(
      of: asked, by: period, verdict.outcome, in: history, at: now)
    for (index, entitlement) in conferred.enumerated() {
      addSource(until: ends[min(index, ends.count - 1)], to: entitlement)
    }
  }

  /// Adds a grant, if it is in force (R32).
  mutating func addGrant(_ position: Int) {
    let grant = history.grants[position]
    guard grant.isInForce(at: now) else { return }
    isActiveWithoutPurchase = true
    add(
      ConferringSource(ground: .grant(position), since: grant.starts, until: grant.end),
      to: grant.entitlementID)
  }

  /// Adds the result of a grandfathering rule, and the entitlements that it confers (R39).
  mutating func addRule(_ position: Int) {
    let (rule, verdict) = history.grandfathering[position]
    grandfathering.append(verdict.state)
    guard verdict.confers(at: now), let since = verdict.since else { return }
    isActiveWithoutPurchase = true
    let source = ConferringSource(ground: .rule(position), since: since, until: nil)
    for entitlement in rule.entitlements { add(source, to: entitlement) }
  }

  private mutating func add(_ source: ConferringSource, to entitlement: EntitlementID) {
    sources.append((number(of: entitlement), source))
  }

  private mutating func entitlementNumbers(ofProduct product: Int) -> [Int] {
    history.table.products[product].entitlements.map { number(of: $0) }
  }

  /// The position in ``entitlements``.
  private mutating func number(of entitlement: EntitlementID) -> Int {
    let number = entitlementPositions.position(of: entitlement, in: entitlements) { $0 }
    if number == entitlements.count { entitlements.append(entitlement) }
    return number
  }

  // MARK: Result

  /// Builds the state.
  ///
  /// - Parameter boundaries: those around the moment, to find the next transition; nil: it is not told.
  mutating func state(
    of record: CustomerRecord, boundaries: Boundaries?, check: inout CancellationCheck
  ) throws(EvaluationCancelled) -> CustomerState {
    let products = try productStates(check: &check)
    let groups = try groupStates(check: &check)
    let coreState = coreState(products: products)
    var nextTransitionAt: Milliseconds?
    if let boundaries {
      nextTransitionAt = try history.nextTransition(
        of: ShownState(evaluatedAt: now, coreState: coreState, products: products, groups: groups),
        in: boundaries, check: &check)
    }
    // All fields at once, and by the initializer that the compiler makes; see ``CustomerState``.
    return CustomerState(
      scope: record.scope, accountID: record.accountID, revision: record.revision,
      evaluatedAt: now, nextTransitionAt: nextTransitionAt, coreState: coreState,
      callsToAction: callsToAction(coreState: coreState, products: products, groups: groups),
      entitlements: entitlementStates(), products: products, groups: groups,
      grandfathering: grandfathering)
  }

  /// Before the groups are sorted, since the products refer to them.
  private func productStates(check: inout CancellationCheck) throws(EvaluationCancelled)
    -> [ProductState]
  {
    var states: [ProductState] = []
    states.reserveCapacity(products.count)
    for position in history.productOrder {
      guard let candidate = products[position] else { continue }
      try check.step()
      states.append(
        ProductState(
          productID: history.table.products[position].id,
          isInCatalog: history.table.products[position].isInCatalog,
          groupID: candidate.group.map { groups[$0].id },
          standing: standing(of: candidate)))
    }
    return states
  }

  private mutating func groupStates(check: inout CancellationCheck) throws(EvaluationCancelled)
    -> [GroupState]
  {
    if groups.count > 1 { groups.sort { $0.id < $1.id } }
    var states: [GroupState] = []
    states.reserveCapacity(groups.count)
    for position in groups.indices {
      try check.step()
      let group = groups[position]
      states.append(
        GroupState(
          groupID: group.id, trialUsed: group.trialUsed,
          introductoryOfferUsed: group.introductoryOfferUsed, standing: standing(of: group.best)))
    }
    return states
  }

  private func standing(of candidate: Candidate) -> Standing {
    let firstPurchaseAt = candidate.firstPurchaseAt
    return switch candidate.ground {
    case .chain(let position, let verdict):
      history.chains[position].standing(
        by: verdict, firstPurchaseAt: firstPurchaseAt, in: history, at: now)
    case .followed(let position, let period):
      history.chains[position].standing(
        ofFollowed: period, firstPurchaseAt: firstPurchaseAt, in: history, at: now)
    case .purchase(let position, let window):
      history.purchases[position].standing(
        of: window, firstPurchaseAt: firstPurchaseAt, in: history.table, at: now)
    }
  }

  private mutating func entitlementStates() -> [EntitlementState] {
    let table = history.table
    let rank = entitlements.count > 1 ? entitlementRanks : [0]
    if sources.count > 1 {
      sources.sort { left, right in
        left.entitlement == right.entitlement
          ? table.isOrdered(left.source, before: right.source)
          : rank[left.entitlement] < rank[right.entitlement]
      }
    }
    var states: [EntitlementState] = []
    states.reserveCapacity(entitlements.count)
    var first = 0
    while first < sources.count {
      let number = sources[first].entitlement
      let end = sources[first...].firstIndex { $0.entitlement != number } ?? sources.count
      states.append(
        EntitlementState(
          entitlementID: entitlements[number],
          sources: sources[first..<end].map { history.entitlementSource(for: $0.source) }))
      first = end
    }
    return states
  }

  /// By position in ``entitlements``: the position in the order of the ids.
  private var entitlementRanks: [Int] {
    let order = entitlements.indices.sorted { entitlements[$0] < entitlements[$1] }
    var ranks = Array(repeated: 0, count: order.count)
    for (position, number) in order.enumerated() { ranks[number] = position }
    return ranks
  }

  /// The core state (R27). A product that is not in the catalog grants nothing (R10, R14), so it
  /// does not make the customer active.
  private func coreState(products: [ProductState]) -> CoreState {
    let isActive =
      isActiveWithoutPurchase
      || products.indices.contains {
        products[$0].isInCatalog && products[$0].standing.coreState == .active
      }
    if isActive { return .active }
    return history.isEmpty ? .new : .inactive
  }

  /// The calls to action of all groups, and of the products outside the groups (R29). A customer
  /// without purchases and entitlements gets `.merchandise`, also if an app transaction is known.
  private func callsToAction(
    coreState: CoreState, products: [ProductState], groups: [GroupState]
  ) -> [CallToAction] {
    if history.hasNoPurchase { return coreState == .active ? [.none] : [.merchandise] }
    var calls: [CallToAction] = []
    func add(_ call: CallToAction) {
      if call != .none, !calls.contains(call) { calls.append(call) }
    }
    for index in groups.indices { add(groups[index].standing.callToAction) }
    for index in products.indices where products[index].groupID == nil {
      add(products[index].standing.callToAction)
    }
    if calls.count > 1 { calls.sort { $0.urgency < $1.urgency } }
    return calls.isEmpty ? [.none] : calls
  }
}

extension CallToAction {
  /// The order of calls to action; the smallest number is the most urgent.
  fileprivate var urgency: Int {
    switch self {
    case .fixBilling: 0
    case .consentToPrice: 1
    case .keepSubscription: 2
    case .winBack: 3
    case .merchandise: 4
    case .none: 5
    }
  }
}
