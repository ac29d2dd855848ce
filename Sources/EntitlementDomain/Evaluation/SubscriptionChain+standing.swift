extension SubscriptionChain {
  /// The period that decides the chain, and its outcome. It has no text, unlike the standing.
  struct Verdict {
    let period: Period
    let outcome: Outcome
  }

  /// Decides the chain at a moment.
  func verdict(in history: History, at now: Milliseconds) -> Verdict {
    let period = decisivePeriod(in: history.table, at: now)
    return Verdict(
      period: period, outcome: outcome(of: period, leeway: history.renewalLeeway, at: now))
  }

  /// The standing of the chain.
  ///
  /// - Parameters:
  ///   - verdict: what decides the chain at `now`.
  ///   - cache: of what was charged ahead of the period; nil when it is asked for once.
  func standing(
    by verdict: Verdict, in history: History, at now: Milliseconds,
    cache: ChargedAheadCache? = nil
  ) -> Standing {
    let (period, outcome) = (verdict.period, verdict.outcome)
    var standing = makeStanding(of: period, outcome: outcome, in: history.table, at: now)
    var ahead = AheadCharges()
    if outcome.status == .active {
      ahead =
        cache?.charges(of: self, after: period, at: now) ?? aheadCharges(of: period, at: now)
    }
    addRenewal(outcome: outcome, period: period, ahead: ahead, to: &standing, in: history.table)
    return standing
  }

  /// The standing of a product that does not decide the chain: that of its latest period, which
  /// another product has followed.
  ///
  /// - Parameter period: the latest period of the product.
  func standing(ofFollowed period: Period, in history: History, at now: Milliseconds) -> Standing {
    var standing = makeStanding(
      of: period, outcome: outcomeOfFollowed(period, at: now), in: history.table, at: now)
    standing.callToAction = standing.status == .revoked ? .winBack : .none
    return standing
  }

  /// The period that represents a product which does not decide the chain; nil when it has none.
  func followedPeriod(of product: Int, at now: Milliseconds) -> Period? {
    let own = periods.lazy.filter { $0.product == product }
    return own.last { $0.accessStart <= now } ?? own.first
  }

  /// What is known of one product of a chain.
  struct ProductPeriods {
    /// The index of the period that represents the product while another product decides the chain.
    var followed: Int
    var firstPurchaseAt: Milliseconds
    var hasBegun: Bool
  }

  /// The periods that represent each product while another one decides the chain, in the order of
  /// ``products``: the latest that has begun, else the first.
  func productPeriods(at now: Milliseconds) -> [ProductPeriods] {
    var found = [ProductPeriods](
      repeated: ProductPeriods(
        followed: periods.startIndex, firstPurchaseAt: Milliseconds(.max), hasBegun: false),
      count: products.count)
    for index in periods.indices.reversed() {
      let period = periods[index]
      let slot = Int(period.productInChain)
      found[slot].firstPurchaseAt = min(found[slot].firstPurchaseAt, period.start)
      if found[slot].hasBegun { continue }
      found[slot].followed = index
      found[slot].hasBegun = period.accessStart <= now
    }
    return found
  }

  /// The earliest purchase of a chain with one product.
  var firstPurchaseOfProduct: Milliseconds {
    periods.lazy.map(\.start).min() ?? firstPurchaseAt
  }

  /// The subscription group of the chain (R59).
  ///
  /// - Parameter period: the period that decides the chain.
  func groupID(of period: Period, in table: FactTable) -> SubscriptionGroupID? {
    ownGroupID(of: period, in: table) ?? groupIDOfOtherPeriods(in: table)
  }

  /// The subscription group that a period tells by itself.
  func ownGroupID(of period: Period, in table: FactTable) -> SubscriptionGroupID? {
    table.transaction(period.fact).subscriptionGroupID
      ?? table.products[period.product].inCatalog?.group
  }

  func groupIDOfOtherPeriods(in table: FactTable) -> SubscriptionGroupID? {
    for period in periods.reversed() {
      if let group = table.transaction(period.fact).subscriptionGroupID { return group }
    }
    for period in periods.reversed() {
      if let group = table.products[period.product].inCatalog?.group { return group }
    }
    return nil
  }

  /// The standing by a period and its outcome (R29), without the renewal.
  private func makeStanding(
    of period: Period, outcome: Outcome, in table: FactTable, at now: Milliseconds
  ) -> Standing {
    var standing = Standing.of(
      table.facts[period.fact], outcome.status, isActive: outcome.isActive, type: .autoRenewable,
      at: now)
    standing.firstPurchaseAt = firstPurchaseAt
    standing.expirationReason = outcome.reason
    standing.graceEnd = outcome.graceEnd
    var notices = outcome.notices
    if !table.products[period.product].isInCatalog { notices.insert(.productUnknown) }
    standing.notices = notices.inOrder
    return standing
  }

  /// Adds the next renewal (R22, R23) and the call to action (R29). Neither decides access.
  private func addRenewal(
    outcome: Outcome, period: Period, ahead: AheadCharges, to standing: inout Standing,
    in table: FactTable
  ) {
    // A change that was already charged is certain, whatever the renewal info says.
    if let change = ahead.change {
      standing.pendingChange = PendingChange(
        productID: table.products[change.product].id, effectiveAt: change.start)
    }
    // The latest charge decides whether another one follows.
    let latest = ahead.latest ?? period
    if let renewal, renewal.speaks(of: latest) {
      addRenewal(
        NextRenewal.of(table.facts[renewal.fact]), latest: latest, outcome: outcome,
        to: &standing, in: table)
      standing.callToAction = Self.callToAction(for: standing)
      if standing.callToAction == .winBack {
        standing.winBackOfferIDs = table.renewalInfo(renewal.fact).eligibleWinBackOfferIDs
      }
      return
    }
    if let renewal, renewal.continues(to: latest), Self.renews(outcome) {
      standing.willRenew = true
    }
    standing.callToAction = Self.callToAction(for: standing)
  }

  /// Whether a period with this outcome renews if auto-renew is on (R22).
  private static func renews(_ outcome: Outcome) -> Bool {
    switch outcome.status {
    case .active, .grace, .billingRetry, .upcoming: true
    default: outcome.notices.contains(.renewalOverdue)
    }
  }

  private func addRenewal(
    _ info: NextRenewal, latest: Period, outcome: Outcome, to standing: inout Standing,
    in table: FactTable
  ) {
    standing.willRenew = info.autoRenews.map { $0 && Self.renews(outcome) }
    guard outcome.status == .active || outcome.status == .grace, info.autoRenews != false else {
      return
    }
    standing.renewalOffer = info.offer
    if standing.pendingChange == nil, let next = info.productID,
      next != table.products[latest.product].id
    {
      standing.pendingChange = PendingChange(productID: next, effectiveAt: latest.end)
    }
    switch info.priceIncreaseStatus {
    case .some(.pending): standing.priceConsent = .pending
    case .some(.accepted): standing.priceConsent = .accepted
    default: break
    }
  }

  /// The call to action of a subscription (R29).
  private static func callToAction(for standing: Standing) -> CallToAction {
    switch standing.status {
    case .grace, .billingRetry: .fixBilling
    case .expired, .revoked: .winBack
    case .active where standing.priceConsent == .pending: .consentToPrice
    case .active where standing.willRenew == false: .keepSubscription
    case .active, .replaced, .upcoming, .consumed, .undetermined: .none
    }
  }
}

