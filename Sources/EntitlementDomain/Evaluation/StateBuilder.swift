/// Builds a state from the parts of a history, which can be added in any order (R3).
struct StateBuilder {
  private let history: History
  private let now: Milliseconds
  /// The best standing of each product, indexed by the product's position.
  private var products: [ProductState?]
  /// The best standing of each group (R28).
  private var groups: [GroupState] = []
  /// The positions in ``groups``.
  private var groupPositions = IdentifierPositions<SubscriptionGroupKind>()
  /// The catalog level of each group's best product.
  private var groupLevels: [Int] = []
  private var entitlements: [(id: EntitlementID, sources: [ConferringSource])] = []
  /// The positions in ``entitlements``.
  private var entitlementPositions = IdentifierPositions<EntitlementKind>()
  private var grandfathering: [GrandfatheringState] = []
  /// Whether a grant or a grandfathering rule confers an entitlement (R27).
  private var isActiveWithoutPurchase = false

  init(history: History, now: Milliseconds) {
    self.history = history
    self.now = now
    products = Array(repeating: nil, count: history.table.products.count)
  }

  // MARK: Purchases

  mutating func add(_ chain: SubscriptionChain) {
    let verdict = chain.verdict(in: history, at: now)
    let groupID = chain.groupID(of: verdict.period, in: history.table)
    if let groupID { add(verdict, of: chain, groupID: groupID) }
    if chain.products.count == 1 {
      var standing = verdict.standing
      standing.firstPurchaseAt = chain.firstPurchaseOfProduct
      add(standing, product: verdict.period.product, groupID: groupID)
    } else {
      addProducts(of: chain, verdict: verdict, groupID: groupID)
    }
    addEntitlements(of: chain, verdict: verdict)
  }

  /// Adds the products of a chain that has several.
  private mutating func addProducts(
    of chain: SubscriptionChain, verdict: SubscriptionChain.Verdict, groupID: SubscriptionGroupID?
  ) {
    for (product, known) in zip(chain.products, chain.productPeriods(at: now)) {
      var standing =
        product == verdict.period.product
        ? verdict.standing
        : chain.standing(ofFollowed: chain.periods[known.followed], in: history, at: now)
      standing.firstPurchaseAt = known.firstPurchaseAt
      add(standing, product: product, groupID: groupID)
    }
  }

  mutating func add(_ purchases: OneTimePurchases) {
    let table = history.table
    add(purchases.standing(in: table, at: now), product: purchases.product, groupID: nil)
    let conferred = table.products[purchases.product].entitlements
    if conferred.isEmpty { return }
    // All purchases in force are sources (R31).
    for window in purchases.windows where window.isInForce(at: now) {
      let source = ConferringSource(
        ground: .purchase(fact: window.fact), since: window.start,
        until: purchases.accessEnd(from: window))
      for entitlement in conferred { add(source, to: entitlement) }
    }
  }

  private mutating func add(
    _ standing: Standing, product: Int, groupID: SubscriptionGroupID?
  ) {
    guard products[product] != nil else {
      let known = history.table.products[product]
      products[product] = ProductState(
        productID: known.id, groupID: groupID, isInCatalog: known.inCatalog != nil,
        standing: standing)
      return
    }
    products[product]?.merge(standing, groupID: groupID)
  }

  /// Adds the standing of a chain to its group (R28).
  private mutating func add(
    _ verdict: SubscriptionChain.Verdict, of chain: SubscriptionChain,
    groupID: SubscriptionGroupID
  ) {
    let begun = chain.periods.lazy.filter { [now] in $0.accessStart <= now }
    let usedTrial = begun.contains { $0.usesTrial }
    let usedIntroductory = begun.contains { $0.usesIntroductoryOffer }
    let level = history.table.products[verdict.period.product].level
    let index = groupPositions.position(of: groupID, in: groups) { $0.groupID }
    guard index < groups.count else {
      groups.append(
        GroupState(
          groupID: groupID, standing: verdict.standing, trialUsed: usedTrial,
          introductoryOfferUsed: usedIntroductory))
      groupLevels.append(level)
      return
    }
    if usedTrial { groups[index].trialUsed = true }
    if usedIntroductory { groups[index].introductoryOfferUsed = true }
    if groups[index].standing.merge(verdict.standing, level: level - groupLevels[index]) {
      groupLevels[index] = level
    }
  }

  // MARK: Entitlements

  private mutating func addEntitlements(
    of chain: SubscriptionChain, verdict: SubscriptionChain.Verdict
  ) {
    guard verdict.standing.coreState == .active else { return }
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
    let index = entitlementPositions.position(of: entitlement, in: entitlements) { $0.id }
    if index < entitlements.count {
      entitlements[index].sources.append(source)
    } else {
      entitlements.append((entitlement, [source]))
    }
  }

  // MARK: Result

  // Large values are accessed by index: a loop over them would copy each with all its strings.

  /// Builds the state. The parts are sorted in place, because copies would cost more than sorting.
  mutating func state(of record: CustomerRecord) -> CustomerState {
    let products = history.productOrder.compactMap { self.products[$0] }
    if groups.count > 1 { sortGroups() }
    if entitlements.count > 1 { entitlements.sort { $0.id < $1.id } }
    let coreState = coreState(products: products)
    return CustomerState(
      scope: record.scope, accountID: record.accountID, revision: record.revision,
      evaluatedAt: now, coreState: coreState,
      callsToAction: callsToAction(coreState: coreState, products: products),
      entitlements: entitlementStates(), products: products, groups: groups,
      grandfathering: grandfathering, nextTransitionAt: nil)
  }

  private mutating func sortGroups() {
    guard groups.count > Self.sortedInPlace else {
      groups.sort { $0.groupID < $1.groupID }
      return
    }
    // Moving many large values often costs more than a copy of each.
    let order = groups.indices.sorted { groups[$0].groupID < groups[$1].groupID }
    groups = order.map { groups[$0] }
  }

  /// So many groups are sorted in place.
  private static let sortedInPlace = 16

  private mutating func entitlementStates() -> [EntitlementState] {
    let table = history.table
    for index in entitlements.indices where entitlements[index].sources.count > 1 {
      entitlements[index].sources.sort { table.isOrdered($0, before: $1) }
    }
    return entitlements.map { id, sources in
      EntitlementState(
        entitlementID: id, sources: sources.map { history.entitlementSource(for: $0) })
    }
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
    coreState: CoreState, products: [ProductState]
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

extension Standing {
  /// Takes the values of the other standing if it is better (R28), and keeps the earlier first
  /// purchase.
  ///
  /// - Parameter level: the catalog level of the other standing less that of this one.
  /// - Returns: whether the other standing is better.
  fileprivate mutating func merge(_ other: Standing, level: Int) -> Bool {
    let firstPurchaseAt = min(firstPurchaseAt, other.firstPurchaseAt)
    let isBetter = StandingRank.isBetter(other, than: self, level: level)
    if isBetter { self = other }
    self.firstPurchaseAt = firstPurchaseAt
    return isBetter
  }
}

extension ProductState {
  fileprivate mutating func merge(_ other: Standing, groupID: SubscriptionGroupID?) {
    if standing.merge(other, level: 0) { self.groupID = groupID }
  }
}
