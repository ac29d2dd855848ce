import EntitlementDomain
import NIOCore

/// Sums up the counts of a run, second by second.
struct SecondMeter: Sendable {
  private let plan: RunPlan
  private let server: ServerProcess?
  private let measureFrom: NIODeadline
  private let observer: RunObserver
  private var total = Tally()
  private var seconds: [LoadResult.Second] = []
  private var last: NIODeadline
  private var before: Usage
  private var after: Usage

  /// Resources used up to a moment.
  private struct Usage: Sendable {
    let server: ServerProcess.Usage?
    let own = OwnProcessorTime.microseconds

    init(_ server: ServerProcess?) { self.server = server?.usage }
  }

  init(plan: RunPlan, server: ServerProcess?, measureFrom: NIODeadline, observer: RunObserver) {
    self.plan = plan
    self.server = server
    self.measureFrom = measureFrom
    self.observer = observer
    last = measureFrom
    before = Usage(server)
    after = before
  }

  /// Waits for the start of the measurement. Returns at once when the task is cancelled.
  ///
  /// - Throws: errors of the log.
  mutating func waitForBeginning() async throws {
    try observer.log?.begin(at: WallClock().moment(measureFrom))
    if plan.warmUp > .zero { observer.writeProgress?("warming up for \(plan.warmUp.shortText)") }
    try? await Task.sleep(for: .nanoseconds((measureFrom - .now()).nanoseconds))
    before = Usage(server)
  }

  func waitForNextSecond() async {
    try? await Task.sleep(for: .nanoseconds((last + .seconds(1) - .now()).nanoseconds))
  }

  /// Adds the counts of a second.
  ///
  /// - Parameters:
  /// - tally: the counts since the last call.
  /// - now: when they were taken, or slightly before.
  /// - Throws: errors of the log.
  mutating func add(_ tally: Tally, inFlight: Int, at now: NIODeadline) throws {
    let all = tally.all
    total.add(tally)
    // The rest at the end of a run may have almost no length, and no calls.
    let length = elapsed(from: last, to: now)
    guard length > 0, now > measureFrom, length >= 0.5 || all.calls > 0 else { return }
    let second = LoadResult.Second(
      end: elapsed(from: measureFrom, to: now), length: length, calls: all.calls,
      errors: all.errorCount, median: all.latencies.percentile(50),
      p99: all.latencies.percentile(99), maximum: all.latencies.maximum)
    try observer.log?.add(
      MeasuredInterval(
        start: elapsed(from: measureFrom, to: last), length: length, all: all.latencies,
        kinds: tally.kinds.mapValues(\.latencies)))
    last = now
    seconds.append(second)
    observer.writeProgress?(line(second, wrong: total.wrong, inFlight: inFlight))
  }

  /// Ends the measurement.
  ///
  /// - Parameter end: when the last call ended.
  mutating func finish(_ tally: Tally, at end: NIODeadline) throws {
    after = Usage(server)
    try add(tally, inFlight: 0, at: end)
    last = end
  }

  /// Adds the results of checks that ended after the last call.
  mutating func addLate(_ tally: Tally) { total.add(tally) }

  private func elapsed(from start: NIODeadline, to end: NIODeadline) -> Double {
    Double((end - start).nanoseconds) / 1e9
  }

  private func line(_ second: LoadResult.Second, wrong: Int, inFlight: Int) -> String {
    let end = plan.duration.map { " of \($0.shortText)" } ?? ""
    return "\(Int(second.end.rounded())) s\(end): \(Int(second.rate.rounded())) calls/s, "
      + "p50 \(LatencyText.of(second.median)), p99 \(LatencyText.of(second.p99)), "
      + "max \(LatencyText.of(second.maximum)), \(second.errors) errors, \(wrong) wrong, "
      + "\(inFlight) in flight"
  }

  /// The result; call it after ``finish(_:at:)``.
  func result(isInterrupted: Bool, isServerGone: Bool) -> LoadResult {
    var usage: LoadResult.Server?
    if let before = before.server, let after = after.server {
      usage = LoadResult.Server(before: before, after: after)
    }
    return LoadResult(
      total: total, seconds: seconds, length: max(elapsed(from: measureFrom, to: last), 0),
      server: usage, ownProcessorTime: after.own - before.own, isInterrupted: isInterrupted,
      isServerGone: isServerGone)
  }
}

extension Duration {
  /// For people: `10 s`, `0.5 s`.
  var shortText: String {
    let seconds = self / .seconds(1)
    return seconds == seconds.rounded() ? "\(Int(seconds)) s" : "\(seconds) s"
  }
}
