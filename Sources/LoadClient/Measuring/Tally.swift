/// Counts of calls since the last ``CallRecorder/take()``.
struct Tally: Sendable {
  /// Calls of one kind.
  struct Kind: Sendable {
    var latencies = LatencyHistogram()
    /// Latencies of refused calls.
    var refusals = LatencyHistogram()
    /// Calls that were answered without an error.
    var answered = 0
    /// Calls that were not answered or were refused, by code.
    var errors: [String: Int] = [:]
    var sentBytes = 0
    var receivedBytes = 0

    var errorCount: Int { errors.values.reduce(0, +) }
    var calls: Int { answered + errorCount }

    mutating func add(_ other: Kind) {
      latencies.add(other.latencies)
      refusals.add(other.refusals)
      answered += other.answered
      errors.merge(other.errors, uniquingKeysWith: +)
      sentBytes += other.sentBytes
      receivedBytes += other.receivedBytes
    }
  }

  /// Maximum number of wrong answers that are described; all are counted. They mostly have one
  /// cause.
  private static let maximumFaults = 5

  private(set) var kinds: [CallKind: Kind] = [:]
  private(set) var checked = 0
  private(set) var wrong = 0
  private(set) var faults: [String] = []
  /// How often due calls were delayed, because too many were in flight or no connection was open.
  private(set) var delayed = 0
  /// Number of lost connections.
  var lostConnections = 0

  /// The sum of all kinds.
  var all: Kind { kinds.values.reduce(into: Kind()) { $0.add($1) } }

  mutating func answered(
    _ kind: CallKind, nanoseconds: Int64, sentBytes: Int, receivedBytes: Int
  ) {
    kinds[kind, default: Kind()].latencies.record(nanoseconds: nanoseconds)
    kinds[kind, default: Kind()].answered += 1
    kinds[kind, default: Kind()].sentBytes += sentBytes
    kinds[kind, default: Kind()].receivedBytes += receivedBytes
  }

  /// Counts a call without an answer.
  ///
  /// - Parameter nanoseconds: how long the caller waited.
  mutating func failed(_ kind: CallKind, code: String, nanoseconds: Int64) {
    kinds[kind, default: Kind()].errors[code, default: 0] += 1
    kinds[kind, default: Kind()].latencies.record(nanoseconds: nanoseconds)
  }

  /// Counts a refused call. Its latency is counted apart, since a refusal is faster than an answer.
  mutating func refused(_ kind: CallKind, code: String, nanoseconds: Int64) {
    kinds[kind, default: Kind()].errors[code, default: 0] += 1
    kinds[kind, default: Kind()].refusals.record(nanoseconds: nanoseconds)
  }

  mutating func wasChecked() { checked += 1 }

  mutating func wasDelayed() { delayed += 1 }

  mutating func foundWrong(_ fault: String) {
    wrong += 1
    if faults.count < Self.maximumFaults { faults.append(fault) }
  }

  mutating func add(_ other: Tally) {
    kinds.merge(other.kinds) { own, others in
      var sum = own
      sum.add(others)
      return sum
    }
    checked += other.checked
    wrong += other.wrong
    faults += other.faults.prefix(Self.maximumFaults - faults.count)
    delayed += other.delayed
    lostConnections += other.lostConnections
  }
}
