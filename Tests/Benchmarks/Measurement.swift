/// What one thing took, over several rounds.
struct Measurement {
  /// Microseconds of processor time, or what is computed of them; one number a round.
  private(set) var times: [Double] = []

  /// Adds what a round gave.
  mutating func add(_ number: Double) {
    times.append(number)
  }

  /// Measures one more round.
  ///
  /// - Parameter repeats: how often the work is done, so that a round is long against the clock's
  ///   resolution.
  mutating func addRound(repeats: Int, work: () -> Void) {
    let started = ProcessorTime.used
    for _ in 0..<repeats { work() }
    add((ProcessorTime.used - started) / Double(repeats))
  }

  /// The middle one of the rounds; of an even number, the greater of the two in the middle.
  var median: Double {
    let sorted = times.sorted()
    return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
  }

  var lowest: Double { times.min() ?? 0 }
  var highest: Double { times.max() ?? 0 }
}
