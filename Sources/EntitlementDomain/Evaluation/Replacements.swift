/// Finds the successor of each upgraded period: the next purchase of another product in the chain
/// (R17).
///
/// The notification of an upgrade contains only the new transaction. Until the old transaction
/// arrives again with `isUpgraded`, a purchase (not a renewal) of another product within a period
/// indicates the upgrade, because upgrades take effect immediately (R62).
struct Replacements {
  /// Sorted by start. Periods with the same start keep the order of their ends (R18).
  private let all: PeriodsByStart
  private let purchases: PeriodsByStart
  private let notUpgraded: PeriodsByStart

  /// - Parameter chain: the positions of the periods of one chain.
  static func mark(_ periods: inout [Period], in chain: Range<Int>) {
    guard mayReplace(periods, in: chain) else { return }
    let replacements = Replacements(periods, in: chain)
    for (rank, index) in replacements.all.indices.enumerated() {
      periods[index].replacedAt = replacements.start(
        ofSuccessorOf: periods[index], rank: rank, in: periods)
    }
  }

  /// Whether a period was upgraded, or something was bought after the first period began. Most chains
  /// were only renewed.
  private static func mayReplace(_ periods: [Period], in chain: Range<Int>) -> Bool {
    var first = periods[chain.lowerBound].start
    var lastPurchase: Milliseconds?
    for index in chain {
      let period = periods[index]
      if period.isUpgraded { return true }
      first = min(first, period.start)
      if period.isPurchase { lastPurchase = max(lastPurchase ?? period.start, period.start) }
    }
    return lastPurchase.map { $0 > first } ?? false
  }

  private init(_ periods: [Period], in chain: Range<Int>) {
    let sorted = chain.sorted { left, right in
      let (leftStart, rightStart) = (periods[left].start, periods[right].start)
      return leftStart == rightStart ? left < right : leftStart < rightStart
    }
    all = PeriodsByStart(sorted, of: periods)
    purchases = PeriodsByStart(sorted.filter { periods[$0].isPurchase }, of: periods)
    let hasUpgraded = periods[chain].contains { $0.isUpgraded }
    notUpgraded = PeriodsByStart(
      hasUpgraded ? sorted.filter { !periods[$0].isUpgraded } : [], of: periods)
  }

  /// - Parameter rank: the position of the period in ``all``.
  private func start(ofSuccessorOf period: Period, rank: Int, in periods: [Period])
    -> Milliseconds?
  {
    guard period.isUpgraded else {
      let first = purchases.firstRank(after: period.start, in: periods)
      let successor = purchases.start(from: first, otherThan: period.product, in: periods)
      return successor.flatMap { $0 < period.end ? $0 : nil }
    }
    // Of two upgraded periods with the same start, only the earlier one is replaced. Otherwise each
    // would replace the other, and no period would be left to decide the chain.
    let later = all.start(from: rank, otherThan: period.product, in: periods)
    let first = notUpgraded.firstRank(from: period.start, in: periods)
    let other = notUpgraded.start(from: first, otherThan: period.product, in: periods)
    let successor = min(later ?? Milliseconds(.max), other ?? Milliseconds(.max))
    return later == nil && other == nil || successor > period.end ? nil : successor
  }
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
