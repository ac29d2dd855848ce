import Foundation

/// The rounds of a property test, numbered from 0. They end early at a time limit, after at least a
/// tenth of them, so that slow machines finish too. `TEST_THOROUGH` in the environment, which
/// `deploy/test --thorough` sets, lifts the limit. The number of rounds that were run is printed.
package struct Rounds: Sequence, IteratorProtocol {
  private static let isThorough = ProcessInfo.processInfo.environment["TEST_THOROUGH"] != nil

  private let test: String
  private let count: Int
  private let deadline: ContinuousClock.Instant
  private var round = 0

  /// - Parameter test: its name, which is printed with the number of rounds.
  package init(_ count: Int, of test: String, within limit: Duration = .seconds(10)) {
    self.test = test
    self.count = count
    deadline = .now + limit
  }

  package mutating func next() -> Int? {
    let isOver =
      round >= count
      || (!Self.isThorough && round >= (count + 9) / 10 && ContinuousClock.now >= deadline)
    guard !isOver else {
      print("\(test): \(round) of \(count) rounds")
      return nil
    }
    defer { round += 1 }
    return round
  }
}
