import EntitlementDomain

/// The standing of one chain by the words of rules.md, without regard to cost. It shares no code with
/// the engine beyond the facts and their precedence (R5).
struct SubscriptionModel {
  /// The standing transactions of the chain, one of each line item.
  let periods: [TransactionFact]
  let info: RenewalInfoFact?
  let catalog: Catalog
  let now: Milliseconds
  /// R62: what replaced a period before it began.
  private var replacedAhead: [TransactionID: TransactionFact] = [:]

  init(
    periods: [TransactionFact], info: RenewalInfoFact?, catalog: Catalog, now: Milliseconds
  ) {
    self.periods = periods
    self.info = info
    self.catalog = catalog
    self.now = now
    for period in periods.sorted(by: isChargedBefore) {
      replacedAhead[period.transactionID] = replacement(ofCharge: period)
    }
  }

  struct Answer: Equatable {
    var transactionID: TransactionID
    var status: DetailedStatus
    var reason: ExpirationReason?
    var graceEnd: Milliseconds?
    var willRenew: Bool?
    var notices: Set<Notice> = []
  }

  // MARK: Periods

  private func end(_ period: TransactionFact) -> Milliseconds {
    period.expiresDate ?? period.purchaseDate
  }

  /// R63: the order of periods in force.
  private func isLess(_ left: TransactionFact, _ right: TransactionFact) -> Bool {
    if end(left) != end(right) { return end(left) < end(right) }
    if left.purchaseDate != right.purchaseDate { return left.purchaseDate < right.purchaseDate }
    if left.precedence != right.precedence { return left.precedence < right.precedence }
    return left.transactionID < right.transactionID
  }

  private func others(than period: TransactionFact) -> [TransactionFact] {
    periods.filter { $0.transactionID != period.transactionID }
  }

  /// R60.
  private func isPredecessorMissing(_ period: TransactionFact) -> Bool {
    period.transactionReason == "RENEWAL"
      && !others(than: period).contains {
        $0.purchaseDate < period.purchaseDate && end($0) >= period.purchaseDate
      }
  }

  /// R15, R60.
  private func accessStart(_ period: TransactionFact) -> Milliseconds {
    isPredecessorMissing(period)
      ? min(period.purchaseDate, period.signedDate) : period.purchaseDate
  }

  /// R62: whether the customer did not buy the period.
  private func isRenewal(_ period: TransactionFact) -> Bool {
    switch period.transactionReason {
    case "RENEWAL": true
    case "PURCHASE": false
    default:
      others(than: period).contains {
        $0.purchaseDate < period.purchaseDate && end($0) == period.purchaseDate
      }
    }
  }

  /// R62: the order by start. A renewal that begins together with a purchase was charged before it, and
  /// is judged after it.
  private func isChargedBefore(_ left: TransactionFact, _ right: TransactionFact) -> Bool {
    if left.purchaseDate != right.purchaseDate { return left.purchaseDate < right.purchaseDate }
    if isRenewal(left) != isRenewal(right) { return isRenewal(right) }
    return isLess(left, right)
  }

  /// R62: what took the place of a period before it began. All that are before it are judged.
  private func replacement(ofCharge period: TransactionFact) -> TransactionFact? {
    if period.transactionReason == "PURCHASE" { return nil }
    let earlier = periods.filter {
      isChargedBefore($0, period) && replacedAhead[$0.transactionID] == nil
    }
    let lastBegun = periods.filter {
      $0.productID == info?.productID && $0.purchaseDate <= info?.signedDate ?? 0
    }.map(\.purchaseDate).max()
    if let info, let named = info.productID, period.purchaseDate <= info.signedDate,
      info.signedDate < end(period), let lastBegun, lastBegun <= period.purchaseDate
    {
      if named == period.productID { return nil }
      let present = earlier.filter {
        $0.productID == named && end($0) > period.purchaseDate
      }
      if info.signedDate > period.purchaseDate.advanced(by: 5_000),
        let last = present.max(by: { left, right in
          end(left) == end(right) ? isChargedBefore(left, right) : end(left) < end(right)
        })
      {
        return last
      }
    }
    guard isRenewal(period),
      let bought = earlier.filter({ !isRenewal($0) }).max(by: isChargedBefore),
      bought.productID != period.productID, end(bought) > period.purchaseDate
    else { return nil }
    let (length, isEndless) = end(period).rawValue.subtractingReportingOverflow(
      period.purchaseDate.rawValue)
    let lead = isEndless ? Milliseconds.dayLength : min(Milliseconds.dayLength, max(0, length / 2))
    let hasSuccessor = others(than: period).contains {
      $0.productID != period.productID && period.purchaseDate < $0.purchaseDate
        && $0.purchaseDate <= end(period)
    }
    let isAhead =
      period.purchaseDate <= bought.purchaseDate.advanced(by: lead)
      || period.isUpgraded && !hasSuccessor
    return isAhead ? bought : nil
  }

