extension History {
  /// The earliest later moment at which the state changes without new facts (R30).
  ///
  /// - Parameter state: the state at the moment around which the boundaries are.
  func nextTransition(
    of state: ShownState, in boundaries: Boundaries, check: inout CancellationCheck
  ) throws(EvaluationCancelled) -> Milliseconds? {
    guard let first = boundaries.upcoming.min() else { return nil }
    // Mostly the next that happens is the end of the access that a purchase gives.
    if changesSource(first, since: state.evaluatedAt) { return first.moment }
    var sweep = TransitionSweep(history: self, state: state)
    return try sweep.firstTransition(in: boundaries.upcoming, check: &check)
  }

  /// Whether a chain confers by another transaction from a boundary on, or a purchase begins or ceases to
  /// confer: each is a source of its own.
  private func changesSource(_ boundary: Boundaries.Boundary, since now: Milliseconds) -> Bool {
    guard boundary.part.unit < firstGrantUnit else { return false }
    guard boundary.part.unit < chains.count else {
      let purchases = purchases[Int(boundary.part.unit) - chains.count]
      let window = purchases.windows[Int(boundary.part.item)]
      return window.isInForce(at: now) != window.isInForce(at: boundary.moment)
        && !table.products[purchases.product].entitlements.isEmpty
    }
    let chain = chains[Int(boundary.part.unit)]
    func conferringFact(at now: Milliseconds) -> Int? {
      let period = chain.decisivePeriod(in: table, at: now)
      let outcome = chain.outcome(of: period, leeway: renewalLeeway, at: now)
      return outcome.isActive && !table.products[period.product].entitlements.isEmpty
        ? period.fact : nil
    }
    return conferringFact(at: now) != conferringFact(at: boundary.moment)
  }
}

/// What a state shows of the purchases, and whether anything confers access.
struct ShownState {
  let evaluatedAt: Milliseconds
  let coreState: CoreState
  let products: [ProductState]
  let groups: [GroupState]
}

/// Finds the next transition (R30): goes through the later moments in order, and looks at each only at
/// the parts of the history that change then.
///
/// That suffices because the state has been the same up to the moment at hand, or the sweep would
/// have ended. So every best standing is still the one that the state shows, and a part that changes
/// is compared with it alone. n facts take O(n log n).
struct TransitionSweep {
  let history: History
  /// The state at first.
  let state: ShownState
  /// The moment before the one at hand.
  private var previous: Milliseconds
  /// Followers of the chains that change often.
  private var followers: [Int: ChainFollower] = [:]
  /// Which chains belong to which group; nil until a chain changes its group.
  private var memberships: GroupMemberships?

  /// A chain with more upcoming boundaries is followed instead of being searched at each of them.
  private static let searchLimit = 8

  init(history: History, state: ShownState) {
    self.history = history
    self.state = state
    previous = state.evaluatedAt
  }

  /// The earliest of the boundaries at which the state changes; nil when it changes at none.
  mutating func firstTransition(in upcoming: [Boundaries.Boundary], check: inout CancellationCheck)
    throws(EvaluationCancelled) -> Milliseconds?
  {
    try check.ask()
    let boundaries = upcoming.count > 1 ? upcoming.sorted() : upcoming
    if boundaries.count > Self.searchLimit { followBusyChains(in: boundaries) }
    var first = 0
    while first < boundaries.count {
      let moment = boundaries[first].moment
      var end = first + 1
      while end < boundaries.count, boundaries[end].moment == moment { end += 1 }
      if try changes(at: moment, by: boundaries[first..<end], check: &check) { return moment }
      previous = moment
      first = end
    }
    return nil
  }

  private mutating func followBusyChains(in boundaries: [Boundaries.Boundary]) {
    var counts = [Int32](repeated: 0, count: history.chains.count)
    for boundary in boundaries where boundary.part.unit < counts.count {
      counts[Int(boundary.part.unit)] += 1
    }
    for position in counts.indices where counts[position] > Self.searchLimit {
      followers[position] = ChainFollower(
        history.chains[position], in: history, at: previous, isBusy: true)
    }
  }

  // MARK: One moment

