// Each tally gathers one part of the answer while the facts are walked, in any order.

/// The best standing of each product.
struct ProductTally {
  private let context: EvaluationContext
  private var best: [ProductID: ProductState] = [:]

  init(context: EvaluationContext) {
    self.context = context
  }

  mutating func add(_ standing: Standing, groupID: SubscriptionGroupID?) {
    let productID = standing.productID
    guard var state = best[productID] else {
      let product = context.catalog.products[productID]
      best[productID] = ProductState(
        productID: productID, groupID: groupID, isInCatalog: product != nil, standing: standing)
      return
    }
    let firstPurchaseAt = min(state.standing.firstPurchaseAt, standing.firstPurchaseAt)
    if StandingRank.isBetter(standing, than: state.standing, level: 0) {
      state.standing = standing
      state.groupID = groupID
    }
    state.standing.firstPurchaseAt = firstPurchaseAt
    best[productID] = state
  }

  func states() -> [ProductState] {
    best.values.sorted { $0.productID < $1.productID }
  }
}

/// The best standing of each subscription group (R28).
struct GroupTally {
  private let context: EvaluationContext
  private var best: [SubscriptionGroupID: GroupState] = [:]

  init(context: EvaluationContext) {
    self.context = context
  }

  mutating func add(_ chain: SubscriptionChain, standing: Standing) {
    guard let groupID = chain.groupID(in: context) else { return }
    let used = chain.usedOffers(at: context.now)
    guard var state = best[groupID] else {
      best[groupID] = GroupState(
        groupID: groupID, standing: standing, trialUsed: used.trial,
        introductoryOfferUsed: used.introductory)
      return
    }
    state.trialUsed = state.trialUsed || used.trial
    state.introductoryOfferUsed = state.introductoryOfferUsed || used.introductory
    let firstPurchaseAt = min(state.standing.firstPurchaseAt, standing.firstPurchaseAt)
    let level = level(of: standing.productID) - level(of: state.standing.productID)
    if StandingRank.isBetter(standing, than: state.standing, level: level) {
      state.standing = standing
    }
    state.standing.firstPurchaseAt = firstPurchaseAt
    best[groupID] = state
  }

  func states() -> [GroupState] {
    best.values.sorted { $0.groupID < $1.groupID }
  }

  /// A product that the catalog does not name ranks below all that it names.
  private func level(of productID: ProductID) -> Int {
    context.catalog.products[productID]?.level ?? 1_000_000
  }
}

extension SubscriptionChain {
  /// Offers of the group that were used up to a moment (R29). What a family member shares was used
  /// by the purchaser.
  func usedOffers(at now: Milliseconds) -> (trial: Bool, introductory: Bool) {
    let offers = periods.lazy
      .filter { $0.start <= now && $0.transaction.ownership != .familyShared }
      .compactMap(\.transaction.offer)
    return (
      offers.contains { $0.discountType == .freeTrial },
      offers.contains { $0.type == .introductory }
    )
  }
}

/// A purchase that confers entitlements now.
struct ConferringPurchase {
  let transaction: TransactionFact
  let entitlements: [EntitlementID]
  let since: Milliseconds
  /// Nil when an entitlement has no end.
  let until: (EntitlementID) -> Milliseconds?
}

/// What is conferred, and by what (R31).
struct EntitlementTally {
  private let context: EvaluationContext
  private var sources: [EntitlementID: [EntitlementSource]] = [:]

  init(context: EvaluationContext) {
    self.context = context
  }

  mutating func add(_ purchase: ConferringPurchase) {
    for entitlement in purchase.entitlements {
      sources[entitlement, default: []].append(
        EntitlementSource(
          transactionID: purchase.transaction.transactionID,
          originalTransactionID: purchase.transaction.originalTransactionID,
          productID: purchase.transaction.productID, since: purchase.since,
          until: purchase.until(entitlement)))
    }
  }

  func states() -> [EntitlementState] {
    sources.map { id, sources in
      EntitlementState(
        entitlementID: id,
        sources: sources.sorted { left, right in
          let leftEnd = left.until ?? Milliseconds(.max)
          let rightEnd = right.until ?? Milliseconds(.max)
          if leftEnd != rightEnd { return leftEnd > rightEnd }
          return left.transactionID < right.transactionID
        })
    }.sorted { $0.entitlementID < $1.entitlementID }
  }
}
