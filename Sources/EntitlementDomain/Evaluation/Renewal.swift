/// The fields of a chain's renewal info that decide the status, and the period of which the renewal
/// info speaks (R56).
struct Renewal {
  /// The position in ``FactTable/facts``.
  let fact: Int
  let signedDate: Milliseconds
  /// The position of the product in ``FactTable/products``; ``otherProduct`` for a product without
  /// a known transaction; nil when the renewal info names none. ``HistoryBuilder`` sets it.
  var product: Int?
  let renewalDate: Milliseconds?
  /// `recentSubscriptionStartDate`.
  let subscriptionStart: Milliseconds?
  let graceEnd: Milliseconds?
  let isRetrying: Bool
  let autoRenews: Bool?
  let expirationIntent: ExpirationIntent?
  /// The period of which the renewal info speaks. Nil when it is not known. ``findSubject(in:)``
  /// sets it.
  private(set) var subject: Subject?
  /// Whether the renewal info speaks of a later subscription, of which no transaction is known.
  private(set) var isOfLaterSubscription = false

  static let otherProduct = -1

  struct Subject {
    /// The position of the transaction in ``FactTable/facts``.
    let fact: Int
    let start: Milliseconds
    /// Auto-renew stays on for the periods that begin after the subject and before this moment;
    /// nil: for all of them (R57).
    let continuesUntil: Milliseconds?
  }

  static func of(_ info: RenewalInfoFact, fact: Int) -> Renewal {
    Renewal(
      fact: fact, signedDate: info.signedDate, renewalDate: info.renewalDate,
      subscriptionStart: info.recentSubscriptionStartDate, graceEnd: info.gracePeriodExpiresDate,
      isRetrying: info.isInBillingRetryPeriod == true, autoRenews: info.autoRenews,
      expirationIntent: info.expirationIntent)
  }

  /// Payloads of one notification are signed one after the other, and the renewal info may be the
  /// first: signing moments that differ less are one moment (R56). In milliseconds.
  static let signingTolerance = 5 * Milliseconds.secondsLength
  /// Apple begins to charge a renewal this long before the period ends (R56). In milliseconds.
  static let chargeLead = Milliseconds.dayLength

  // MARK: The subject

  /// Finds the period of which the renewal info speaks (R56).
  ///
  /// - Parameter periods: the periods of the chain.
  mutating func findSubject(in periods: ArraySlice<Period>) {
    guard let found = spokenOf(in: periods) else { return }
    if let subscriptionStart, subscriptionStart > found.end {
      isOfLaterSubscription = true
      return
    }
    subject = Subject(
      fact: found.fact, start: found.start,
      continuesUntil: autoRenews == true
        ? Self.continuationEnd(of: found, in: periods) : found.start)
  }

  private func spokenOf(in periods: ArraySlice<Period>) -> Period? {
    if let renewalDate {
      return latest(in: periods) { $0.end == renewalDate && $0.start < renewalDate }
        ?? latest(in: periods) { $0.start < renewalDate }
    }
    if isRetrying || graceEnd != nil {
      // Apple tries to charge up to a day ahead. Periods of the Sandbox last minutes.
      return latest(in: periods) { $0.end <= signedDate.advanced(by: $0.chargeLead) }
        ?? latest(in: periods) { $0.start <= signedDate && signedDate < $0.end }
    }
    let known = signedDate.advanced(by: Self.signingTolerance)
    return latest(in: periods) { $0.start <= known || $0.signedDate <= known }
  }

  /// The period that begins last, of those that satisfy the condition and have the product that the
  /// renewal info names. Of periods that begin together, the one that ends last.
  private func latest(in periods: ArraySlice<Period>, where condition: (Period) -> Bool) -> Period?
  {
    var latest: Period?
    for period in periods.reversed() where product == nil || product == period.product {
      if let latest, latest.start >= period.start { continue }
      if condition(period) { latest = period }
    }
    return latest
  }

  /// The start of the first later period for which auto-renew was set anew: one of another product,
  /// or after a lapse, unless it is itself a renewal (R57).
  private static func continuationEnd(
    of subject: Period, in periods: ArraySlice<Period>
  ) -> Milliseconds? {
    guard periods.contains(where: { $0.start > subject.start }) else { return subject.start }
    var later = periods.filter { $0.start > subject.start && !$0.isReplacedBeforeStart }
    later.sort { ($0.start, $0.end) < ($1.start, $1.end) }
    var end = subject.end
    for period in later {
      if period.product != subject.product || period.start > end && !period.isRenewal {
        return period.start
      }
      end = max(end, period.end)
    }
    return nil
  }

  // MARK: The relation to a period

  /// What the renewal info says of a period.
  enum Relation {
    /// It speaks of this period: all of it counts.
    case subject
    /// It speaks of an earlier period, with auto-renew on, and the subscription went on (R57).
    case autoRenew
    /// It says nothing of this period.
    case none(Mismatch)
  }

  /// The reason why a renewal info says nothing of a period.
  enum Mismatch {
    case otherProduct
    case earlierPeriod
    /// Auto-renew was off for an earlier period, and a later one was charged all the same (R57).
    case renewedSince
    case older
    case laterPeriod
    case laterSubscription
  }

  func speaks(of period: Period) -> Bool { subject?.fact == period.fact }

  /// Whether auto-renew, which was on for an earlier period, is still on for this one (R57).
  func continues(to period: Period) -> Bool {
    guard let subject else { return false }
    return subject.start < period.start
      && (subject.continuesUntil.map { period.start < $0 } ?? true)
  }

  func relation(to period: Period) -> Relation {
    if speaks(of: period) { return .subject }
    return continues(to: period) ? .autoRenew : .none(mismatch(with: period))
  }

  private func mismatch(with period: Period) -> Mismatch {
    if let product, product != period.product { return .otherProduct }
    if isOfLaterSubscription { return .laterSubscription }
    if let subject, subject.start >= period.start { return .laterPeriod }
    if subject != nil, autoRenews == false { return .renewedSince }
    if let renewalDate, renewalDate <= period.start { return .earlierPeriod }
    return signedDate < min(period.start, period.signedDate) ? .older : .earlierPeriod
  }
}

extension Period {
  /// How long before the end of a period of this length Apple may begin to charge the next one, in
  /// milliseconds (R56, R62).
  var chargeLead: Int64 {
    let (length, overflow) = end.rawValue.subtractingReportingOverflow(start.rawValue)
    return overflow ? Renewal.chargeLead : min(Renewal.chargeLead, max(0, length / 2))
  }
}
