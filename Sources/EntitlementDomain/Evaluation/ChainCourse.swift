/// Follows the period that decides a chain (R18) from one moment to later ones. Over all moments it
/// takes O(n log n) for n periods; ``SubscriptionChain/decisivePeriod(in:at:)`` takes O(n) for each.
struct ChainCourse {
  private let periods: ArraySlice<Period>
  private(set) var now: Milliseconds
  /// The index of the period that decides at ``now``.
  private(set) var decisive: Int

  /// The periods that have not begun at first, by the start of their access; `begun` of them have
  /// begun since.
  private var coming: [Int] = []
  private var begun = 0
  /// The same by their own start: the first to come that has not begun decides while no other can.
  private var comingByStart: [Int] = []
  private var firstToCome = 0
  /// The negated indices of the periods that have begun. Those whose access is over are removed when
  /// they come first.
  private var inForce = Heap<Int>()
  /// The periods whose access is over. Those that were replaced are removed when they come first.
  private var over = Heap<OverPeriod>()

  /// The order by which the period that gave access last comes first (R18, R63).
  private struct OverPeriod: Comparable {
    let index: Int
    let end: Milliseconds

    static func < (left: Self, right: Self) -> Bool {
      left.end == right.end ? left.index > right.index : left.end > right.end
    }
  }

  init(of chain: SubscriptionChain, at now: Milliseconds) {
    periods = chain.periods
    self.now = now
    decisive = periods.startIndex
    for index in periods.indices {
      if periods[index].accessStart > now { coming.append(index) } else { begin(index) }
    }
    comingByStart = coming
    // The indices are in the order of the periods, which decides what remains equal.
    coming.sort { left, right in
      let (leftStart, rightStart) = (periods[left].accessStart, periods[right].accessStart)
      return leftStart == rightStart ? left < right : leftStart < rightStart
    }
    comingByStart.sort { left, right in
      let (left, right) = ((periods[left], left), (periods[right], right))
      return (left.0.start, left.0.end, left.1) < (right.0.start, right.0.end, right.1)
    }
    decisive = findDecisive()
  }

  /// The next moment at which a period begins to give access; nil when none is to come.
  var nextStart: Milliseconds? {
    begun < coming.count ? periods[coming[begun]].accessStart : nil
  }

  /// The period that decides at ``now``.
  var decisivePeriod: Period { periods[decisive] }

  /// - Parameter moment: not before ``now``.
  /// - Returns: the indices of the periods that have begun since.
  @discardableResult
  mutating func advance(to moment: Milliseconds) -> ArraySlice<Int> {
    now = moment
    let first = begun
    while begun < coming.count, periods[coming[begun]].accessStart <= now {
      begin(coming[begun])
      begun += 1
    }
    decisive = findDecisive()
    return coming[first..<begun]
  }

  private mutating func begin(_ index: Int) {
    if periods[index].isInForce(at: now) { inForce.insert(-index) } else { end(index) }
  }

  private mutating func end(_ index: Int) {
    let period = periods[index]
    // A replaced period never decides: its successor, or a later period, does.
    if period.isReplaced(at: now) { return }
    over.insert(OverPeriod(index: index, end: max(period.accessEnd, period.accessStart)))
  }

  private mutating func findDecisive() -> Int {
    while let first = inForce.least {
      if periods[-first].isInForce(at: now) { return -first }
      inForce.removeLeast()
      end(-first)
    }
    while let last = over.least {
      if !periods[last.index].isReplaced(at: now) { return last.index }
      over.removeLeast()
    }
    while firstToCome < comingByStart.count {
      let index = comingByStart[firstToCome]
      if periods[index].accessStart > now { return index }
      firstToCome += 1
    }
    return periods.startIndex
  }
}
