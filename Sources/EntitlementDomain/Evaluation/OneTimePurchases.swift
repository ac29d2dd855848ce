/// All purchases of one product that does not renew: non-renewing, non-consumable, consumable, or
/// of an unknown type.
struct OneTimePurchases {
  /// The position in ``FactTable/products``.
  let product: Int
  /// At least one window, sorted by purchase date, then transaction id.
  let windows: [Window]
  /// The positions of transactions that are another transaction of a purchase (R6).
  let repeats: [Int]
  /// Whether purchases with an end follow each other (R13).
  let isStacking: Bool

  /// One purchase and the span in which it confers access (R11–R13). It has no strings, because a
  /// customer may have hundreds of purchases.
  struct Window {
    /// The position of the transaction in ``FactTable/facts``.
    let fact: Int
    let kind: OneTimeKind
    /// When the product was bought: `originalPurchaseDate`, if that is earlier than `purchaseDate`.
    let boughtAt: Milliseconds
    var purchaseDate: Milliseconds
    let revocationDate: Milliseconds?
    var start: Milliseconds
    /// Nil when the purchase has no end.
    var end: Milliseconds?
    /// The status of a purchase that never confers access; nil for all others.
    var statusWithoutSpan: DetailedStatus?
    /// The rule that determined the span, or that there is none.
    var rule: Rule

    /// Whether the purchase confers access (R15, R16).
    func isInForce(at now: Milliseconds) -> Bool {
      guard statusWithoutSpan == nil, start <= now else { return false }
      return accessEnd.map { now < $0 } ?? true
    }

    func isRevoked(at now: Milliseconds) -> Bool {
      revocationDate.map { $0 <= now } ?? false
    }

    /// The end of access: the end or the revocation, whichever is earlier; nil when it has none.
    var accessEnd: Milliseconds? {
      guard let revocationDate else { return end }
      return end.map { min($0, revocationDate) } ?? revocationDate
    }

    /// The status of the purchase, and the rule that decides it.
    func outcome(at now: Milliseconds) -> (status: DetailedStatus, rule: Rule) {
      if purchaseDate > now { return (.upcoming, 15) }
      if isRevoked(at: now) { return (.revoked, 16) }
      if let statusWithoutSpan { return (statusWithoutSpan, rule) }
      if isInForce(at: now) { return (.active, rule) }
      return start > now ? (.upcoming, 13) : (.expired, rule)
    }
  }

  /// - Parameters:
  ///   - windows: in any order.
  ///   - mayRepeat: whether two transactions may be of one purchase.
  init(product: Int, windows: consuming [Window], mayRepeat: Bool, in table: FactTable) {
    self.product = product
    let duration = table.products[product].duration
    repeats = mayRepeat ? Self.merge(&windows, duration: duration, in: table) : []
    windows.sort { left, right in
      left.purchaseDate == right.purchaseDate
        ? table.hasLesserID(left.fact, right.fact) : left.purchaseDate < right.purchaseDate
    }
    isStacking = duration != nil && table.products[product].isStacking
    if let duration, isStacking { Self.stack(&windows, duration: duration) }
    self.windows = windows
  }

  /// Merges the transactions of one purchase: those with the same original id and moment (R6).
  ///
  /// - Returns: the positions of the transactions that are set aside.
  private static func merge(
    _ windows: inout [Window], duration: CalendarDuration?, in table: FactTable
  ) -> [Int] {
    var numbers = IdentifierInterner<ChainKind>()
    var purchases: [Window] = []
    var repeats: [Int] = []
    for window in windows {
      let number = numbers.number(
        of: table.transaction(window.fact).originalTransactionID,
        qualifier: Int(truncatingIfNeeded: window.boughtAt.rawValue))
      if number == purchases.count {
        purchases.append(window)
        continue
      }
      let known = purchases[number]
      let isReplaced = table.isOutrankedPurchase(known.fact, by: window.fact)
      repeats.append(isReplaced ? known.fact : window.fact)
      purchases[number] = (isReplaced ? window : known)
        .moved(to: min(known.purchaseDate, window.purchaseDate), duration: duration)
    }
    windows = purchases
    return repeats
  }

  /// Moves the start of each overlapping purchase to the end of the one before it (R13).
  private static func stack(_ windows: inout [Window], duration: CalendarDuration) {
    var stackEnd: Milliseconds?
    for index in windows.indices where windows[index].end != nil {
      if let stackEnd, windows[index].start < stackEnd {
        windows[index].start = stackEnd
        windows[index].end = duration.end(from: stackEnd)
        windows[index].rule = 13
      }
      // A refunded purchase occupies the time until its refund; later purchases follow it (R66).
      if let end = windows[index].accessEnd { stackEnd = max(stackEnd ?? end, end) }
    }
  }

  /// The purchase with the best status (R28). Ties are decided by the latest end, then by the
  /// greatest transaction id.
  func bestWindow(in table: FactTable, at now: Milliseconds) -> Window {
    var best = windows[0]
    var bestRank = StandingRank.rank(of: best.outcome(at: now).status)
    for window in windows.dropFirst() {
      let rank = StandingRank.rank(of: window.outcome(at: now).status)
      if rank > bestRank { continue }
      if rank < bestRank || table.isLater(window, than: best) {
        best = window
        bestRank = rank
      }
    }
    return best
  }

