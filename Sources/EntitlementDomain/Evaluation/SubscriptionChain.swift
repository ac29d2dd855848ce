/// One auto-renewable chain: its periods and what is known of its next renewal.
struct SubscriptionChain {
  let id: OriginalTransactionID
  /// At least one, ordered by ``Period/isEarlier(_:_:)``.
  let periods: [Period]
  let renewalInfo: RenewalInfoFact?

  init(
    id: OriginalTransactionID, transactions: [TransactionFact], renewalInfo: RenewalInfoFact?
  ) {
    self.id = id
    self.periods = Period.periods(of: transactions)
    self.renewalInfo = renewalInfo
  }

  var productIDs: [ProductID] {
    Set(periods.map(\.transaction.productID)).sorted()
  }

  /// How long Apple retries a failed charge (R20).
  static let billingRetryLength = 60 * Milliseconds.dayLength

  // MARK: The chain as a whole

  /// The period that decides how the chain stands: the one in force that ends last (R18); when
  /// none is, the one that gave access last and was not replaced; when none began, the first to
  /// come.
  func decisivePeriod(at now: Milliseconds) -> Period {
    let begun = periods.filter { $0.start <= now }
    if let current = begun.last(where: { $0.isInForce(at: now) }) { return current }
    let unreplaced = begun.filter { !$0.isReplaced(at: now) }
    // Not the one with the latest end: a refunded year must not hide the month bought after it.
    if let latest = (unreplaced.isEmpty ? begun : unreplaced).max(by: Period.gaveAccessEarlier) {
      return latest
    }
    // A chain has at least one period, so the fallback is never taken.
    return periods.min { ($0.start, $0.end) < ($1.start, $1.end) } ?? periods[0]
  }

  func standing(in context: EvaluationContext) -> Standing {
    let period = decisivePeriod(at: context.now)
    let outcome = outcome(of: period, in: context)
    var standing = makeStanding(of: period, outcome: outcome, in: context)
    addRenewal(outcome: outcome, period: period, to: &standing, in: context)
    standing.callToAction = Self.callToAction(for: standing)
    return standing
  }

  func groupID(in context: EvaluationContext) -> SubscriptionGroupID? {
    let transaction = decisivePeriod(at: context.now).transaction
    return transaction.subscriptionGroupID ?? context.catalog.products[transaction.productID]?.group
  }

  /// The earliest purchase of the chain that is known.
  var firstPurchaseAt: Milliseconds {
    periods.lazy.map { period in
      min(period.start, period.transaction.originalPurchaseDate ?? period.start)
    }.min() ?? Milliseconds(0)
  }

  // MARK: One product of the chain

  /// How one of the chain's products stands: as the chain does when that product decides it,
  /// else as its own latest period does, which another product has followed.
  func standing(
    of productID: ProductID, chainStanding: Standing, in context: EvaluationContext
  ) -> Standing {
    var standing = chainStanding
    if chainStanding.productID != productID {
      let own = periods.filter { $0.transaction.productID == productID }
      let begun = own.filter { $0.start <= context.now }
      guard let period = begun.last ?? own.first else { return chainStanding }
      standing = makeStanding(
        of: period, outcome: outcomeOfFollowed(period, in: context), in: context)
      standing.callToAction = standing.status == .revoked ? .winBack : .none
    }
    standing.firstPurchaseAt =
      periods.lazy.filter { $0.transaction.productID == productID }.map(\.start).min()
      ?? standing.periodStart
    return standing
  }

  private func outcomeOfFollowed(_ period: Period, in context: EvaluationContext) -> Outcome {
    if period.start > context.now { return Outcome(.upcoming) }
    if period.isRevoked(at: context.now) { return Outcome(.revoked) }
    return Outcome(.replaced)
  }

  // MARK: What decides

  /// The status that the rules give a period, and what it takes along.
  struct Outcome {
    var status: DetailedStatus
    var reason: ExpirationReason?
    /// The end of access, where it is not the period's own.
    var graceEnd: Milliseconds?
    var notices: Set<Notice> = []

    init(_ status: DetailedStatus, reason: ExpirationReason? = nil) {
      self.status = status
      self.reason = reason
    }
  }

  private func outcome(of period: Period, in context: EvaluationContext) -> Outcome {
    let now = context.now
    if period.start > now { return Outcome(.upcoming) }
    if period.isInForce(at: now) {
      var outcome = Outcome(.active)
      if period.isSuccessorMissing { outcome.notices.insert(.successorMissing) }
      return outcome
    }
    if period.isRevoked(at: now) { return Outcome(.revoked) }
    var outcome = outcomeAfterEnd(of: period, in: context)
    if period.isSuccessorMissing { outcome.notices.insert(.successorMissing) }
    if period.transaction.expiresDate == nil { outcome.notices.insert(.expiresDateMissing) }
    return outcome
  }

