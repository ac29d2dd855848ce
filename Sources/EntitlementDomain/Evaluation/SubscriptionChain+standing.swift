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
  ///   - firstPurchaseAt: the earliest purchase of what the standing is shown for.
  ///   - cache: of what was charged ahead of the period; nil when it is asked for once.
  func standing(
    by verdict: Verdict, firstPurchaseAt: Milliseconds, in history: History, at now: Milliseconds,
    cache: ChargedAheadCache? = nil
  ) -> Standing {
    let (period, outcome) = (verdict.period, verdict.outcome)
    var ahead = AheadCharges()
    if outcome.status == .active {
      ahead =
        cache?.charges(of: self, after: period, at: now) ?? aheadCharges(of: period, at: now)
    }
    return makeStanding(
      of: period, outcome,
      outlook(outcome: outcome, period: period, ahead: ahead, in: history.table),
      firstPurchaseAt: firstPurchaseAt, in: history.table, at: now)
  }

  /// The standing of a product that does not decide the chain: that of its latest period, which
  /// another product has followed.
  ///
  /// - Parameters:
  ///   - period: the latest period of the product.
  ///   - firstPurchaseAt: the earliest purchase of the product.
  func standing(
    ofFollowed period: Period, firstPurchaseAt: Milliseconds, in history: History,
    at now: Milliseconds
  ) -> Standing {
    let outcome = outcomeOfFollowed(period, at: now)
    return makeStanding(
      of: period, outcome,
      Standing.Outlook(callToAction: outcome.status == .revoked ? .winBack : .none),
      firstPurchaseAt: firstPurchaseAt, in: history.table, at: now)
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
      ?? table.products[period.product].group
  }

  func groupIDOfOtherPeriods(in table: FactTable) -> SubscriptionGroupID? {
    for period in periods.reversed() {
      if let group = table.transaction(period.fact).subscriptionGroupID { return group }
    }
    for period in periods.reversed() {
      if let group = table.products[period.product].group { return group }
    }
    return nil
  }

  /// The standing by a period and its outcome (R29).
  private func makeStanding(
    of period: Period, _ outcome: Outcome, _ outlook: Standing.Outlook,
    firstPurchaseAt: Milliseconds, in table: FactTable, at now: Milliseconds
  ) -> Standing {
    var notices = outcome.notices
    if !table.products[period.product].isInCatalog { notices.insert(.productUnknown) }
    return Standing.of(
      table.facts[period.fact], outcome.status, isActive: outcome.isActive, type: .autoRenewable,
      start: period.start, end: period.hasEnd ? period.end : nil, reason: outcome.reason,
      graceEnd: outcome.graceEnd, outlook, firstPurchaseAt: firstPurchaseAt,
      notices: notices.inOrder, at: now)
  }

  /// The next renewal (R22, R23) and the call to action (R29). Neither decides access.
  private func outlook(
    outcome: Outcome, period: Period, ahead: AheadCharges, in table: FactTable
  ) -> Standing.Outlook {
    // A change that was already charged is certain, whatever the renewal info says.
    var pendingChange = ahead.change.map {
      PendingChange(productID: table.products[$0.product].id, effectiveAt: $0.start)
    }
    // The latest charge decides whether another one follows.
    let latest = ahead.latest ?? period
    guard let renewal, renewal.speaks(of: latest) else {
      let renews = renewal.map { $0.continues(to: latest) && Self.renews(outcome) } ?? false
      let willRenew = renews ? true : nil
      return Standing.Outlook(
        willRenew: willRenew, pendingChange: pendingChange,
        callToAction: Self.callToAction(outcome.status, willRenew: willRenew, consent: nil))
    }
    let info = NextRenewal.of(table.facts[renewal.fact])
    let willRenew = info.autoRenews.map { $0 && Self.renews(outcome) }
    let isTold =
      (outcome.status == .active || outcome.status == .grace) && info.autoRenews != false
    if isTold, pendingChange == nil, let next = info.productID,
      next != table.products[latest.product].id
    {
      pendingChange = PendingChange(productID: next, effectiveAt: latest.end)
    }
    let consent = isTold ? info.priceIncreaseStatus.flatMap { PriceConsent($0) } : nil
    let call = Self.callToAction(outcome.status, willRenew: willRenew, consent: consent)
    return Standing.Outlook(
      willRenew: willRenew, pendingChange: pendingChange, priceConsent: consent,
      renewalOffer: isTold ? info.offer : nil,
      winBackOfferIDs: call == .winBack
        ? table.renewalInfo(renewal.fact).eligibleWinBackOfferIDs : [],
      callToAction: call)
  }

  /// Whether a period with this outcome renews if auto-renew is on (R22).
  private static func renews(_ outcome: Outcome) -> Bool {
    switch outcome.status {
    case .active, .grace, .billingRetry, .upcoming: true
    default: outcome.notices.contains(.renewalOverdue)
    }
  }

  /// The call to action of a subscription (R29).
  private static func callToAction(
    _ status: DetailedStatus, willRenew: Bool?, consent: PriceConsent?
  ) -> CallToAction {
    switch status {
    case .grace, .billingRetry: .fixBilling
    case .expired, .revoked: .winBack
    case .active where consent == .pending: .consentToPrice
    case .active where willRenew == false: .keepSubscription
    case .active, .replaced, .upcoming, .consumed, .undetermined: .none
    }
  }
}

