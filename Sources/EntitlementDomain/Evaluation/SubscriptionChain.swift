/// One auto-renewable chain: its periods and its renewal info.
final class SubscriptionChain {
  let id: OriginalTransactionID
  /// At least one period, sorted by ``FactTable/isEarlier(_:_:)``.
  let periods: ArraySlice<Period>
  let renewal: Renewal?
  /// The positions of transactions that are another transaction of a period (R6).
  let repeats: [Int]
  /// The earliest known purchase of the chain.
  let firstPurchaseAt: Milliseconds
  /// The positions in ``FactTable/products`` of the periods' products, without duplicates. The index of
  /// the first is 0 only in the first chain; see ``product(_:)``.
  let products: ArraySlice<Int>

  init(
    id: OriginalTransactionID, periods: ArraySlice<Period>, renewal: Renewal?, repeats: [Int],
    products: ArraySlice<Int>
  ) {
    self.id = id
    self.periods = periods
    self.renewal = renewal
    self.repeats = repeats
    self.products = products
    firstPurchaseAt = periods.lazy.map(\.firstPurchaseAt).min() ?? 0
  }

  /// The position in ``FactTable/products`` of a product of the chain, by its number in the chain.
  func product(_ slot: Int) -> Int { products[products.startIndex + slot] }

  /// The time for which Apple retries a failed charge (R20).
  static let billingRetryLength = 60 * Milliseconds.dayLength

  // MARK: Periods