  /// R19–R21 and R24, in this order: grace, billing retry, overdue, expired.
  private func outcomeAfterEnd(of period: Period, in context: EvaluationContext) -> Outcome {
    guard let info = relevantRenewalInfo(for: period) else {
      return Outcome(.expired, reason: .unknown)
    }
    let now = context.now
    if let graceEnd = info.gracePeriodExpiresDate, graceEnd > period.end, now < graceEnd {
      var outcome = Outcome(.grace)
      outcome.graceEnd = graceEnd
      return outcome
    }
    // A grace period that was over before this period ended belonged to an earlier one, and so did
    // the retry that was told with it.
    let isOfEarlierPeriod = info.gracePeriodExpiresDate.map { $0 <= period.end } ?? false
    if info.isInBillingRetryPeriod == true, !isOfEarlierPeriod {
      if now < period.end.advanced(by: Self.billingRetryLength) { return Outcome(.billingRetry) }
      var outcome = Outcome(.expired, reason: .billingError)
      outcome.notices.insert(.inferred)
      return outcome
    }
    if info.autoRenews == true, info.expirationIntent == nil {
      let leewayEnd = period.end.advanced(by: context.catalog.renewalLeeway)
      let isWithinLeeway = info.gracePeriodExpiresDate == nil && now < leewayEnd
      var outcome =
        isWithinLeeway ? Outcome(.active) : Outcome(.expired, reason: .unknown)
      outcome.notices.insert(.renewalOverdue)
      return outcome
    }
    return Outcome(.expired, reason: ExpirationReason(info.expirationIntent))
  }

  /// The renewal info, if it speaks of this period (R19): of its product, and not older than it.
  ///
  /// A renewal may be charged before its period begins (R18), and its renewal info is signed with
  /// it. So the info is old only when it was signed before both the period's start and the
  /// signing of its transaction. Where it names the renewal date, that tells: the period's end is
  /// its own in any case, and a date up to the period's start is that of an earlier period, though
  /// it may have been signed later (a renewal paid within grace begins where the one before it
  /// ended).
  func relevantRenewalInfo(for period: Period) -> RenewalInfoFact? {
    guard let info = renewalInfo else { return nil }
    if let productID = info.productID, productID != period.transaction.productID { return nil }
    if let renewalDate = info.renewalDate, renewalDate <= period.start { return nil }
    let earliest = min(period.start, period.transaction.signedDate)
    return info.signedDate >= earliest || info.renewalDate == period.end ? info : nil
  }

  /// The periods that were charged already and follow this one without a gap, in their order
  /// (R18).
  func chargedAhead(of period: Period, at now: Milliseconds) -> [Period] {
    var following: [Period] = []
    var end = period.end
    for next in periods.sorted(by: { ($0.start, $0.end) < ($1.start, $1.end) })
    where next.start > now && next.start <= end && next.end > end && !next.isRevoked(at: now) {
      following.append(next)
      end = next.end
    }
    return following
  }

  // MARK: Access

  /// What the chain confers entitlements with, if it does now.
  func source(for standing: Standing, in context: EvaluationContext) -> ConferringPurchase? {
    guard standing.coreState == .active else { return nil }
    let period = decisivePeriod(at: context.now)
    let conferred = context.catalog.products[period.transaction.productID]?.entitlements ?? []
    var until = standing.graceEnd ?? period.accessEnd
    if standing.notices.contains(.renewalOverdue) {
      until = period.end.advanced(by: context.catalog.renewalLeeway)
    }
    return ConferringPurchase(
      transaction: period.transaction, entitlements: conferred, since: period.start
    ) { entitlement in
      accessEnd(of: entitlement, from: until, in: context)
    }
  }

  /// Where access to an entitlement ends, with the known later periods that follow without a gap
  /// (R18).
  private func accessEnd(
    of entitlement: EntitlementID, from end: Milliseconds, in context: EvaluationContext
  ) -> Milliseconds {
    var end = end
    for period in periods.sorted(by: { $0.start < $1.start })
    where period.start <= end && period.accessEnd > end {
      let conferred = context.catalog.products[period.transaction.productID]?.entitlements ?? []
      if conferred.contains(entitlement) { end = period.accessEnd }
    }
    return end
  }

  /// Every moment at which a rule above may decide otherwise (R30).
  func moments(in context: EvaluationContext) -> [Milliseconds] {
    var moments: [Milliseconds] = []
    for period in periods {
      moments.append(period.start)
      moments.append(period.end)
      if period.accessEnd != period.end { moments.append(period.accessEnd) }
      if let revocation = period.transaction.revocationDate { moments.append(revocation) }
      guard relevantRenewalInfo(for: period) != nil else { continue }
      moments.append(period.end.advanced(by: Self.billingRetryLength))
      moments.append(period.end.advanced(by: context.catalog.renewalLeeway))
    }
    if let graceEnd = renewalInfo?.gracePeriodExpiresDate { moments.append(graceEnd) }
    return moments
  }
}