/// What a renewal info says of the next renewal.
private struct NextRenewal {
  let autoRenews: Bool?
  let productID: ProductID?
  let offer: Offer?
  let priceIncreaseStatus: PriceIncreaseStatus?

  /// A separate function that only reads fields; see ``TransactionOutline``.
  @inline(never)
  static func of(_ fact: Fact) -> NextRenewal {
    guard case .renewalInfo(let info) = fact else {
      preconditionFailure("the position is that of another kind of fact")
    }
    return NextRenewal(
      autoRenews: info.autoRenews, productID: info.autoRenewProductID, offer: info.renewalOffer,
      priceIncreaseStatus: info.priceIncreaseStatus)
  }
}

extension Standing {
  /// The fields that every kind of purchase has. A separate function that only reads fields; see
  /// ``TransactionOutline``.
  ///
  /// - Parameters:
  ///   - fact: a transaction.
  ///   - type: nil: that of the transaction.
  @inline(never)
  static func of(
    _ fact: Fact, _ status: DetailedStatus, isActive: Bool, type: ProductType?,
    at now: Milliseconds
  ) -> Standing {
    guard case .transaction(let transaction) = fact else {
      preconditionFailure("the position is that of another kind of fact")
    }
    var revocation: Revocation?
    if let date = transaction.revocationDate, date <= now {
      revocation = Revocation(
        date: date, reason: transaction.revocationReason, type: transaction.revocationType)
    }
    // All fields at once: setting one after the other copies the standing when it is returned.
    return Standing(
      coreState: isActive ? .active : .inactive, status: status,
      productID: transaction.productID, productType: type ?? transaction.type,
      transactionID: transaction.transactionID,
      originalTransactionID: transaction.originalTransactionID,
      periodStart: transaction.purchaseDate, periodEnd: transaction.expiresDate,
      offer: transaction.offer, winBackOfferIDs: [], ownership: transaction.ownership,
      storefront: transaction.storefront, revocation: revocation,
      commitment: transaction.commitment, firstPurchaseAt: transaction.purchaseDate,
      callToAction: .none, notices: [])
  }
}
