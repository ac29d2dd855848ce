/// All purchases of one product that does not renew: non-renewing, non-consumable, consumable, or
/// of a type that is not known.
struct OneTimePurchases {
  let productID: ProductID
  /// At least one, by purchase date, then transaction id.
  let transactions: [TransactionFact]

  init(productID: ProductID, transactions: [TransactionFact]) {
    self.productID = productID
    self.transactions = transactions.sorted {
      ($0.purchaseDate, $0.transactionID) < ($1.purchaseDate, $1.transactionID)
    }
  }

  /// One purchase and the span in which it confers access.
  struct Window {
    let transaction: TransactionFact
    var start: Milliseconds
    /// Nil when it has no end.
    var end: Milliseconds?
    /// Set where there is no span at all, with what to tell instead.
    var withoutSpan: DetailedStatus?
    var notices: [Notice] = []

    /// R15, R16.
    func isInForce(at now: Milliseconds) -> Bool {
      guard withoutSpan == nil, start <= now else { return false }
      return accessEnd.map { now < $0 } ?? true
    }

    func isRevoked(at now: Milliseconds) -> Bool {
      transaction.revocationDate.map { $0 <= now } ?? false
    }

    var accessEnd: Milliseconds? {
      guard let revocation = transaction.revocationDate else { return end }
      return end.map { min($0, revocation) } ?? revocation
    }

    func status(at now: Milliseconds) -> DetailedStatus {
      if transaction.purchaseDate > now { return .upcoming }
      if isRevoked(at: now) { return .revoked }
      if let withoutSpan { return withoutSpan }
      if isInForce(at: now) { return .active }
      return start > now ? .upcoming : .expired
    }
  }

  /// The span of each purchase (R11–R13), in the order of ``transactions``.
  func windows(in context: EvaluationContext) -> [Window] {
    let product = context.catalog.products[productID]
    var stackEnd: Milliseconds?
    return transactions.map { transaction in
      var window = window(of: transaction, product: product)
      guard let product, product.stacking, let duration = product.duration, window.end != nil
      else { return window }
      // R13: an overlapping purchase begins where the one before it ends.
      if let stackEnd, window.start < stackEnd {
        window.start = stackEnd
        window.end = duration.end(from: stackEnd)
      }
      // A refunded one takes the time up to its refund: what was used before it does not come back
      // out of the purchases after it (R16).
      if let end = window.accessEnd { stackEnd = max(stackEnd ?? end, end) }
      return window
    }
  }

  private func window(of transaction: TransactionFact, product: CatalogProduct?) -> Window {
    var window = Window(transaction: transaction, start: transaction.purchaseDate)
    if product == nil { window.notices.append(.productUnknown) }
    switch transaction.type {
    case .nonConsumable:
      break
    case .nonRenewing:
      window.end = product?.duration?.end(from: transaction.purchaseDate)
      if window.end == nil {
        window.withoutSpan = .undetermined
        window.notices.insert(.durationMissing, at: 0)
      }
    case .consumable:
      window.end = product?.duration?.end(from: transaction.purchaseDate)
      if window.end == nil { window.withoutSpan = .consumed }
    default:
      window.withoutSpan = .undetermined
      window.notices.append(.typeUnknown)
    }
    return window
  }

  /// The best of the purchases (R28), told as one.
  func standing(of windows: [Window], in context: EvaluationContext) -> Standing {
    let standings = windows.map { makeStanding(of: $0, in: context) }
    // A product is listed only when a transaction of it is known, so there is a best one.
    var best = standings[0]
    for standing in standings.dropFirst()
    where StandingRank.isBetter(standing, than: best, level: 0) {
      best = standing
    }
    best.firstPurchaseAt = transactions[0].purchaseDate
    return best
  }

  private func makeStanding(of window: Window, in context: EvaluationContext) -> Standing {
    let transaction = window.transaction
    let status = window.status(at: context.now)
    var standing = Standing(
      coreState: status == .active ? .active : .inactive, status: status, productID: productID,
      productType: transaction.type, transactionID: transaction.transactionID,
      originalTransactionID: transaction.originalTransactionID, periodStart: window.start,
      firstPurchaseAt: transaction.purchaseDate,
      callToAction: status == .expired || status == .revoked ? .winBack : .none)
    standing.periodEnd = window.end
    standing.expirationReason = status == .expired ? .ended : nil
    standing.addDetails(of: transaction, at: context.now)
    standing.notices = window.notices
    return standing
  }

  /// Every purchase that confers now: each is named (R31).
  func sources(of windows: [Window], in context: EvaluationContext) -> [ConferringPurchase] {
    let conferred = context.catalog.products[productID]?.entitlements ?? []
    return windows.filter { $0.isInForce(at: context.now) }.map { window in
      ConferringPurchase(
        transaction: window.transaction, entitlements: conferred, since: window.start
      ) { _ in
        accessEnd(from: window, among: windows)
      }
    }
  }

  /// The end of the run of windows that follow this one without a gap.
  private func accessEnd(from window: Window, among windows: [Window]) -> Milliseconds? {
    var end = window.accessEnd
    for next in windows where next.withoutSpan == nil {
      guard let known = end, next.start <= known else { continue }
      if let nextEnd = next.accessEnd { end = max(known, nextEnd) } else { end = nil }
    }
    return end
  }

  func moments(of windows: [Window]) -> [Milliseconds] {
    windows.flatMap { window in
      [
        window.transaction.purchaseDate, window.start, window.end,
        window.transaction.revocationDate,
      ]
      .compactMap { $0 }
    }
  }
}