extension PriceConsent {
  /// - Returns: nil for an unknown status.
  fileprivate init?(_ status: PriceIncreaseStatus) {
    switch status {
    case .pending: self = .pending
    case .accepted: self = .accepted
    default: return nil
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
  /// What a standing tells of the time to come.
  struct Outlook {
    var willRenew: Bool?
    var pendingChange: PendingChange?
    var priceConsent: PriceConsent?
    var renewalOffer: Offer?
    var winBackOfferIDs: [String] = []
    let callToAction: CallToAction
  }

  /// The standing of a purchase. A separate function that only reads fields; see
  /// ``TransactionOutline``.
  ///
  /// - Parameters:
  ///   - fact: a transaction.
  ///   - type: nil: that of the transaction.
  // All fields at once: setting one after the other copies the standing when it is returned.
  @inline(never)
  static func of(
    _ fact: Fact, _ status: DetailedStatus, isActive: Bool, type: ProductType?,
    start: Milliseconds, end: Milliseconds?, reason: ExpirationReason?,
    graceEnd: Milliseconds? = nil, _ outlook: Outlook, firstPurchaseAt: Milliseconds,
    notices: [Notice], at now: Milliseconds
  ) -> Standing {
    guard case .transaction(let transaction) = fact else {
      preconditionFailure("the position is that of another kind of fact")
    }
    var revocation: Revocation?
    if let date = transaction.revocationDate, date <= now {
      revocation = Revocation(
        date: date, reason: transaction.revocationReason, type: transaction.revocationType)
    }
    return Standing(
      coreState: isActive ? .active : .inactive, status: status, expirationReason: reason,
      productID: transaction.productID, productType: type ?? transaction.type,
      transactionID: transaction.transactionID,
      originalTransactionID: transaction.originalTransactionID, periodStart: start,
      periodEnd: end, graceEnd: graceEnd, willRenew: outlook.willRenew,
      pendingChange: outlook.pendingChange, priceConsent: outlook.priceConsent,
      offer: transaction.offer, renewalOffer: outlook.renewalOffer,
      winBackOfferIDs: outlook.winBackOfferIDs, ownership: transaction.ownership,
      storefront: transaction.storefront, revocation: revocation,
      commitment: transaction.commitment, firstPurchaseAt: firstPurchaseAt,
      callToAction: transaction.ownership?.isOfAnother == true
        ? outlook.callToAction.withoutPaying : outlook.callToAction,
      notices: notices)
  }
}

extension CallToAction {
  /// The call to a customer who did not buy the subscription and cannot manage it (R25).
  fileprivate var withoutPaying: CallToAction {
    switch self {
    case .fixBilling, .consentToPrice, .keepSubscription: .none
    case .winBack, .merchandise, .none: self
    }
  }
}
