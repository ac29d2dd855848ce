/// All purchases of one product that does not renew: non-renewing, non-consumable, consumable, or
/// of a type that is not known.
struct OneTimePurchases {
  /// Position in ``Evidence/products``.
  let product: Int
  /// At least one, by purchase date, then transaction id.
  let windows: [Window]

  /// One purchase and the span in which it confers access (R11–R13): numbers only, as a customer
  /// may have hundreds.
  struct Window {
    /// Position of its transaction in ``Evidence/facts``.
    let fact: Int
    let kind: OneTimeKind
    let purchaseDate: Milliseconds
    let revocationDate: Milliseconds?
    var start: Milliseconds
    /// Nil when it has no end.
    var end: Milliseconds?
    /// Set where there is no span at all, with what to tell instead.
    var withoutSpan: DetailedStatus?
    /// The rule that gave the span, or none.
    var rule: Rule

    /// R15, R16.
    func isInForce(at now: Milliseconds) -> Bool {
      guard withoutSpan == nil, start <= now else { return false }
      return accessEnd.map { now < $0 } ?? true
    }

    func isRevoked(at now: Milliseconds) -> Bool {
      revocationDate.map { $0 <= now } ?? false
    }

    var accessEnd: Milliseconds? {
      guard let revocationDate else { return end }
      return end.map { min($0, revocationDate) } ?? revocationDate
    }

    /// How it stands, and the rule that says so.
    func outcome(at now: Milliseconds) -> (status: DetailedStatus, rule: Rule) {
      if purchaseDate > now { return (.upcoming, 15) }
      if isRevoked(at: now) { return (.revoked, 16) }
      if let withoutSpan { return (withoutSpan, rule) }
      if isInForce(at: now) { return (.active, rule) }
      return start > now ? (.upcoming, 13) : (.expired, rule)
    }
  }

  /// What a window is made of.
  struct Purchase {
    let product: Int
    let fact: Int
    let kind: OneTimeKind
    let date: Milliseconds
    let revocationDate: Milliseconds?
  }

  /// - Parameter purchases: in any order.
  init(product: Int, purchases: [Purchase], in evidence: Evidence) {
    self.product = product
    let inCatalog = evidence.products[product].inCatalog
    let duration = inCatalog?.duration
    var windows = purchases.map { Window($0, duration: duration) }
    windows.sort { left, right in
      left.purchaseDate == right.purchaseDate
        ? evidence.transaction(left.fact).transactionID
          < evidence.transaction(right.fact).transactionID
        : left.purchaseDate < right.purchaseDate
    }
    if let duration, inCatalog?.stacking == true {
      Self.stack(&windows, duration: duration)
    }
    self.windows = windows
  }

  /// R13: an overlapping purchase begins where the one before it ends.
  private static func stack(_ windows: inout [Window], duration: CalendarDuration) {
    var stackEnd: Milliseconds?
    for index in windows.indices where windows[index].end != nil {
      if let stackEnd, windows[index].start < stackEnd {
        windows[index].start = stackEnd
        windows[index].end = duration.end(from: stackEnd)
        windows[index].rule = 13
      }
      // A refunded one takes the time up to its refund: what was used before it does not come back
      // out of the purchases after it (R16).
      if let end = windows[index].accessEnd { stackEnd = max(stackEnd ?? end, end) }
    }
  }

  /// The best of the purchases (R28), told as one.
  func standing(in evidence: Evidence, at now: Milliseconds) -> Standing {
    var standing = makeStanding(of: bestWindow(in: evidence, at: now), in: evidence, at: now)
    standing.firstPurchaseAt = windows[0].purchaseDate
    return standing
  }

  /// R28: ties by the latest end, then the greatest transaction id.
  func bestWindow(in evidence: Evidence, at now: Milliseconds) -> Window {
    var best = windows[0]
    var bestRank = StandingRank.rank(of: best.outcome(at: now).status)
    for window in windows.dropFirst() {
      let rank = StandingRank.rank(of: window.outcome(at: now).status)
      if rank > bestRank { continue }
      if rank < bestRank || evidence.isLater(window, than: best) {
        best = window
        bestRank = rank
      }
    }
    return best
  }