  /// The period that decides the standing of the chain: the period in force that ends last (R18).
  /// If none is in force, the period that gave access last and was not replaced. If none has begun,
  /// the first one.
  func decisivePeriod(in table: FactTable, at now: Milliseconds) -> Period {
    var latest: Period?
    var upcoming: Period?
    // By index: a loop over the slice itself retains it.
    for index in periods.indices.reversed() {
      let period = periods[index]
      if period.accessStart > now {
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

  /// The later periods that were already charged and follow this one without a gap, in order (R18).
  func chargedAhead(of period: Period, at now: Milliseconds) -> [Period] {
    var ahead = periods.filter { $0.isCharged(aheadOf: now) }
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
    var notices = NoticeSet()

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
    if period.accessStart > now { return Outcome(.upcoming, 15) }
    if period.isInForce(at: now) { return outcomeInForce(of: period, at: now) }
    if period.isRevoked(at: now) {
      // What an upgrade took back is not a refund (R17).
      var outcome = period.isUpgraded ? Outcome(.replaced, 17) : Outcome(.revoked, 16)
      if period.isSuccessorMissing { outcome.notices.insert(.successorMissing) }
      if period.isFirstKnownRenewal { outcome.notices.insert(.predecessorMissing) }
      return outcome
    }
    var outcome = outcomeAfterEnd(of: period, leeway: leeway, at: now)
    if period.isSuccessorMissing { outcome.notices.insert(.successorMissing) }
    if !period.hasEnd { outcome.notices.insert(.expiresDateMissing) }
    return outcome
  }

  private func outcomeInForce(of period: Period, at now: Milliseconds) -> Outcome {
    var outcome = Outcome(.active, 15)
    if period.isSuccessorMissing {
      outcome.rule = 17
      outcome.notices.insert(.successorMissing)
    }
    if period.isInForceEarly(at: now) {
      outcome.rule = 60
      outcome.notices.insert(.predecessorMissing)
    }
    return outcome
  }

  /// R19–R21 and R24, in this order: grace, billing retry, overdue, expired.
  private func outcomeAfterEnd(of period: Period, leeway: Int64, at now: Milliseconds) -> Outcome {
    guard let renewal else { return Outcome(.expired, 21, reason: .unknown) }
    guard renewal.speaks(of: period) else {
      // Grace, retry and leeway beside a grace date are of the period that the info speaks of.
      return renewal.continues(to: period)
        ? outcomeOverdue(of: period, leeway: leeway, at: now)
        : Outcome(.expired, 21, reason: .unknown)
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
      outcome.notices.insert(.inferred)
      return outcome
    }
    if renewal.autoRenews == true, renewal.expirationIntent == nil {
      // Apple's own promise of a grace period stands in for the leeway (R64).
      return outcomeOverdue(of: period, leeway: renewal.graceEnd == nil ? leeway : 0, at: now)
    }
    return Outcome(.expired, 21, reason: ExpirationReason(renewal.expirationIntent))
  }

  /// The outcome of a period whose renewal is overdue (R24).
  private func outcomeOverdue(of period: Period, leeway: Int64, at now: Milliseconds) -> Outcome {
    let isWithinLeeway = now < period.end.advanced(by: leeway)
    var outcome = isWithinLeeway ? Outcome(.active, 24) : Outcome(.expired, 24, reason: .unknown)
    outcome.notices.insert(.renewalOverdue)
    return outcome
  }

  /// The outcome of a period that does not decide its chain, because another product followed it.
  func outcomeOfFollowed(_ period: Period, at now: Milliseconds) -> Outcome {
    let isReplaced = period.isReplaced(at: now)
    if period.accessStart > now, !isReplaced { return Outcome(.upcoming, 15) }
    // What an upgrade took back is not a refund (R17).
    if period.isRevoked(at: now), !period.isUpgraded { return Outcome(.revoked, 16) }
    return Outcome(.replaced, isReplaced ? 17 : 18)
  }

  // MARK: Access

  /// The first later moment at which the chain stops conferring each entitlement, as far as the facts
  /// say (R58).
  ///
  /// - Parameters:
  ///   - entitlements: what the period confers, or a part of it.
  ///   - period: the period that decides the chain.
  ///   - outcome: its outcome at `now`.
  /// - Returns: in the order of the entitlements. All are found in one walk through the periods.
  func conferringEnds(
    of entitlements: some Collection<EntitlementID>, by period: Period, _ outcome: Outcome,
    in history: History, at now: Milliseconds
  ) -> [Milliseconds] {
    let leeway = history.renewalLeeway
    if let end = endIfDecidingAlone(period, outcome, leeway: leeway, at: now) {
      return Array(repeating: end, count: entitlements.count)
    }
    var ends = [Milliseconds](repeating: now, count: entitlements.count)
    var conferred = Array(entitlements.enumerated())
    // All products so far confer what is left.
    var products: Set = [period.product]
    var end = accessEnd(of: period, outcome, leeway: leeway)
    var course = ChainCourse(of: self, at: now)
    while true {
      course.advance(to: course.nextStart.map { min(end, $0) } ?? end)
      let period = course.decisivePeriod
      let outcome = self.outcome(of: period, leeway: leeway, at: course.now)
      let isNew = outcome.isActive && products.insert(period.product).inserted
      let still = isNew ? Set(history.table.products[period.product].entitlements) : []
      if isNew || !outcome.isActive {
        conferred.removeAll { entry in
          if still.contains(entry.element) { return false }
          ends[entry.offset] = course.now
          return true
        }
        if conferred.isEmpty { return ends }
      }
      end = accessEnd(of: period, outcome, leeway: leeway)
    }
  }

  /// The end of access if no other period is or comes in force until then, so that this period decides
  /// afterwards too; nil otherwise. Mostly it does.
  func endIfDecidingAlone(
    _ period: Period, _ outcome: Outcome, leeway: Int64, at now: Milliseconds
  ) -> Milliseconds? {
    var end = accessEnd(of: period, outcome, leeway: leeway)
    let decidesAlone =
      period.replacedAt == nil
      && periods.allSatisfy { other in
        other.fact == period.fact || other.accessStart <= now && other.accessEnd < end
      }
    guard decidesAlone else { return nil }
    while true {
      let outcome = self.outcome(of: period, leeway: leeway, at: end)
      guard outcome.isActive else { return end }
      end = accessEnd(of: period, outcome, leeway: leeway)
    }
  }

  /// The end of access by the outcome of a period that gives access, without other periods.
  private func accessEnd(of period: Period, _ outcome: Outcome, leeway: Int64) -> Milliseconds {
    let end: Milliseconds
    if let graceEnd = outcome.graceEnd {
      end = graceEnd
    } else if outcome.rule == 24 {
      end = period.end.advanced(by: leeway)
    } else {
      return period.accessEnd
    }
    // A later revocation that is already known ends grace and leeway too (R16).
    return period.revocationDate.map { min(end, $0) } ?? end
  }

  /// Adds the moments at which a rule may change the outcome (R30).
  func noteBoundaries(leeway: Int64, unit: Int, in boundaries: inout Boundaries) {
    var subject = periods.startIndex
    for index in periods.indices {
      let period = periods[index]
      boundaries.part = Boundaries.Part(unit: unit, item: index)
      boundaries.note(period.start)
      if period.accessStart != period.start { boundaries.note(period.accessStart) }
      boundaries.note(period.end)
      if let replacedAt = period.replacedAt { boundaries.note(replacedAt) }
      if let revocationDate = period.revocationDate { boundaries.note(revocationDate) }
      guard let renewal else { continue }
      let isSubject = renewal.speaks(of: period)
      if isSubject {
        subject = index
        boundaries.note(period.end.advanced(by: Self.billingRetryLength))
      }
      if leeway > 0, isSubject || renewal.continues(to: period) {
        boundaries.note(period.end.advanced(by: leeway))
      }
    }
    if let graceEnd = renewal?.graceEnd {
      boundaries.part = Boundaries.Part(unit: unit, item: subject)
      boundaries.note(graceEnd)
    }
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

/// The notices of an outcome. A set of bits needs no allocation: an evaluation computes many outcomes
/// to find the moments of change, and tells one.
struct NoticeSet: Equatable {
  private var bits: UInt32 = 0

  mutating func insert(_ notice: Notice) { bits |= 1 << UInt32(notice.rawValue) }

  func contains(_ notice: Notice) -> Bool { bits & 1 << UInt32(notice.rawValue) != 0 }

  /// The notices in the order of the raw values.
  var inOrder: [Notice] { bits == 0 ? [] : Notice.allCases.filter(contains) }
}
