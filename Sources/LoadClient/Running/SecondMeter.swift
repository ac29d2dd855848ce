import EntitlementDomain
import NIOCore

/// Adds up a run, second by second.
struct SecondMeter: Sendable {
  private let plan: RunPlan
  private let server: ServerProcess?
  private let measureFrom: NIODeadline
  private let tell: (@Sendable (_ line: String) -> Void)?
  private var total = Tally()
  private var seconds: [LoadResult.Second] = []
  private var last: NIODeadline
  private var serverBefore: ServerProcess.Usage?
  private var ownBefore = 0.0

  init(
    plan: RunPlan, server: ServerProcess?, measureFrom: NIODeadline,
    tell: (@Sendable (_ line: String) -> Void)?
  ) {
    self.plan = plan
    self.server = server
    self.measureFrom = measureFrom
    self.tell = tell
    last = measureFrom
    begin()
  }

  private mutating func begin() {
    serverBefore = server?.usage
    ownBefore = OwnProcessorTime.microseconds
  }

  /// Waits until it is measured; returns at once when the task is cancelled.
  mutating func waitForBeginning() async {
    if plan.warmUp > .zero { tell?("warming up for \(plan.warmUp.shortText)") }
    try? await Task.sleep(for: .nanoseconds((measureFrom - .now()).nanoseconds))
    begin()
    last = max(measureFrom, .now())
  }

  func waitForNextSecond() async {
    try? await Task.sleep(for: .nanoseconds((last + .seconds(1) - .now()).nanoseconds))
  }

  mutating func add(_ part: (tally: Tally, inFlight: Int)) {
    let now = NIODeadline.now()
    let all = part.tally.all
    total.add(part.tally)
    // What is left at the end of a run may be no second, and no call.
    let length = Double((now - last).nanoseconds) / 1e9
    guard length > 0, now > measureFrom, length >= 0.5 || all.calls > 0 else { return }
    last = now
    let second = LoadResult.Second(
      end: Double((now - measureFrom).nanoseconds) / 1e9, length: length, calls: all.calls,
      errors: all.errorCount, median: all.latencies.percentile(50),
      p99: all.latencies.percentile(99), maximum: all.latencies.maximum)
    seconds.append(second)
    tell?(line(second, wrong: total.wrong, inFlight: part.inFlight))
  }

  private func line(_ second: LoadResult.Second, wrong: Int, inFlight: Int) -> String {
    let end = plan.duration.map { " of \($0.shortText)" } ?? ""
    return "\(Int(second.end.rounded())) s\(end): \(Int(second.rate.rounded())) calls/s, "
      + "p50 \(LatencyText.of(second.median)), p99 \(LatencyText.of(second.p99)), "
      + "max \(LatencyText.of(second.maximum)), \(second.errors) errors, \(wrong) wrong, "
      + "\(inFlight) in flight"
  }

  func result(isInterrupted: Bool) -> LoadResult {
    LoadResult(
      total: total, seconds: seconds,
      length: max(Double((last - measureFrom).nanoseconds) / 1e9, 0),
      server: serverBefore.flatMap { before in
        server?.usage.map { LoadResult.Server(before: before, after: $0) }
      },
      ownProcessorTime: OwnProcessorTime.microseconds - ownBefore, isInterrupted: isInterrupted)
  }
}

extension Duration {
  /// For people: `10 s`, `0.5 s`.
  var shortText: String {
    let seconds = self / .seconds(1)
    return seconds == seconds.rounded() ? "\(Int(seconds)) s" : "\(seconds) s"
  }
}
