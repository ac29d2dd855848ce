/// Finds the periods of a chain that another product replaced, and when (R17, R62).
///
/// All products of a chain belong to one group. The current product is the one that was bought last.
/// So a period is replaced where one of another product begins inside it. The exception is a renewal that
/// was charged before the other product was bought: it is itself replaced before it begins.
struct Replacements {
  /// The periods that were not replaced before they began, sorted by start. Periods with the same start
  /// keep the order of their ends (R18).
  private let standing: PeriodsByStart
  private let notUpgraded: PeriodsByStart

  /// - Parameters:
  ///   - chain: the positions of the periods of one chain, which has several products.
  ///   - renewal: the renewal info of the chain.
  static func mark(_ periods: inout [Period], in chain: Range<Int>, renewal: Renewal?) {
    let sorted = chain.sorted { left, right in
      let (leftStart, rightStart) = (periods[left].start, periods[right].start)
      return leftStart == rightStart ? left < right : leftStart < rightStart
    }
    let overlap = overlap(periods, sorted)
    if overlap == .none { return }
    var standing = sorted
    if overlap == .ofRenewals {
      ReplacedRenewals.mark(&periods, in: chain, sorted, renewal: renewal)
      standing.removeAll { periods[$0].replacedAt != nil }
    }
    let replacements = Replacements(standing, of: periods)
    for (rank, index) in standing.enumerated() {
      periods[index].replacedAt = replacements.start(
        ofSuccessorOf: periods[index], rank: rank, in: periods)
    }
  }

  private enum Overlap {
    /// No period was upgraded, or begins before all earlier ones have ended. Most chains were only
    /// renewed, even if as another product.
    case none
    /// Only what Apple calls a purchase begins before all earlier ones have ended.
    case ofPurchases
    /// Something else does, or several periods begin together.
    case ofRenewals
  }

  private static func overlap(_ periods: [Period], _ sorted: [Int]) -> Overlap {
    var overlap = Overlap.none
    var start: Milliseconds?
    var end = periods[sorted[0]].start
    for index in sorted {
      let period = periods[index]
      let overlaps = period.start < end
      // If two periods begin together, the earlier one in the list may be the renewal.
      if overlaps && !period.isPurchase || period.start == start { return .ofRenewals }
      if overlaps || period.isUpgraded { overlap = .ofPurchases }
      start = period.start
      end = max(end, period.end)
    }
    return overlap
  }

  private init(_ standing: [Int], of periods: [Period]) {
    self.standing = PeriodsByStart(standing, of: periods)
    let hasUpgraded = standing.contains { periods[$0].isUpgraded }
    notUpgraded = PeriodsByStart(
      hasUpgraded ? standing.filter { !periods[$0].isUpgraded } : [], of: periods)
  }

  /// - Parameter rank: the position of the period in ``standing``.
  private func start(ofSuccessorOf period: Period, rank: Int, in periods: [Period])
    -> Milliseconds?
  {
    guard period.isUpgraded else {
      let first = standing.firstRank(after: period.start, in: periods)
      let successor = standing.start(from: first, otherThan: period.product, in: periods)
      return successor.flatMap { $0 < period.end ? $0 : nil }
    }
    // Of two upgraded periods with the same start, only the earlier one is replaced. Otherwise each
    // would replace the other, and no period would be left to decide the chain.
    let later = standing.start(from: rank, otherThan: period.product, in: periods)
    let first = notUpgraded.firstRank(from: period.start, in: periods)
    let other = notUpgraded.start(from: first, otherThan: period.product, in: periods)
    let successor = min(later ?? Milliseconds(.max), other ?? Milliseconds(.max))
    return later == nil && other == nil || successor > period.end ? nil : successor
  }
}

/// Finds the periods that another product replaced before they began (R62): renewals that were charged
/// ahead of an upgrade, and periods without a reason during which Apple named another product.
private struct ReplacedRenewals {
  private let sorted: [Int]
  /// The same, to find what follows an upgraded renewal.
  private var all: PeriodsByStart?
  private let renewal: Renewal?
  /// When the renewal info was signed: the start of the latest begun period of the product that it names.
  private let lastNamed: Milliseconds?
  /// The last purchase so far.
  private var purchase: Period?
  /// The period so far that ends last and has the product that the renewal info names.
  private var named: Period?

