extension SubscriptionChain {
  /// How the chain stands, and by which of its periods.
  struct Verdict {
    let period: Period
    let outcome: Outcome
    let standing: Standing
  }

  func verdict(in history: History, at now: Milliseconds) -> Verdict {
    let period = decisivePeriod(in: history.evidence, at: now)
    let outcome = outcome(of: period, leeway: history.renewalLeeway, at: now)
    var standing = makeStanding(of: period, outcome: outcome, in: history.evidence, at: now)
    addRenewal(outcome: outcome, period: period, to: &standing, in: history.evidence, at: now)
    return Verdict(period: period, outcome: outcome, standing: standing)
  }

  /// How one of the chain's products stands that does not decide it: as its own latest period does,
  /// which another product has followed.
  func standing(ofFollowed product: Int, in history: History, at now: Milliseconds) -> Standing? {
    guard let period = followedPeriod(of: product, at: now) else { return nil }
    var standing = makeStanding(
      of: period, outcome: outcomeOfFollowed(period, at: now), in: history.evidence, at: now)
    standing.callToAction = standing.status == .revoked ? .winBack : .none
    return standing
  }

  /// The period by which a product is told that does not decide the chain; nil when it has none.
  func followedPeriod(of product: Int, at now: Milliseconds) -> Period? {
    let own = periods.lazy.filter { $0.product == product }
    return own.last { $0.start <= now } ?? own.first
  }

  func firstPurchase(of product: Int) -> Milliseconds? {
    periods.lazy.filter { $0.product == product }.map(\.start).min()
  }

  /// The subscription group, as Apple says it, else as the catalog does.
  func groupID(of period: Period, in evidence: Evidence) -> SubscriptionGroupID? {
    evidence.transaction(period.fact).subscriptionGroupID
      ?? evidence.products[period.product].inCatalog?.group
  }

  /// What a period tells of itself (R29), under an outcome.
  private func makeStanding(
    of period: Period, outcome: Outcome, in evidence: Evidence, at now: Milliseconds
  ) -> Standing {
    let transaction = evidence.transaction(period.fact)
    var standing = Standing(
      coreState: outcome.isActive ? .active : .inactive, status: outcome.status,
      productID: transaction.productID, productType: .autoRenewable,
      transactionID: transaction.transactionID, originalTransactionID: id,
      periodStart: period.start, firstPurchaseAt: firstPurchaseAt, callToAction: .none)
    standing.expirationReason = outcome.reason
    standing.periodEnd = transaction.expiresDate
    standing.graceEnd = outcome.graceEnd
    standing.addDetails(of: transaction, at: now)
    standing.notices = outcome.notices
    if evidence.products[period.product].inCatalog == nil {
      standing.notices.append(.productUnknown)
    }
    if standing.notices.count > 1 { standing.notices.sort { $0.rawValue < $1.rawValue } }
    return standing
  }

  /// R22, R23: what will happen at the next renewal, and what to say about it (R29). It never decides
  /// access.
  private func addRenewal(
    outcome: Outcome, period: Period, to standing: inout Standing, in evidence: Evidence,
    at now: Milliseconds
  ) {
    let ahead = outcome.status == .active ? chargedAhead(of: period, at: now) : []
    // What was charged ahead is certain, whatever the next renewal will be.
    if let change = ahead.first(where: { $0.product != period.product }) {
      standing.pendingChange = PendingChange(
        productID: evidence.products[change.product].id, effectiveAt: change.start)
    }
    // The renewal info is signed with the latest charge.
    let latest = ahead.last ?? period
    if let renewal = relevantRenewal(for: latest) {
      let info = evidence.renewalInfo(renewal.fact)
      addRenewal(info, latest: latest, outcome: outcome, to: &standing, in: evidence)
      standing.callToAction = Self.callToAction(for: standing)
      if standing.callToAction == .winBack {
        standing.winBackOfferIDs = info.eligibleWinBackOfferIDs
      }
    } else {
      standing.callToAction = Self.callToAction(for: standing)
    }
  }

  private func addRenewal(
    _ info: RenewalInfoFact, latest: Period, outcome: Outcome, to standing: inout Standing,
    in evidence: Evidence
  ) {
    switch outcome.status {
    case .active, .grace, .billingRetry, .upcoming:
      standing.willRenew = info.autoRenews
    default:
      standing.willRenew = info.autoRenews.map {
        $0 && outcome.notices.contains(.renewalOverdue)
      }
    }
    guard outcome.status == .active || outcome.status == .grace, info.autoRenews != false else {
      return
    }
    standing.renewalOffer = info.renewalOffer
    if standing.pendingChange == nil, let next = info.autoRenewProductID,
      next != evidence.products[latest.product].id
    {
      standing.pendingChange = PendingChange(productID: next, effectiveAt: latest.end)
    }
    switch info.priceIncreaseStatus {
    case .some(.pending): standing.priceConsent = .pending
    case .some(.accepted): standing.priceConsent = .accepted
    default: break
    }
  }

  /// R29.
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

extension Standing {
  /// What every kind of purchase tells of itself.
  mutating func addDetails(of transaction: TransactionFact, at now: Milliseconds) {
    offer = transaction.offer
    ownership = transaction.ownership
    storefront = transaction.storefront
    commitment = transaction.commitment
    if let date = transaction.revocationDate, date <= now {
      revocation = Revocation(
        date: date, reason: transaction.revocationReason, type: transaction.revocationType)
    }
  }
}
