/// What was counted of calls since somebody last took it.
struct Tally: Sendable {
  /// Calls of one kind.
  struct Kind: Sendable {
    var latencies = LatencyHistogram()
    /// How long it took until the server had refused a call.
    var refusals = LatencyHistogram()
    /// Answered well.
    var answered = 0
    /// Not answered, or refused, by code.
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

  /// Wrong answers that are told in words; all are counted. They mostly have one cause.
  private static let toldFaults = 5

  private(set) var kinds: [CallKind: Kind] = [:]
  private(set) var checked = 0
  private(set) var wrong = 0
  private(set) var faults: [String] = []
  /// How often calls were due and could not be made, as too many were in flight or no connection was
  /// there.
  private(set) var held = 0
  /// Connections that were lost.
  var lostConnections = 0

  /// All kinds together.
  var all: Kind { kinds.values.reduce(into: Kind()) { $0.add($1) } }

  mutating func answered(
    _ kind: CallKind, nanoseconds: Int64, sentBytes: Int, receivedBytes: Int
  ) {
    kinds[kind, default: Kind()].latencies.record(nanoseconds: nanoseconds)
    kinds[kind, default: Kind()].answered += 1
    kinds[kind, default: Kind()].sentBytes += sentBytes
    kinds[kind, default: Kind()].receivedBytes += receivedBytes
  }

  /// Nobody answered.
  ///
  /// - Parameter nanoseconds: how long somebody waited.
  mutating func failed(_ kind: CallKind, code: String, nanoseconds: Int64) {
    kinds[kind, default: Kind()].errors[code, default: 0] += 1
    kinds[kind, default: Kind()].latencies.record(nanoseconds: nanoseconds)
  }

  /// The server refused: that says nothing of how long an answer takes, and is counted apart.
  mutating func refused(_ kind: CallKind, code: String, nanoseconds: Int64) {
    kinds[kind, default: Kind()].errors[code, default: 0] += 1
    kinds[kind, default: Kind()].refusals.record(nanoseconds: nanoseconds)
  }

  mutating func wasChecked() { checked += 1 }

  mutating func wasHeld() { held += 1 }

  mutating func foundWrong(_ fault: String) {
    wrong += 1
    if faults.count < Self.toldFaults { faults.append(fault) }
  }

  mutating func add(_ other: Tally) {
    kinds.merge(other.kinds) { own, others in
      var sum = own
      sum.add(others)
      return sum
    }
    checked += other.checked
    wrong += other.wrong
    faults += other.faults.prefix(Self.toldFaults - faults.count)
    held += other.held
    lostConnections += other.lostConnections
  }
}