  /// - Parameter boundaries: all of this moment, sorted by unit.
  private mutating func changes(
    at moment: Milliseconds, by boundaries: ArraySlice<Boundaries.Boundary>,
    check: inout CancellationCheck
  ) throws(EvaluationCancelled) -> Bool {
    var first = boundaries.startIndex
    var touched: Set<Int> = []
    while first < boundaries.endIndex {
      try check.step()
      let unit = Int(boundaries[first].part.unit)
      var end = first + 1
      while end < boundaries.endIndex, Int(boundaries[end].part.unit) == unit { end += 1 }
      let items = boundaries[first..<end]
      first = end
      if unit < history.chains.count {
        if try changes(chain: unit, items: items, at: moment, touched: &touched, check: &check) {
          return true
        }
      } else if unit < history.firstGrantUnit {
        let purchases = history.purchases[unit - history.chains.count]
        if items.contains(where: { changes(Int($0.part.item), of: purchases, at: moment) }) {
          return true
        }
      } else if unit == history.firstGrantUnit {
        // Each grant is a source of its own.
        if items.contains(where: { changes(history.grants[Int($0.part.item)], at: moment) }) {
          return true
        }
      } else if items.contains(where: { changes(rule: Int($0.part.item), at: moment) }) {
        return true
      }
    }
    return touched.contains { memberships?.differ(from: state.groups[$0], group: $0) ?? false }
  }

  private func changes(_ grant: Grant, at moment: Milliseconds) -> Bool {
    grant.isInForce(at: previous) != grant.isInForce(at: moment)
  }

  private func changes(rule position: Int, at moment: Milliseconds) -> Bool {
    let (rule, verdict) = history.grandfathering[position]
    if verdict.confers(at: previous) == verdict.confers(at: moment) { return false }
    return !rule.entitlements.isEmpty || state.coreState != .active
  }

  /// Whether one purchase of a product that does not renew changes the state.
  private func changes(
    _ index: Int, of purchases: OneTimePurchases, at moment: Milliseconds
  ) -> Bool {
    let window = purchases.windows[index]
    let product = history.table.products[purchases.product]
    // Each purchase in force is a source (R31).
    if !product.entitlements.isEmpty,
      window.isInForce(at: previous) != window.isInForce(at: moment)
    {
      return true
    }
    guard let position = state.products.position(of: product.id, by: \.productID) else {
      return false
    }
    let shown = state.products[position].standing
    let id = history.table.transaction(window.fact).transactionID
    let status = window.outcome(at: moment).status
    if id == shown.transactionID {
      return status != window.outcome(at: previous).status
        || window.isRevoked(at: previous) != window.isRevoked(at: moment)
    }
    return StandingRank.isBetter(
      StandingRank.Candidate(
        rank: history.rank(of: window, of: purchases.product, at: moment), transactionID: id),
      than: shown, level: 0)
  }
}

// MARK: - Chains

extension TransitionSweep {
  /// - Parameter touched: gets the positions of the groups whose chains are others now.
  private mutating func changes(
    chain position: Int, items: ArraySlice<Boundaries.Boundary>, at moment: Milliseconds,
    touched: inout Set<Int>, check: inout CancellationCheck
  ) throws(EvaluationCancelled) -> Bool {
    let step = step(ofChain: position, to: moment)
    if changesSources(step) { return true }
    let begun = items.lazy.map { step.chain.periods[Int($0.part.item)] }.filter {
      $0.accessStart == moment
    }
    let isInOtherGroup =
      step.before.fact != step.after.fact
      && step.groupBefore(in: history.table) != step.group(in: history.table)
    if isInOtherGroup {
      if changesGroups(step) { return true }
    } else if changesGroup(step, items: items, begun: begun) {
      return true
    }
    if memberships == nil, isInOtherGroup {
      memberships = try GroupMemberships(
        history, groups: state.groups, at: previous, offersUntil: moment, check: &check)
    }
    if memberships != nil {
      memberships?.move(
        step, in: history.table, groups: state.groups, touched: &touched)
    }
    return changesProducts(step, items: items, ofAll: isInOtherGroup)
  }

  private mutating func step(ofChain position: Int, to moment: Milliseconds) -> ChainStep {
    guard followers[position] != nil else {
      var follower = ChainFollower(
        history.chains[position], in: history, at: previous, isBusy: false)
      return follower.step(to: moment, in: history)
    }
    // In place: a copy would duplicate its arrays.
    return followers[position]!.step(to: moment, in: history)
  }

