/// A histogram of latencies in steps of ten nanoseconds: finer than the compared differences, and
/// of constant size for any length of a round.
struct LatencyCounts {
  private var counts = [UInt32](repeating: 0, count: 100_000)
  private var total = 0

  /// In nanoseconds.
  private static let step: UInt64 = 10

  /// Latencies of a millisecond and more are counted together.
  mutating func add(_ nanoseconds: UInt64) {
    counts[min(Int(nanoseconds / Self.step), counts.count - 1)] += 1
    total += 1
  }

  /// In microseconds; 0 when it is empty.
  var median: Double {
    var seen = 0
    for (index, count) in counts.enumerated() where count > 0 {
      seen += Int(count)
      if seen * 2 >= total { return (Double(index) + 0.5) * Double(Self.step) / 1_000 }
    }
    return 0
  }
}