  /// - Parameters:
  ///   - chain: the positions of the periods of one chain, sorted by ``FactTable/isEarlier(_:_:)``.
  ///   - sorted: the same by start.
  static func mark(
    _ periods: inout [Period], in chain: Range<Int>, _ sorted: [Int], renewal: Renewal?
  ) {
    let renewals = chain.map { isRenewal(periods[$0], in: periods, of: chain) }
    func isRenewed(_ index: Int) -> Bool { renewals[index - chain.lowerBound] }
    // A renewal that begins together with a purchase was charged before.
    let ordered = sorted.sorted { left, right in
      let (leftStart, rightStart) = (periods[left].start, periods[right].start)
      if leftStart != rightStart { return leftStart < rightStart }
      return isRenewed(left) == isRenewed(right) ? left < right : isRenewed(right)
    }
    var search = ReplacedRenewals(periods, sorted, renewal: renewal)
    for index in ordered {
      periods[index].replacedAt = search.replacement(
        of: periods[index], isRenewal: isRenewed(index), in: periods)
      if periods[index].replacedAt == nil {
        search.add(periods[index], isRenewal: isRenewed(index))
      }
    }
  }

  private init(_ periods: [Period], _ sorted: [Int], renewal: Renewal?) {
    self.sorted = sorted
    self.renewal = renewal
    lastNamed = renewal.flatMap { renewal in
      sorted.last {
        periods[$0].product == renewal.product && periods[$0].start <= renewal.signedDate
      }.map { periods[$0].start }
    }
  }

  /// Whether the customer did not buy the period: Apple says that it is a renewal, or gives no reason and
  /// the period begins where an earlier one of the chain ends.
  private static func isRenewal(
    _ period: Period, in periods: [Period], of chain: Range<Int>
  ) -> Bool {
    if period.isRenewal || period.isPurchase { return period.isRenewal }
    var (low, high) = (chain.lowerBound, chain.upperBound)
    while low < high {
      let middle = (low + high) / 2
      if periods[middle].end < period.start { low = middle + 1 } else { high = middle }
    }
    // Of the periods with one end, the first begins first.
    return low < chain.upperBound && periods[low].end == period.start
      && periods[low].start < period.start
  }

  private mutating func add(_ period: Period, isRenewal: Bool) {
    if !isRenewal { purchase = period }
    if period.product == renewal?.product, named.map({ $0.end <= period.end }) ?? true {
      named = period
    }
  }

  /// The start of the period that replaced this one before it began; nil if none did.
  private mutating func replacement(of period: Period, isRenewal: Bool, in periods: [Period])
    -> Milliseconds?
  {
    if period.isPurchase { return nil }
    if let renewal, period.contains(renewal.signedDate), let lastNamed, lastNamed <= period.start {
      // Apple said during the period which product is the current one.
      if renewal.product == period.product { return nil }
      let isSigned = renewal.signedDate > period.start.advanced(by: Renewal.signingTolerance)
      if isSigned, let named, named.end > period.start { return named.start }
    }
    guard isRenewal, let purchase, purchase.product != period.product,
      purchase.end > period.start,
      period.start <= purchase.start.advanced(by: period.chargeLead)
        || isUpgradedWithoutLaterSuccessor(period, in: periods)
    else { return nil }
    return purchase.start
  }

  private mutating func isUpgradedWithoutLaterSuccessor(
    _ period: Period, in periods: [Period]
  ) -> Bool {
    guard period.isUpgraded else { return false }
    let all = self.all ?? PeriodsByStart(sorted, of: periods)
    self.all = all
    let first = all.firstRank(after: period.start, in: periods)
    let successor = all.start(from: first, otherThan: period.product, in: periods)
    return successor.map { $0 > period.end } ?? true
  }
}

extension Period {
  fileprivate func contains(_ moment: Milliseconds) -> Bool { start <= moment && moment < end }
}

/// Some periods of a chain, sorted by start, to find the next one of another product.
private struct PeriodsByStart {
  /// Positions of the periods.
  let indices: [Int]
  /// For each rank, the next rank of a period with another product; the count when there is none.
  private var nextOther: [Int]

  init(_ indices: [Int], of periods: [Period]) {
    self.indices = indices
    nextOther = Array(repeated: indices.count, count: indices.count)
    var next = indices.count
    for rank in stride(from: indices.count - 2, through: 0, by: -1) {
      if periods[indices[rank]].productInChain != periods[indices[rank + 1]].productInChain {
        next = rank + 1
      }
      nextOther[rank] = next
    }
  }

  func firstRank(from start: Milliseconds, in periods: [Period]) -> Int {
    firstRank { periods[$0].start >= start }
  }

  func firstRank(after start: Milliseconds, in periods: [Period]) -> Int {
    firstRank { periods[$0].start > start }
  }

  /// - Parameter isReached: is false for the first periods and true for the others.
  private func firstRank(where isReached: (Int) -> Bool) -> Int {
    var (low, high) = (0, indices.count)
    while low < high {
      let middle = (low + high) / 2
      if isReached(indices[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  /// The start of the first period of another product, from a rank on.
  func start(from rank: Int, otherThan product: Int, in periods: [Period]) -> Milliseconds? {
    guard rank < indices.count else { return nil }
    let found = periods[indices[rank]].product == product ? nextOther[rank] : rank
    return found < indices.count ? periods[indices[found]].start : nil
  }
}
