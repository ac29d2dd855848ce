import Synchronization

/// Counts of what the clients have done.
final class LoadCounters: Sendable {
  enum Count: String, CaseIterable, Sendable {
    case submissions
    case facts
    case claims
    case transfers = "claims that took a chain"
    case operatorChanges = "operator changes"
    case merges
    case latencyReads = "reads MINIMIZE_LATENCY"
    case freshReads = "reads AT_LEAST_AS_FRESH"
    case consistentReads = "reads FULLY_CONSISTENT"
    case watchedChanges = "watched changes"
    case watchResumptions = "watches resumed"
    case passingFailures = "calls that failed for a while"
  }

  private let counts = Mutex<[Count: Int]>([:])

  func add(_ count: Count, _ number: Int = 1) {
    counts.withLock { $0[count, default: 0] += number }
  }

  subscript(_ count: Count) -> Int { counts.withLock { $0[count] ?? 0 } }

  var text: String {
    counts.withLock { counts in
      Count.allCases.map { "\($0.rawValue) \(counts[$0] ?? 0)" }.joined(separator: ", ")
    }
  }
}