  /// R17, R62: the start of the period that replaced this one.
  private func replacedAt(_ period: TransactionFact) -> Milliseconds? {
    if let replacement = replacedAhead[period.transactionID] { return replacement.purchaseDate }
    return others(than: period).filter { next in
      if next.productID == period.productID || replacedAhead[next.transactionID] != nil {
        return false
      }
      if period.purchaseDate < next.purchaseDate, next.purchaseDate < end(period) { return true }
      guard period.isUpgraded, period.purchaseDate <= next.purchaseDate,
        next.purchaseDate <= end(period)
      else { return false }
      // Of two upgraded periods that begin together, one stays.
      return !(next.purchaseDate == period.purchaseDate && next.isUpgraded && isLess(next, period))
    }.map(\.purchaseDate).min()
  }

  private func isReplacedBeforeStart(_ period: TransactionFact) -> Bool {
    replacedAt(period).map { $0 <= period.purchaseDate } ?? false
  }

  /// R15–R17.
  private func accessEnd(_ period: TransactionFact) -> Milliseconds {
    [end(period), period.revocationDate, replacedAt(period)].compactMap { $0 }.min()!
  }

  private func isRevoked(_ period: TransactionFact) -> Bool {
    period.revocationDate.map { $0 <= now } ?? false
  }

  private func isInForce(_ period: TransactionFact) -> Bool {
    accessStart(period) <= now && now < accessEnd(period)
  }

  /// R18.
  private var deciding: TransactionFact {
    if let latest = periods.filter(isInForce).max(by: isLess) { return latest }
    let begun = periods.filter { period in
      accessStart(period) <= now && !(replacedAt(period).map { $0 <= now } ?? false)
    }
    if let latest = begun.max(by: { left, right in
      let (leftEnd, rightEnd) = (
        max(accessEnd(left), accessStart(left)), max(accessEnd(right), accessStart(right))
      )
      return leftEnd == rightEnd ? isLess(left, right) : leftEnd < rightEnd
    }) {
      return latest
    }
    let upcoming = periods.filter { accessStart($0) > now }
    return
      (upcoming.isEmpty ? periods : upcoming).min { left, right in
        if left.purchaseDate != right.purchaseDate { return left.purchaseDate < right.purchaseDate }
        return isLess(left, right)
      }!
  }

  // MARK: Renewal info

  /// R56.
  private var subject: TransactionFact? {
    guard let info else { return nil }
    let named = periods.filter { info.productID == nil || $0.productID == info.productID }
    func last(_ periods: [TransactionFact]) -> TransactionFact? {
      periods.max {
        $0.purchaseDate == $1.purchaseDate
          ? isLess($0, $1) : $0.purchaseDate < $1.purchaseDate
      }
    }
    let found: TransactionFact?
    if let date = info.renewalDate {
      let begun = named.filter { $0.purchaseDate < date }
      found = last(begun.filter { end($0) == date }) ?? last(begun)
    } else if info.isInBillingRetryPeriod == true || info.gracePeriodExpiresDate != nil {
      let ended = named.filter { period in
        if end(period) <= info.signedDate { return true }
        let (left, overflow) = end(period).rawValue.subtractingReportingOverflow(
          info.signedDate.rawValue)
        let (length, isEndless) = end(period).rawValue.subtractingReportingOverflow(
          period.purchaseDate.rawValue)
        if overflow || left > Milliseconds.dayLength { return false }
        return isEndless || left <= length / 2
      }
      found =
        last(ended)
        ?? last(named.filter { $0.purchaseDate <= info.signedDate && info.signedDate < end($0) })
    } else {
      let known = info.signedDate.advanced(by: 5_000)
      found = last(named.filter { $0.purchaseDate <= known || $0.signedDate <= known })
    }
    guard let found else { return nil }
    return info.recentSubscriptionStartDate.map { $0 > end(found) } ?? false ? nil : found
  }

  /// R57: whether auto-renew of an earlier period is still on.
  private func staysOn(for period: TransactionFact) -> Bool {
    guard info?.autoRenews == true, let subject, subject.purchaseDate < period.purchaseDate else {
      return false
    }
    let between = periods.filter {
      subject.purchaseDate < $0.purchaseDate && $0.purchaseDate <= period.purchaseDate
        && !isReplacedBeforeStart($0)
    }
    if between.contains(where: { $0.productID != subject.productID }) { return false }
    return between.allSatisfy { next in
      let isReached = periods.contains {
        subject.purchaseDate <= $0.purchaseDate && isBefore($0, next)
          && ($0.transactionID == subject.transactionID || between.contains($0))
          && end($0) >= next.purchaseDate
      }
      return isReached || next.transactionReason == "RENEWAL"
    }
  }