  /// Whether the chain confers by another transaction, or by a fact of another authority.
  private func changesSources(_ step: ChainStep) -> Bool {
    func source(_ period: Period, _ outcome: SubscriptionChain.Outcome) -> ConferringSource? {
      guard outcome.isActive, !history.table.products[period.product].entitlements.isEmpty else {
        return nil
      }
      let renewal = outcome.dependsOnRenewal ? step.chain.renewal?.fact : nil
      // Its end is the same as long as the chain confers without a break (R58).
      return ConferringSource(
        ground: .purchase(fact: period.fact, renewal: renewal), since: period.accessStart,
        until: nil)
    }
    let before = source(step.before, step.outcomeBefore)
    let after = source(step.after, step.outcome)
    guard let before, let after else { return (before == nil) != (after == nil) }
    return step.before.fact != step.after.fact
      || step.outcomeBefore.dependsOnRenewal != step.outcome.dependsOnRenewal
        && history.entitlementSource(for: before) != history.entitlementSource(for: after)
  }

  // MARK: Groups

  /// Whether a chain that stays in its group changes it.
  private func changesGroup(
    _ step: ChainStep, items: ArraySlice<Boundaries.Boundary>, begun: some Sequence<Period>
  ) -> Bool {
    guard let group = step.group(in: history.table),
      let position = state.groups.position(of: group, by: \.groupID)
    else { return false }
    let shown = state.groups[position]
    for period in begun {
      if period.usesTrial, !shown.trialUsed { return true }
      if period.usesIntroductoryOffer, !shown.introductoryOfferUsed { return true }
    }
    if history.table.transaction(step.before.fact).transactionID == shown.standing.transactionID {
      return step.before.fact != step.after.fact
        || changesStanding(step, items: items, shown: shown.standing)
    }
    return isBetter(step, than: shown)
  }

  /// Whether a chain that comes from another group changes one of them. What the chains of a group
  /// tell together is not compared.
  private func changesGroups(_ step: ChainStep) -> Bool {
    if let group = step.groupBefore(in: history.table),
      let position = state.groups.position(of: group, by: \.groupID),
      history.table.transaction(step.before.fact).transactionID
        == state.groups[position].standing.transactionID
    {
      return true
    }
    guard let group = step.group(in: history.table) else { return false }
    guard let position = state.groups.position(of: group, by: \.groupID) else { return true }
    let shown = state.groups[position]
    return isBetter(step, than: shown)
      || step.chain.firstPurchaseAt < shown.standing.firstPurchaseAt
      || step.usesTrial && !shown.trialUsed
      || step.usesIntroductoryOffer && !shown.introductoryOfferUsed
  }

  private func isBetter(_ step: ChainStep, than shown: GroupState) -> Bool {
    let level = history.table.products[step.after.product].level
    let shownLevel =
      history.position(ofProduct: shown.standing.productID).map {
        history.table.products[$0].level
      } ?? level
    return StandingRank.isBetter(
      history.candidate(step.after, step.outcome), than: shown.standing, level: level - shownLevel)
  }

  /// Whether the standing of a chain changes, while the same period decides it and the state shows
  /// it.
  private func changesStanding(
    _ step: ChainStep, items: ArraySlice<Boundaries.Boundary>, shown: Standing
  ) -> Bool {
    let (before, after) = (step.outcomeBefore, step.outcome)
    let isAlike =
      before.status == after.status && before.reason == after.reason
      && before.graceEnd == after.graceEnd && before.notices == after.notices
      && step.after.isRevoked(at: previous) == step.after.isRevoked(at: step.moment)
    // Apart from that, only what was charged ahead counts: periods that end later (R18, R23).
    let mayRenewOtherwise = items.contains {
      step.chain.periods[Int($0.part.item)].end > step.after.end
    }
    if isAlike, !mayRenewOtherwise { return false }
    let standing = step.chain.standing(
      by: SubscriptionChain.Verdict(period: step.after, outcome: after),
      firstPurchaseAt: shown.firstPurchaseAt, in: history, at: step.moment, cache: step.ahead)
    return standing != shown
  }

