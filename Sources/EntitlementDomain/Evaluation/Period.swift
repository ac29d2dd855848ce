/// One period of an auto-renewable chain: the fields of its transaction that decide its status.
struct Period {
  // Small fields are next to each other: periods are sorted, and a customer may have hundreds.

  /// The position of the transaction in ``FactTable/facts``.
  let fact: Int
  var productNumber: Int32 = -1
  /// The position of the product in ``SubscriptionChain/products``. ``HistoryBuilder`` sets it.
  var productInChain: Int32 = 0
  let start: Milliseconds
  /// `expiresDate`. If Apple gave none, the start of the period, so that it confers nothing.
  let end: Milliseconds
  let signedDate: Milliseconds
  /// The earliest purchase of the chain that the transaction mentions.
  let firstPurchaseAt: Milliseconds
  /// The start of access: that of the period. For a renewal that was charged ahead, its signing, if
  /// the period before it is not known (R60).
  var accessStart: Milliseconds
  let revocationDate: Milliseconds?
  /// The start of the period of another product that replaced this one before its end; nil when there
  /// is none, or when it is not known (R17). A renewal that was charged before the purchase that replaced
  /// it has one before its start (R62).
  var replacedAt: Milliseconds?
  let hasEnd: Bool
  let isUpgraded: Bool
  /// A purchase by the customer and not a renewal (`transactionReason` is PURCHASE).
  let isPurchase: Bool
  /// `transactionReason` is RENEWAL: a period before this one was paid for (R60).
  let isRenewal: Bool
  /// Whether it is a renewal, and no period of the chain that began earlier is known (R60).
  var isFirstKnownRenewal = false
  /// Whether this customer used a free trial, or any introductory offer, in this period (R29).
  let usesTrial: Bool
  let usesIntroductoryOffer: Bool

  /// The position in ``FactTable/products``. ``HistoryBuilder`` sets it.
  var product: Int {
    get { Int(productNumber) }
    set { productNumber = Int32(truncatingIfNeeded: newValue) }
  }

  var isSuccessorMissing: Bool { isUpgraded && replacedAt == nil }

  /// The end of access: the period's end, the revocation (R16) or the replacement (R17), whichever
  /// is earliest.
  var accessEnd: Milliseconds {
    var earliest = end
    if let revocationDate { earliest = min(earliest, revocationDate) }
    if let replacedAt { earliest = min(earliest, replacedAt) }
    return earliest
  }

  /// Whether the period is revoked. A revocation counts from its date (R16).
  func isRevoked(at now: Milliseconds) -> Bool {
    revocationDate.map { $0 <= now } ?? false
  }

  func isReplaced(at now: Milliseconds) -> Bool {
    replacedAt.map { $0 <= now } ?? false
  }

  /// Whether the period was charged and has not begun. One that never will is none (R62).
  func isCharged(aheadOf now: Milliseconds) -> Bool {
    accessStart > now && !isRevoked(at: now) && !isReplacedBeforeStart
  }

  /// Whether another product has the period's place from its start on (R62).
  var isReplacedBeforeStart: Bool { replacedAt.map { $0 <= start } ?? false }

  /// Whether the period gives access (R15).
  func isInForce(at now: Milliseconds) -> Bool {
    accessStart <= now && now < accessEnd
  }

  /// Whether the period gives access before its start, because the period before it is not known
  /// (R60).
  func isInForceEarly(at now: Milliseconds) -> Bool {
    now < start && isInForce(at: now)
  }
}

extension FactTable {
  /// The order of periods by end, then start, then precedence; of the periods in force the last one
  /// decides (R18). The order is total, because no two periods of a chain share a transaction id.
  func isEarlier(_ left: Period, _ right: Period) -> Bool {
    if left.end != right.end { return left.end < right.end }
    if left.start != right.start { return left.start < right.start }
    return isSignedEarlier(left.fact, right.fact)
  }

  /// The order of periods by the end of access, then as ``isEarlier(_:_:)``. For a period that was
  /// revoked before its start, the start counts.
  func gaveAccessEarlier(_ left: Period, _ right: Period) -> Bool {
    let leftEnd = max(left.accessEnd, left.accessStart)
    let rightEnd = max(right.accessEnd, right.accessStart)
    return leftEnd == rightEnd ? isEarlier(left, right) : leftEnd < rightEnd
  }

  /// Whether the second of two transactions of one purchase stands (R6): the one of the higher form; then
  /// one that is revoked, of two the one that was revoked first; then the one with the greater precedence.
  func isOutranked(_ left: Int, by right: Int) -> Bool {
    let (leftForm, rightForm) = (facts[left].authority, facts[right].authority)
    if leftForm != rightForm { return leftForm < rightForm }
    let leftDate = transaction(left).revocationDate ?? Milliseconds(.max)
    let rightDate = transaction(right).revocationDate ?? Milliseconds(.max)
    return leftDate == rightDate ? isSignedEarlier(left, right) : rightDate < leftDate
  }

  /// The same of a product that does not renew: a refund that Apple signed of one id counts in whatever
  /// form, since statements of another id do not tell of it.
  func isOutrankedPurchase(_ left: Int, by right: Int) -> Bool {
    let (leftIsRefunded, rightIsRefunded) = (isSignedAsRevoked(left), isSignedAsRevoked(right))
    return leftIsRefunded == rightIsRefunded ? isOutranked(left, by: right) : rightIsRefunded
  }

  private func isSignedAsRevoked(_ position: Int) -> Bool {
    facts[position].authority.isSigned && transaction(position).revocationDate != nil
  }

  /// Compares the precedence of two transactions, given their positions; ties are decided by the
  /// transaction id.
  func isSignedEarlier(_ left: Int, _ right: Int) -> Bool {
    let (leftPrecedence, rightPrecedence) = (facts[left].precedence, facts[right].precedence)
    if leftPrecedence != rightPrecedence { return leftPrecedence < rightPrecedence }
    return hasLesserID(left, right)
  }
}
