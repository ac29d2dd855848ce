/// How a batch is shared between workers.
package struct PieceSize: Hashable, Sendable {
  /// Items of a piece at least, where the batch has as many: for fewer, waking another worker is not
  /// worth it.
  package var leastItems: Int
  /// Items of a piece at most, and what they may weigh together, unless one item alone weighs more:
  /// this is how long others wait behind it.
  package var mostItems: Int
  package var mostWeight: Int

  package init(leastItems: Int = 1, mostItems: Int = .max, mostWeight: Int = .max) {
    self.leastItems = max(leastItems, 1)
    self.mostItems = max(mostItems, 1)
    self.mostWeight = mostWeight
  }

  /// Cuts a batch into even shares, no more of them than there are workers unless they would be too
  /// large.
  ///
  /// - Parameters:
  ///   - weights: of the items, none negative.
  ///   - workers: how many there are, at least one.
  /// - Returns: what covers all items once, in order; nothing for an empty batch.
  func pieces(weights: [Int], workers: Int) -> [Range<Int>] {
    guard !weights.isEmpty else { return [] }
    let worthSharing = min(workers, weights.count / leastItems)
    // Rounded up without a sum that might overflow.
    let bounded = (weights.count - 1) / mostItems + 1
    let shares = max(1, worthSharing, bounded)
    var pieces: [Range<Int>] = []
    for share in 0..<shares {
      var start = weights.count * share / shares
      let end = weights.count * (share + 1) / shares
      var weight = 0
      for item in start..<end {
        if item > start, weights[item] > mostWeight - weight {
          pieces.append(start..<item)
          start = item
          weight = 0
        }
        weight += weights[item]
      }
      if start < end { pieces.append(start..<end) }
    }
    return pieces
  }
}
