/// One auto-renewable chain: its periods and its renewal info.
struct SubscriptionChain {
  let id: OriginalTransactionID
  /// At least one period, sorted by ``FactTable/isEarlier(_:_:)``.
  let periods: ArraySlice<Period>
  let renewal: Renewal?
  /// The positions of transactions that are superseded versions of a period (R6).
  let repeats: [Int]
  /// The earliest known purchase of the chain.
  let firstPurchaseAt: Milliseconds
  /// The positions in ``FactTable/products`` of the periods' products, without duplicates.
  let products: [Int]

  /// The time for which Apple retries a failed charge (R20).
  static let billingRetryLength = 60 * Milliseconds.dayLength

  // MARK: Periods

  /// The period that decides the standing of the chain: the period in force that ends last (R18).
  /// If none is in force, the period that gave access last and was not replaced. If none has begun,
  /// the first one.
  func decisivePeriod(in table: FactTable, at now: Milliseconds) -> Period {
    var latest: Period?
    var upcoming: Period?
    for period in periods.reversed() {
      if period.start > now {
        let isSooner = upcoming.map { (period.start, period.end) <= ($0.start, $0.end) } ?? true
        if isSooner { upcoming = period }
      } else if period.isInForce(at: now) {
        return period
      } else if period.isReplaced(at: now) {
        continue  // Its successor, or a later period, decides.
      } else if latest.map({ table.gaveAccessEarlier($0, period) }) ?? true {
        // The end of access counts and not the period's end: a refunded year must not hide a month
        // that was bought after it.
        latest = period
      }
    }
    // A chain has at least one period, so the last operand is never used.
    return latest ?? upcoming ?? periods[periods.startIndex]
  }

  /// The renewal info, if it belongs to this period (R19).
  func relevantRenewal(for period: Period) -> Renewal? {
    renewal.flatMap { $0.isRelevant(to: period) ? $0 : nil }
  }

  /// The later periods that were already charged and follow this one without a gap, in order (R18).
  func chargedAhead(of period: Period, at now: Milliseconds) -> [Period] {
    var ahead = periods.filter { $0.start > now && !$0.isRevoked(at: now) }
    if ahead.isEmpty { return [] }
    ahead.sort { ($0.start, $0.end) < ($1.start, $1.end) }
    var end = period.end
    return ahead.filter { next in
      guard next.start <= end, next.end > end else { return false }
      end = next.end
      return true
    }
  }

  // MARK: Status

  /// The status of a period, with the rule that decided it.
  struct Outcome {
    var status: DetailedStatus
    /// The rule that decided.
    var rule: Rule
    var reason: ExpirationReason?
    /// The end of the grace period; set only in grace.
    var graceEnd: Milliseconds?
    var notices: [Notice] = []

    /// Whether the period gives access.
    var isActive: Bool { status == .active || status == .grace }

    /// Whether the renewal info extends access after the period's end (R19, R24).
    var dependsOnRenewal: Bool { isActive && (rule == 19 || rule == 24) }

    init(_ status: DetailedStatus, _ rule: Rule, reason: ExpirationReason? = nil) {
      self.status = status
      self.rule = rule
      self.reason = reason
    }
  }

  /// The outcome of the period that decides the chain.
  func outcome(of period: Period, leeway: Int64, at now: Milliseconds) -> Outcome {
    if period.start > now { return Outcome(.upcoming, 15) }
    if period.isInForce(at: now) {
      var outcome = Outcome(.active, 15)
      if period.isSuccessorMissing {
        outcome.rule = 17
        outcome.notices.append(.successorMissing)
      }
      return outcome
    }
    if period.isRevoked(at: now) { return Outcome(.revoked, 16) }
    var outcome = outcomeAfterEnd(of: period, leeway: leeway, at: now)
    if period.isSuccessorMissing { outcome.notices.append(.successorMissing) }
    if !period.hasEnd { outcome.notices.append(.expiresDateMissing) }
    return outcome
  }

  /// R19–R21 and R24, in this order: grace, billing retry, overdue, expired.
  private func outcomeAfterEnd(of period: Period, leeway: Int64, at now: Milliseconds) -> Outcome {
    guard let renewal = relevantRenewal(for: period) else {
      return Outcome(.expired, 21, reason: .unknown)
    }
    if let graceEnd = renewal.graceEnd, graceEnd > period.end, now < graceEnd {
      var outcome = Outcome(.grace, 19)
      outcome.graceEnd = graceEnd
      return outcome
    }
    // A grace period that ended before this period belongs to an earlier period, and so does the
    // retry in the same renewal info.
    let isOfEarlierPeriod = renewal.graceEnd.map { $0 <= period.end } ?? false
    if renewal.isRetrying, !isOfEarlierPeriod {
      if now < period.end.advanced(by: Self.billingRetryLength) {
        return Outcome(.billingRetry, 20)
      }
      var outcome = Outcome(.expired, 20, reason: .billingError)
      outcome.notices.append(.inferred)
      return outcome
    }
    if renewal.autoRenews == true, renewal.expirationIntent == nil {
      let leewayEnd = period.end.advanced(by: leeway)
      let isWithinLeeway = renewal.graceEnd == nil && now < leewayEnd
      var outcome =
        isWithinLeeway ? Outcome(.active, 24) : Outcome(.expired, 24, reason: .unknown)
      outcome.notices.append(.renewalOverdue)
      return outcome
    }
    return Outcome(.expired, 21, reason: ExpirationReason(renewal.expirationIntent))
  }

