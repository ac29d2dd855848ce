/// What was charged ahead of a period, as far as its standing tells (R18, R23).
struct AheadCharges {
  /// The first of another product; nil when there is none.
  var change: Period?
  /// The last; nil when nothing was charged ahead.
  var latest: Period?
}

extension SubscriptionChain {
  func aheadCharges(of period: Period, at now: Milliseconds) -> AheadCharges {
    let ahead = chargedAhead(of: period, at: now)
    return AheadCharges(
      change: ahead.first { $0.product != period.product }, latest: ahead.last)
  }
}

/// What was charged ahead of one period, at this and all later moments. Over all of them it takes
/// O(n log n) for n periods; ``SubscriptionChain/aheadCharges(of:at:)`` takes that for each.
///
/// With time, periods only leave: they begin, or are refunded. So the moments are visited from the last
/// to the first, where periods are only added, and what was overtaken once stays overtaken.
struct ChargedAhead {
  /// The period that the charges follow.
  let fact: Int
  /// Sorted by moment, the latest first: what is charged ahead before the moment, and not earlier than
  /// at the next one.
  private var spans: [(end: Milliseconds, charges: AheadCharges)] = []

  init(of chain: SubscriptionChain, after period: Period, at now: Milliseconds) {
    fact = period.fact
    var coming = chain.periods.filter { $0.isCharged(aheadOf: now) }
    coming.sort { ($0.start, $0.end) < ($1.start, $1.end) }
    func leaves(_ rank: Int) -> Milliseconds {
      coming[rank].revocationDate.map { min($0, coming[rank].accessStart) }
        ?? coming[rank].accessStart
    }
    var known = Known(coming, after: period)
    let order = coming.indices.sorted { leaves($0) > leaves($1) }
    for (index, rank) in order.enumerated() {
      known.add(rank)
      if index + 1 < order.count, leaves(order[index + 1]) == leaves(rank) { continue }
      spans.append((leaves(rank), known.charges()))
    }
  }

  /// - Parameter now: not before the moment of creation.
  func charges(at now: Milliseconds) -> AheadCharges {
    var (low, high) = (0, spans.count)
    while low < high {
      let middle = (low + high) / 2
      if spans[middle].end > now { low = middle + 1 } else { high = middle }
    }
    return low == 0 ? AheadCharges() : spans[low - 1].charges
  }

  /// A growing set of the coming periods. A rank is a position in their order by start.
  private struct Known {
    private let coming: [Period]
    private let period: Period
    /// The end of what follows the period without a gap.
    private var reach: Milliseconds
    private var latest: Int?
    /// Periods after a gap.
    private var waiting = Heap<Int>()
    /// Periods of other products, by start. A period that extends nothing is removed when it reaches the
    /// front of the heap.
    private var others = Heap<Int>()
    /// A Fenwick tree of the latest ends, by rank.
    private var ends: [Milliseconds]

    init(_ coming: [Period], after period: Period) {
      self.coming = coming
      self.period = period
      reach = period.end
      ends = Array(repeating: period.end, count: coming.count + 1)
    }

    mutating func add(_ rank: Int) {
      var node = rank + 1
      while node < ends.count {
        ends[node] = max(ends[node], coming[rank].end)
        node += node & -node
      }
      if coming[rank].product != period.product { others.insert(rank) }
      waiting.insert(rank)
      while let next = waiting.least, coming[next].start <= reach {
        waiting.removeLeast()
        let end = coming[next].end
        if end > reach || end == reach && latest.map({ next < $0 }) ?? false { latest = next }
        reach = max(reach, end)
      }
    }

    mutating func charges() -> AheadCharges {
      while let first = others.least, coming[first].end <= latestEnd(before: first) {
        others.removeLeast()
      }
      let change = others.least.flatMap { coming[$0].start <= reach ? coming[$0] : nil }
      return AheadCharges(change: change, latest: latest.map { coming[$0] })
    }

    /// The latest end of the period and of all known ones of lower ranks.
    private func latestEnd(before rank: Int) -> Milliseconds {
      var latest = period.end
      var node = rank
      while node > 0 {
        latest = max(latest, ends[node])
        node -= node & -node
      }
      return latest
    }
  }
}

/// Keeps the charges ahead of the period that a state shows. They are asked for at many moments.
final class ChargedAheadCache {
  private var known: ChargedAhead?

  func charges(
    of chain: SubscriptionChain, after period: Period, at now: Milliseconds
  ) -> AheadCharges {
    if let known, known.fact == period.fact { return known.charges(at: now) }
    let found = ChargedAhead(of: chain, after: period, at: now)
    known = found
    return found.charges(at: now)
  }
}
