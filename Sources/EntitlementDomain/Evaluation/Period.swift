/// One period of an auto-renewable chain: the numbers that decide, apart from the rest of its
/// transaction.
struct Period {
  /// Position of its transaction in ``Evidence/facts``.
  let fact: Int
  /// Position in ``Evidence/products``, given when it is joined.
  var product = -1
  let start: Milliseconds
  /// `expiresDate`; the period's start when Apple gave none, so that it confers nothing.
  let end: Milliseconds
  let hasEnd: Bool
  let revocationDate: Milliseconds?
  let signedDate: Milliseconds
  let isUpgraded: Bool
  /// The customer acted (`transactionReason` PURCHASE): it is no renewal.
  let isPurchase: Bool
  /// When another product of the chain took its place in the midst of it, as far as its successor
  /// is known (R17).
  var replacedAt: Milliseconds?
  /// A free trial, or an introductory offer of any kind, that this customer used (R29).
  let usesTrial: Bool
  let usesIntroductoryOffer: Bool
  /// The earliest purchase of its chain that it tells of.
  let firstPurchaseAt: Milliseconds

  var isSuccessorMissing: Bool { isUpgraded && replacedAt == nil }

  /// The end of the access that this period gives: its own, its revocation's (R16) or its
  /// replacement's (R17), whichever comes first.
  var accessEnd: Milliseconds {
    var earliest = end
    if let revocationDate { earliest = min(earliest, revocationDate) }
    if let replacedAt { earliest = min(earliest, replacedAt) }
    return earliest
  }

  /// R16: a revocation counts from its own moment.
  func isRevoked(at now: Milliseconds) -> Bool {
    revocationDate.map { $0 <= now } ?? false
  }

  func isReplaced(at now: Milliseconds) -> Bool {
    replacedAt.map { $0 <= now } ?? false
  }

  /// R15.
  func isInForce(at now: Milliseconds) -> Bool {
    start <= now && now < accessEnd
  }
}

extension Evidence {
  /// The order in which a later period decides (R18): by end, then start, then precedence. Total,
  /// since no two periods of a chain share a transaction id.
  func isEarlier(_ left: Period, _ right: Period) -> Bool {
    if left.end != right.end { return left.end < right.end }
    if left.start != right.start { return left.start < right.start }
    return isSignedEarlier(left.fact, right.fact)
  }

  /// By the end of the access that they gave, then as ``isEarlier(_:_:)``. A period that was revoked
  /// before it began counts from its start: it is the later news.
  func gaveAccessEarlier(_ left: Period, _ right: Period) -> Bool {
    let leftEnd = max(left.accessEnd, left.start)
    let rightEnd = max(right.accessEnd, right.start)
    return leftEnd == rightEnd ? isEarlier(left, right) : leftEnd < rightEnd
  }

  /// Of two different transactions, by their positions among the facts.
  func isSignedEarlier(_ left: Int, _ right: Int) -> Bool {
    let (left, right) = (transaction(left), transaction(right))
    if left.precedence != right.precedence { return left.precedence < right.precedence }
    return left.transactionID < right.transactionID
  }
}
