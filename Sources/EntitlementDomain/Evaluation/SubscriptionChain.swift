/// One auto-renewable chain: its periods and what is known of its next renewal.
struct SubscriptionChain {
  let id: OriginalTransactionID
  /// At least one, ordered by ``Evidence/isEarlier(_:_:)``.
  let periods: ArraySlice<Period>
  let renewal: Renewal?
  /// Positions of transactions that are other versions of one of the periods (R6): set aside.
  let repeats: [Int]
  /// The earliest purchase of the chain that is known.
  let firstPurchaseAt: Milliseconds
  /// Positions in ``Evidence/products`` of its periods' products, each once.
  let products: [Int]

  /// How long Apple retries a failed charge (R20).
  static let billingRetryLength = 60 * Milliseconds.dayLength

  // MARK: The chain as a whole

  /// The period that decides how the chain stands: the one in force that ends last (R18); when
  /// none is, the one that gave access last and was not replaced; when none began, the first to
  /// come.
  func decisivePeriod(in evidence: Evidence, at now: Milliseconds) -> Period {
    var latest: Period?
    var upcoming: Period?
    for period in periods.reversed() {
      if period.start > now {
        let isSooner = upcoming.map { (period.start, period.end) <= ($0.start, $0.end) } ?? true
        if isSooner { upcoming = period }
      } else if period.isInForce(at: now) {
        return period
      } else if period.isReplaced(at: now) {
        continue  // Its successor, or what followed that one, tells.
      } else if latest.map({ evidence.gaveAccessEarlier($0, period) }) ?? true {
        // Not the one with the latest end: a refunded year must not hide the month bought after it.
        latest = period
      }
    }
    // A chain has at least one period, so the fallback is never taken.
    return latest ?? upcoming ?? periods[periods.startIndex]
  }

  func relevantRenewal(for period: Period) -> Renewal? {
    renewal.flatMap { $0.isRelevant(to: period) ? $0 : nil }
  }

  /// The periods that were charged already and follow this one without a gap, in their order
  /// (R18).
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

  // MARK: What decides

  /// The status that the rules give a period, and what it takes along.
  struct Outcome {
    var status: DetailedStatus
    /// The rule that decided.
    var rule: Rule
    var reason: ExpirationReason?
    /// The end of access, where it is not the period's own.
    var graceEnd: Milliseconds?
    var notices: [Notice] = []

    /// It gives access.
    var isActive: Bool { status == .active || status == .grace }

    /// It gives access after the period's end, because the renewal info says so (R19, R24).
    var restsOnRenewal: Bool { isActive && (rule == 19 || rule == 24) }

    init(_ status: DetailedStatus, _ rule: Rule, reason: ExpirationReason? = nil) {
      self.status = status
      self.rule = rule
      self.reason = reason
    }
  }

  /// How the chain stands by the period that decides it.
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
    // A grace period that was over before this period ended belonged to an earlier one, and so did
    // the retry that was told with it.
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

  /// How a period stands that does not decide its chain, because another product followed it.
  func outcomeOfFollowed(_ period: Period, at now: Milliseconds) -> Outcome {
    if period.start > now { return Outcome(.upcoming, 15) }
    if period.isRevoked(at: now) { return Outcome(.revoked, 16) }
    return Outcome(.replaced, period.isReplaced(at: now) ? 17 : 18)
  }

  // MARK: Access

  /// Where access to an entitlement ends, with the known later periods that follow without a gap
  /// (R18).
  func accessEnd(
    of entitlement: EntitlementID, from end: Milliseconds, in evidence: Evidence
  ) -> Milliseconds {
    var following = periods.filter { period in
      period.accessEnd > end
        && evidence.products[period.product].entitlements.contains(entitlement)
    }
    if following.isEmpty { return end }
    following.sort { $0.start < $1.start }
    var end = end
    for period in following where period.start <= end && period.accessEnd > end {
      end = period.accessEnd
    }
    return end
  }

  /// Notes every moment at which a rule above may decide otherwise (R30).
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
  /// R21: absent is unknown, never "cancelled".
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

/// What is known of a chain's next renewal: the parts that decide, apart from the rest of its fact.
struct Renewal {
  /// Position in ``Evidence/facts``.
  let fact: Int
  let signedDate: Milliseconds
  /// The product that it speaks of, as a position in ``Evidence/products``; ``otherProduct`` for one
  /// of which no transaction is known; nil where it names none.
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

  /// Whether it speaks of this period (R19): of its product, and not older than it.
  ///
  /// A renewal may be charged before its period begins (R18), and its renewal info is signed with
  /// it. So the info is old only when it was signed before both the period's start and the
  /// signing of its transaction. Where it names the renewal date, that tells: the period's end is
  /// its own in any case, and a date up to the period's start is that of an earlier period, though
  /// it may have been signed later (a renewal paid within grace begins where the one before it
  /// ended).
  func isRelevant(to period: Period) -> Bool { misfit(to: period) == nil }

  /// Why it is not relevant to a period.
  enum Misfit {
    case otherProduct
    /// Its renewal date is not after the period's start.
    case earlierPeriod
    case older
  }

  /// - Returns: nil when it is relevant.
  func misfit(to period: Period) -> Misfit? {
    if let product, product != period.product { return .otherProduct }
    if let renewalDate, renewalDate <= period.start { return .earlierPeriod }
    let isOlder = signedDate < min(period.start, period.signedDate) && renewalDate != period.end
    return isOlder ? .older : nil
  }
}