  private func makeStanding(
    of window: Window, in evidence: Evidence, at now: Milliseconds
  ) -> Standing {
    let transaction = evidence.transaction(window.fact)
    let status = window.outcome(at: now).status
    var standing = Standing(
      coreState: status == .active ? .active : .inactive, status: status,
      productID: transaction.productID, productType: window.kind.type ?? transaction.type,
      transactionID: transaction.transactionID,
      originalTransactionID: transaction.originalTransactionID, periodStart: window.start,
      firstPurchaseAt: transaction.purchaseDate,
      callToAction: status == .expired || status == .revoked ? .winBack : .none)
    standing.periodEnd = window.end
    standing.expirationReason = status == .expired ? .ended : nil
    standing.addDetails(of: transaction, at: now)
    standing.notices = notices(of: window, in: evidence)
    return standing
  }

  /// In the order of the raw values.
  private func notices(of window: Window, in evidence: Evidence) -> [Notice] {
    var notices: [Notice] = []
    if window.kind == .nonRenewing, window.end == nil { notices.append(.durationMissing) }
    if evidence.products[product].inCatalog == nil { notices.append(.productUnknown) }
    if window.kind == .unknown { notices.append(.typeUnknown) }
    return notices
  }

  /// The end of what a purchase confers: its own, or that of the run of purchases which extend it
  /// (R13).
  func accessEnd(from window: Window) -> Milliseconds? {
    var end = window.accessEnd
    for next in windows where next.rule == 13 {
      guard let known = end else { return nil }
      guard next.start <= known else { continue }
      end = next.accessEnd.map { max(known, $0) }
    }
    return end
  }

  func noteMoments(in moments: inout TransitionMoments) {
    for window in windows {
      moments.note(window.purchaseDate)
      moments.note(window.start)
      if let end = window.end { moments.note(end) }
      if let revocationDate = window.revocationDate { moments.note(revocationDate) }
    }
  }
}

extension Evidence {
  fileprivate func isLater(
    _ left: OneTimePurchases.Window, than right: OneTimePurchases.Window
  ) -> Bool {
    let (leftEnd, rightEnd) = (left.end ?? Milliseconds(.max), right.end ?? Milliseconds(.max))
    if leftEnd != rightEnd { return leftEnd > rightEnd }
    return transaction(left.fact).transactionID > transaction(right.fact).transactionID
  }
}

extension OneTimePurchases.Window {
  /// - Parameter duration: the catalog's, for the product.
  fileprivate init(_ purchase: OneTimePurchases.Purchase, duration: CalendarDuration?) {
    self.init(
      fact: purchase.fact, kind: purchase.kind, purchaseDate: purchase.date,
      revocationDate: purchase.revocationDate, start: purchase.date, rule: 11)
    switch purchase.kind {
    case .nonConsumable:
      break
    case .nonRenewing:
      end = duration?.end(from: purchase.date)
      if end == nil {
        withoutSpan = .undetermined
        rule = 12
      }
    case .consumable:
      end = duration?.end(from: purchase.date)
      if end == nil { withoutSpan = .consumed }
    case .unknown:
      withoutSpan = .undetermined
      rule = 10
    }
  }
}

/// What a purchase is that does not renew by itself.
enum OneTimeKind {
  case nonRenewing
  case nonConsumable
  case consumable
  /// A type that is not known yet (R10), or none.
  case unknown

  /// - Returns: nil for an auto-renewable subscription.
  init?(_ type: ProductType) {
    switch type {
    case .autoRenewable: return nil
    case .nonRenewing: self = .nonRenewing
    case .nonConsumable: self = .nonConsumable
    case .consumable: self = .consumable
    default: self = .unknown
    }
  }

  /// Nil where the transaction alone can say.
  var type: ProductType? {
    switch self {
    case .nonRenewing: .nonRenewing
    case .nonConsumable: .nonConsumable
    case .consumable: .consumable
    case .unknown: nil
    }
  }
}
