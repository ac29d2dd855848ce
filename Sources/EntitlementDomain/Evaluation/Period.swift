/// One period of an auto-renewable chain, as far as it can be told without knowing the moment.
struct Period {
  let transaction: TransactionFact
  /// `expiresDate`; the period's start when Apple gave none, so that it confers nothing.
  let end: Milliseconds
  /// When another product of the chain took its place in the midst of it, as far as its successor
  /// is known (R17).
  let replacedAt: Milliseconds?

  var start: Milliseconds { transaction.purchaseDate }

  var isSuccessorMissing: Bool { transaction.isUpgraded && replacedAt == nil }

  /// The end of the access that this period gives: its own, its revocation's (R16) or its
  /// replacement's (R17), whichever comes first.
  var accessEnd: Milliseconds {
    var earliest = end
    if let revocation = transaction.revocationDate { earliest = min(earliest, revocation) }
    if let replacedAt { earliest = min(earliest, replacedAt) }
    return earliest
  }

  /// R16: a revocation counts from its own moment.
  func isRevoked(at now: Milliseconds) -> Bool {
    transaction.revocationDate.map { $0 <= now } ?? false
  }

  func isReplaced(at now: Milliseconds) -> Bool {
    replacedAt.map { $0 <= now } ?? false
  }

  /// R15.
  func isInForce(at now: Milliseconds) -> Bool {
    start <= now && now < accessEnd
  }

  /// By end, then start, then precedence: the order in which a later period decides (R18). Total,
  /// since no two periods of a chain share a transaction id.
  static func isEarlier(_ left: Period, _ right: Period) -> Bool {
    if left.end != right.end { return left.end < right.end }
    if left.start != right.start { return left.start < right.start }
    if left.transaction.precedence != right.transaction.precedence {
      return left.transaction.precedence < right.transaction.precedence
    }
    return left.transaction.transactionID < right.transaction.transactionID
  }

  /// By the end of the access that they gave, then as ``isEarlier(_:_:)``. A period that was revoked
  /// before it began counts from its start: it is the later news.
  static func gaveAccessEarlier(_ left: Period, _ right: Period) -> Bool {
    let leftEnd = max(left.accessEnd, left.start)
    let rightEnd = max(right.accessEnd, right.start)
    return leftEnd == rightEnd ? isEarlier(left, right) : leftEnd < rightEnd
  }

  /// The periods of one chain, ordered by ``isEarlier(_:_:)``.
  static func periods(of transactions: [TransactionFact]) -> [Period] {
    let standing = withoutRepeatedLineItems(transactions)
    // Most chains have one product, and nothing in them can replace anything.
    let products = Set(standing.map(\.productID))
    let candidates = products.count > 1 ? standing.map(Successor.init) : []
    return standing.map { transaction in
      Period(
        transaction: transaction, end: transaction.expiresDate ?? transaction.purchaseDate,
        replacedAt: successorStart(of: transaction, among: candidates))
    }.sorted(by: isEarlier)
  }

  /// What a transaction is as the successor of another.
  private struct Successor {
    let productID: ProductID
    let start: Milliseconds
    let isPurchase: Bool

    init(_ transaction: TransactionFact) {
      productID = transaction.productID
      start = transaction.purchaseDate
      isPurchase = transaction.transactionReason == "PURCHASE"
    }
  }

  /// R6: two transactions of a chain with the same line item are one period; the one signed later
  /// stands.
  private static func withoutRepeatedLineItems(_ transactions: [TransactionFact])
    -> [TransactionFact]
  {
    var latest: [WebOrderLineItemID: TransactionFact] = [:]
    for transaction in transactions {
      guard let item = transaction.webOrderLineItemID else { continue }
      if let known = latest[item], !isSignedEarlier(known, transaction) { continue }
      latest[item] = transaction
    }
    return transactions.filter { transaction in
      guard let item = transaction.webOrderLineItemID else { return true }
      return latest[item]?.transactionID == transaction.transactionID
    }
  }

  private static func isSignedEarlier(_ left: TransactionFact, _ right: TransactionFact) -> Bool {
    if left.precedence != right.precedence { return left.precedence < right.precedence }
    return left.transactionID < right.transactionID
  }

  /// R17: the first later purchase of another product in the chain replaced an upgraded period.
  ///
  /// The notification of an upgrade carries the new transaction only. Until the old one comes again
  /// with `isUpgraded`, a purchase (not a renewal) of another product in the midst of a period
  /// tells the same: upgrades take effect at once.
  private static func successorStart(
    of transaction: TransactionFact, among candidates: [Successor]
  ) -> Milliseconds? {
    let start = transaction.purchaseDate
    let end = transaction.expiresDate ?? start
    var earliest: Milliseconds?
    for candidate in candidates where candidate.productID != transaction.productID {
      let isSuccessor =
        transaction.isUpgraded
        ? candidate.start >= start && candidate.start <= end
        : candidate.isPurchase && candidate.start > start && candidate.start < end
      if isSuccessor { earliest = min(earliest ?? candidate.start, candidate.start) }
    }
    return earliest
  }
}