  /// The outcome of a period that does not decide its chain, because another product followed it.
  func outcomeOfFollowed(_ period: Period, at now: Milliseconds) -> Outcome {
    if period.start > now { return Outcome(.upcoming, 15) }
    if period.isRevoked(at: now) { return Outcome(.revoked, 16) }
    return Outcome(.replaced, period.isReplaced(at: now) ? 17 : 18)
  }

  // MARK: Access

  /// The end of access to an entitlement, with the known later periods that follow without a gap
  /// (R18).
  func accessEnd(
    of entitlement: EntitlementID, from end: Milliseconds, in table: FactTable
  ) -> Milliseconds {
    var following = periods.filter { period in
      period.accessEnd > end
        && table.products[period.product].entitlements.contains(entitlement)
    }
    if following.isEmpty { return end }
    following.sort { $0.start < $1.start }
    var end = end
    for period in following where period.start <= end && period.accessEnd > end {
      end = period.accessEnd
    }
    return end
  }

  /// Adds the moments at which a rule may change the outcome (R30).
  func noteMoments(leeway: Int64, in moments: inout TransitionMoments) {
    for period in periods {
      moments.note(period.start)
      moments.note(period.end)
      if let replacedAt = period.replacedAt { moments.note(replacedAt) }
      if let revocationDate = period.revocationDate { moments.note(revocationDate) }
      guard let renewal, renewal.isRelevant(to: period) else { continue }
      moments.note(period.end.advanced(by: Self.billingRetryLength))
      if leeway > 0 { moments.note(period.end.advanced(by: leeway)) }
    }
    if let graceEnd = renewal?.graceEnd { moments.note(graceEnd) }
  }
}

extension ExpirationReason {
  /// The reason of an expiry (R21). An absent intent is `.unknown` and never `.customerCancelled`.
  init(_ intent: ExpirationIntent?) {
    switch intent {
    case nil: self = .unknown
    case .some(.cancelled): self = .customerCancelled
    case .some(.billingError): self = .billingError
    case .some(.noPriceConsent): self = .priceIncreaseDeclined
    case .some(.productUnavailable): self = .productUnavailable
    default: self = .other
    }
  }
}

/// The fields of a chain's renewal info that decide the status.
struct Renewal {
  /// The position in ``FactTable/facts``.
  let fact: Int
  let signedDate: Milliseconds
  /// The position of the product in ``FactTable/products``; ``otherProduct`` for a product without
  /// a known transaction; nil when the renewal info names none.
  let product: Int?
  let renewalDate: Milliseconds?
  let graceEnd: Milliseconds?
  let isRetrying: Bool
  let autoRenews: Bool?
  let expirationIntent: ExpirationIntent?

  static let otherProduct = -1

  static func of(_ info: RenewalInfoFact, fact: Int, product: Int?) -> Renewal {
    Renewal(
      fact: fact, signedDate: info.signedDate, product: product, renewalDate: info.renewalDate,
      graceEnd: info.gracePeriodExpiresDate, isRetrying: info.isInBillingRetryPeriod == true,
      autoRenews: info.autoRenews, expirationIntent: info.expirationIntent)
  }

  /// Whether the renewal info belongs to this period (R19): it has the same product, and is not
  /// older.
  ///
  /// A renewal may be charged before its period begins (R18), and its renewal info is signed at
  /// that time. So the info is too old only if it was signed before both the period's start and the
  /// signing of the period's transaction. A renewal date takes precedence over these: if it is the
  /// period's end, the info belongs to the period; if it is not after the period's start, the info
  /// belongs to an earlier period. Such an info may have been signed later, because a renewal that
  /// is paid within grace begins at the end of the period before it.
  func isRelevant(to period: Period) -> Bool { mismatch(with: period) == nil }

  /// The reason why a renewal info does not belong to a period.
  enum Mismatch {
    case otherProduct
    /// The renewal date is not after the period's start.
    case earlierPeriod
    case older
  }

  /// - Returns: nil when the renewal info belongs to the period.
  func mismatch(with period: Period) -> Mismatch? {
    if let product, product != period.product { return .otherProduct }
    if let renewalDate, renewalDate <= period.start { return .earlierPeriod }
    let isOlder = signedDate < min(period.start, period.signedDate) && renewalDate != period.end
    return isOlder ? .older : nil
  }
}