  /// The order by start, then end.
  private func isBefore(_ left: TransactionFact, _ right: TransactionFact) -> Bool {
    if left.purchaseDate != right.purchaseDate { return left.purchaseDate < right.purchaseDate }
    return isLess(left, right)
  }

  // MARK: The answer

  var answer: Answer {
    let period = deciding
    var answer = Answer(transactionID: period.transactionID, status: .upcoming)
    if catalog.products[period.productID] == nil { answer.notices.insert(.productUnknown) }
    decide(period, &answer)
    let latest = self.latest(after: period, answer)
    let isRenewing =
      [.active, .grace, .billingRetry, .upcoming].contains(answer.status)
      || answer.notices.contains(.renewalOverdue)
    if subject?.transactionID == latest.transactionID {
      answer.willRenew = info?.autoRenews.map { $0 && isRenewing }
    } else if staysOn(for: latest), isRenewing {
      answer.willRenew = true
    }
    return answer
  }

  private func decide(_ period: TransactionFact, _ answer: inout Answer) {
    if accessStart(period) > now { return }
    let isSuccessorMissing = period.isUpgraded && replacedAt(period) == nil
    if isInForce(period) {
      answer.status = .active
      if isSuccessorMissing { answer.notices.insert(.successorMissing) }
      if now < period.purchaseDate { answer.notices.insert(.predecessorMissing) }
      return
    }
    if isRevoked(period) {
      answer.status = period.isUpgraded ? .replaced : .revoked
      if isSuccessorMissing { answer.notices.insert(.successorMissing) }
      let isFirst = !periods.contains { $0.purchaseDate < period.purchaseDate }
      if isFirst, period.transactionReason == "RENEWAL" {
        answer.notices.insert(.predecessorMissing)
      }
      return
    }
    if isSuccessorMissing { answer.notices.insert(.successorMissing) }
    if period.expiresDate == nil { answer.notices.insert(.expiresDateMissing) }
    decideEnded(period, &answer)
  }

  /// R19–R21, R24, R64, R65.
  private func decideEnded(_ period: TransactionFact, _ answer: inout Answer) {
    answer.status = .expired
    answer.reason = .unknown
    guard let info else { return }
    guard subject?.transactionID == period.transactionID else {
      if staysOn(for: period) { decideOverdue(period, leeway: catalog.renewalLeeway, &answer) }
      return
    }
    let grace = info.gracePeriodExpiresDate
    if let grace, grace > end(period), now < grace {
      answer.status = .grace
      answer.reason = nil
      answer.graceEnd = grace
    } else if info.isInBillingRetryPeriod == true, grace.map({ $0 > end(period) }) ?? true {
      if now < end(period).advanced(by: 60 * Milliseconds.dayLength) {
        answer.status = .billingRetry
        answer.reason = nil
      } else {
        answer.reason = .billingError
        answer.notices.insert(.inferred)
      }
    } else if info.autoRenews == true, info.expirationIntent == nil {
      decideOverdue(period, leeway: grace == nil ? catalog.renewalLeeway : 0, &answer)
    } else {
      switch info.expirationIntent?.rawValue {
      case nil: answer.reason = .unknown
      case 1: answer.reason = .customerCancelled
      case 2: answer.reason = .billingError
      case 3: answer.reason = .priceIncreaseDeclined
      case 4: answer.reason = .productUnavailable
      default: answer.reason = .other
      }
    }
  }

  private func decideOverdue(
    _ period: TransactionFact, leeway: Int64, _ answer: inout Answer
  ) {
    answer.notices.insert(.renewalOverdue)
    if now < end(period).advanced(by: leeway) {
      answer.status = .active
      answer.reason = nil
    }
  }

  /// R18, R23: the latest charge that follows the period in force without a gap.
  private func latest(after period: TransactionFact, _ answer: Answer) -> TransactionFact {
    guard answer.status == .active else { return period }
    var latest = period
    let ahead = periods.filter {
      accessStart($0) > now && !isRevoked($0) && !isReplacedBeforeStart($0)
    }
    for next in ahead.sorted(by: isBefore)
    where next.purchaseDate <= end(latest) && end(next) > end(latest) {
      latest = next
    }
    return latest
  }

  // MARK: The group

  /// R59.
  var groupID: SubscriptionGroupID? {
    let period = deciding
    let latestFirst = periods.sorted { isLess($1, $0) }
    return period.subscriptionGroupID ?? catalog.products[period.productID]?.group
      ?? latestFirst.lazy.compactMap(\.subscriptionGroupID).first
      ?? latestFirst.lazy.compactMap { catalog.products[$0.productID]?.group }.first
  }
}