  /// - Parameter firstPurchaseAt: the earliest purchase of the product.
  func standing(
    of window: Window, firstPurchaseAt: Milliseconds, in table: FactTable, at now: Milliseconds
  ) -> Standing {
    let status = window.outcome(at: now).status
    let isOver = status == .expired || status == .revoked
    // There is nothing to win back of a consumable that never conferred anything.
    let callsBack = isOver && window.statusWithoutSpan != .consumed
    return Standing.of(
      table.facts[window.fact], status, isActive: status == .active, type: window.kind.type,
      start: window.start, end: window.end, reason: status == .expired ? .ended : nil,
      Standing.Outlook(callToAction: callsBack ? .winBack : .none),
      firstPurchaseAt: firstPurchaseAt,
      notices: notices(of: window, in: table), at: now)
  }

  /// The notices in the order of the raw values.
  private func notices(of window: Window, in table: FactTable) -> [Notice] {
    var notices: [Notice] = []
    if window.kind == .nonRenewing, window.end == nil { notices.append(.durationMissing) }
    if !table.products[product].isInCatalog { notices.append(.productUnknown) }
    if window.kind == .unknown { notices.append(.typeUnknown) }
    return notices
  }

  /// The end of access from a purchase, with the purchases of the same stack that follow it without
  /// a gap (R58). Nil when it has no end.
  func accessEnd(from window: Window) -> Milliseconds? {
    guard isStacking, window.end != nil, var end = window.accessEnd else { return window.accessEnd }
    // Stacked windows are sorted by start.
    for next in windows where next.end != nil && next.start <= end {
      if let nextEnd = next.accessEnd { end = max(end, nextEnd) }
    }
    return end
  }

  /// Adds the moments at which a window may change its status (R30).
  func noteBoundaries(unit: Int, in boundaries: inout Boundaries) {
    for (index, window) in windows.enumerated() {
      boundaries.part = Boundaries.Part(unit: unit, item: index)
      boundaries.note(window.purchaseDate)
      boundaries.note(window.start)
      if let end = window.end { boundaries.note(end) }
      if let revocationDate = window.revocationDate { boundaries.note(revocationDate) }
    }
  }
}

extension FactTable {
  fileprivate func isLater(
    _ left: OneTimePurchases.Window, than right: OneTimePurchases.Window
  ) -> Bool {
    let (leftEnd, rightEnd) = (left.end ?? Milliseconds(.max), right.end ?? Milliseconds(.max))
    if leftEnd != rightEnd { return leftEnd > rightEnd }
    return hasLesserID(right.fact, left.fact)
  }
}

extension OneTimePurchases.Window {
  /// - Parameters:
  ///   - period: the dates of the purchase.
  ///   - duration: the product's duration in the catalog.
  init(of period: Period, kind: OneTimeKind, duration: CalendarDuration?) {
    self.init(
      fact: period.fact, kind: kind, boughtAt: period.firstPurchaseAt, purchaseDate: period.start,
      revocationDate: period.revocationDate, start: period.start, rule: 11)
    setSpan(duration)
  }

  /// The same purchase, with another purchase date.
  fileprivate func moved(to date: Milliseconds, duration: CalendarDuration?) -> Self {
    var window = self
    window.purchaseDate = date
    window.start = date
    window.setSpan(duration)
    return window
  }

  private mutating func setSpan(_ duration: CalendarDuration?) {
    switch kind {
    case .nonConsumable:
      break
    case .nonRenewing:
      end = duration?.end(from: purchaseDate)
      if end == nil {
        statusWithoutSpan = .undetermined
        rule = 12
      }
    case .consumable:
      end = duration?.end(from: purchaseDate)
      if end == nil { statusWithoutSpan = .consumed }
    case .unknown:
      statusWithoutSpan = .undetermined
      rule = 10
    }
  }
}

/// The kind of a purchase that does not renew.
enum OneTimeKind {
  case nonRenewing
  case nonConsumable
  case consumable
  /// An unknown type (R10), or none.
  case unknown

  /// Declared to read only, as ``IdentifierBytes``.
  ///
  /// - Returns: nil for an auto-renewable subscription.
  @inline(never)
  @_effects(readonly)
  static func of(_ type: ProductType) -> OneTimeKind? {
    // Only with the text of the same length. Literals are compared faster than the constants of the
    // type.
    let text = type.rawValue
    return switch text.utf8.count {
    case 27 where text == "Auto-Renewable Subscription": nil
    case 25 where text == "Non-Renewing Subscription": .nonRenewing
    case 14 where text == "Non-Consumable": .nonConsumable
    case 10 where text == "Consumable": .consumable
    default: .unknown
    }
  }

  /// Apple's type; nil for an unknown one, of which the transaction has the raw value.
  var type: ProductType? {
    switch self {
    case .nonRenewing: .nonRenewing
    case .nonConsumable: .nonConsumable
    case .consumable: .consumable
    case .unknown: nil
    }
  }
}
