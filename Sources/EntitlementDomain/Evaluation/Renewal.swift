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