  // MARK: Products

  /// - Parameter ofAll: whether all products of the chain may change, because they all tell its
  ///   group.
  private func changesProducts(
    _ step: ChainStep, items: ArraySlice<Boundaries.Boundary>, ofAll: Bool
  ) -> Bool {
    let chain = step.chain
    if chain.products.count == 1 { return changesProduct(0, step, items: items) }
    if ofAll {
      return (0..<chain.products.count).contains { changesProduct($0, step, items: items) }
    }
    // Of all other products, neither the period nor its status changes.
    if changesProduct(Int(step.before.productInChain), step, items: items) { return true }
    if changesProduct(Int(step.after.productInChain), step, items: items) { return true }
    return items.contains {
      changesProduct(Int(chain.periods[Int($0.part.item)].productInChain), step, items: items)
    }
  }

  /// - Parameter slot: the position in ``SubscriptionChain/products``.
  private func changesProduct(
    _ slot: Int, _ step: ChainStep, items: ArraySlice<Boundaries.Boundary>
  ) -> Bool {
    let product = history.table.products[step.chain.product(slot)]
    guard let position = state.products.position(of: product.id, by: \.productID) else {
      return false
    }
    let shown = state.products[position]
    let isDeciding = Int(step.after.productInChain) == slot
    let wasDeciding = Int(step.before.productInChain) == slot
    let before = wasDeciding ? step.before : step.chain.periods[step.followedBefore(slot)]
    let after = isDeciding ? step.after : step.chain.periods[step.followed(slot)]
    let outcome =
      isDeciding ? step.outcome : step.chain.outcomeOfFollowed(after, at: step.moment)
    guard
      history.table.transaction(before.fact).transactionID == shown.standing.transactionID
    else {
      return StandingRank.isBetter(
        history.candidate(after, outcome), than: shown.standing, level: 0)
    }
    if before.fact != after.fact || step.group(in: history.table) != shown.groupID { return true }
    if isDeciding, wasDeciding {
      return changesStanding(step, items: items, shown: shown.standing)
    }
    let firstPurchaseAt = shown.standing.firstPurchaseAt
    let standing =
      isDeciding
      ? step.chain.standing(
        by: SubscriptionChain.Verdict(period: after, outcome: outcome),
        firstPurchaseAt: firstPurchaseAt, in: history, at: step.moment)
      : step.chain.standing(
        ofFollowed: after, firstPurchaseAt: firstPurchaseAt, in: history, at: step.moment)
    return standing != shown.standing
  }
}

extension RandomAccessCollection where Index == Int {
  /// The position of an identifier in a list that is sorted by it.
  func position<Kind>(
    of id: Identifier<Kind>, by key: (Element) -> Identifier<Kind>
  ) -> Int? {
    var (low, high) = (startIndex, endIndex)
    while low < high {
      let middle = (low + high) / 2
      if key(self[middle]) < id { low = middle + 1 } else { high = middle }
    }
    return low < endIndex && key(self[low]) == id ? low : nil
  }
}

extension History {
  /// What ranks a chain by the period that decides it.
  func candidate(
    _ period: Period, _ outcome: SubscriptionChain.Outcome
  ) -> StandingRank.Candidate {
    StandingRank.Candidate(
      rank: rank(of: period, outcome),
      transactionID: table.transaction(period.fact).transactionID)
  }

  func rank(of period: Period, _ outcome: SubscriptionChain.Outcome) -> StandingRank.Rank {
    StandingRank.Rank(
      status: StandingRank.rank(
        of: outcome.status, isUnknown: !table.products[period.product].isInCatalog),
      end: outcome.graceEnd ?? period.end)
  }

  func rank(of window: OneTimePurchases.Window, of product: Int, at now: Milliseconds)
    -> StandingRank.Rank
  {
    StandingRank.Rank(
      status: StandingRank.rank(
        of: window.outcome(at: now).status, isUnknown: !table.products[product].isInCatalog),
      end: window.end ?? Milliseconds(.max))
  }

  /// The position in ``FactTable/products``.
  fileprivate func position(ofProduct id: ProductID) -> Int? {
    productOrder.position(of: id) { table.products[$0].id }.map { productOrder[$0] }
  }
}
