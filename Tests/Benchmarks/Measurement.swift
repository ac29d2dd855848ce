/// The measurements of one thing, one for each round.
struct Measurement {
  /// Microseconds of processor time, or a number computed from them; one a round.
  private(set) var times: [Double] = []

  /// Adds the number of a round.
  mutating func add(_ number: Double) {
    times.append(number)
  }

  /// Measures one more round.
  ///
  /// - Parameter repeats: how often the work is done. A round must be long compared with the
  ///   resolution of the clock.
  mutating func addRound(repeats: Int, work: () -> Void) {
    let started = ProcessorTime.used
    for _ in 0..<repeats { work() }
    add((ProcessorTime.used - started) / Double(repeats))
  }

  /// The median of the rounds; of an even number, the greater of the two in the middle.
  var median: Double {
    let sorted = times.sorted()
    return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
  }

  var lowest: Double { times.min() ?? 0 }
  var highest: Double { times.max() ?? 0 }
}
