extension SubscriptionChain {
  /// What a period tells of itself (R29), under an outcome.
  func makeStanding(
    of period: Period, outcome: Outcome, in context: EvaluationContext
  ) -> Standing {
    let transaction = period.transaction
    let isActive = outcome.status == .active || outcome.status == .grace
    var standing = Standing(
      coreState: isActive ? .active : .inactive, status: outcome.status,
      productID: transaction.productID, productType: transaction.type,
      transactionID: transaction.transactionID, originalTransactionID: id,
      periodStart: period.start, firstPurchaseAt: firstPurchaseAt, callToAction: .none)
    standing.expirationReason = outcome.reason
    standing.periodEnd = transaction.expiresDate
    standing.graceEnd = outcome.graceEnd
    standing.addDetails(of: transaction, at: context.now)
    var notices = outcome.notices
    if context.catalog.products[transaction.productID] == nil { notices.insert(.productUnknown) }
    standing.notices = notices.sorted { $0.rawValue < $1.rawValue }
    return standing
  }

  /// R22, R23: what will happen at the next renewal. It never decides access.
  func addRenewal(
    outcome: Outcome, period: Period, to standing: inout Standing, in context: EvaluationContext
  ) {
    let ahead =
      outcome.status == .active ? chargedAhead(of: period, at: context.now) : []
    // What was charged ahead is certain, whatever the next renewal will be.
    if let change = ahead.first(where: {
      $0.transaction.productID != period.transaction.productID
    }) {
      standing.pendingChange = PendingChange(
        productID: change.transaction.productID, effectiveAt: change.start)
    }
    // The renewal info is signed with the latest charge.
    let latest = ahead.last ?? period
    guard let info = relevantRenewalInfo(for: latest) else { return }
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
    if standing.pendingChange == nil, let next = info.autoRenewProductID,
      next != latest.transaction.productID
    {
      standing.pendingChange = PendingChange(productID: next, effectiveAt: latest.end)
    }
    switch info.priceIncreaseStatus {
    case PriceIncreaseStatus.pending: standing.priceConsent = .pending
    case PriceIncreaseStatus.accepted: standing.priceConsent = .accepted
    default: break
    }
  }

  /// R29.
  static func callToAction(for standing: Standing) -> CallToAction {
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

extension ExpirationReason {
  /// R21: absent is unknown, never "cancelled".
  init(_ intent: ExpirationIntent?) {
    switch intent {
    case nil: self = .unknown
    case ExpirationIntent.cancelled: self = .customerCancelled
    case ExpirationIntent.billingError: self = .billingError
    case ExpirationIntent.noPriceConsent: self = .priceIncreaseDeclined
    case ExpirationIntent.productUnavailable: self = .productUnavailable
    default: self = .other
    }
  }
}
