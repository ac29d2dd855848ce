import Programs

/// Tells people how far a long run is, at most once a second.
struct ProgressReport {
  private let total: Int
  private var done = 0
  private var lastReport = ContinuousClock.now

  /// How often at most a line is written.
  private static let interval = Duration.seconds(1)

  init(total: Int) {
    self.total = total
  }

  mutating func oneDone() {
    done += 1
    let now = ContinuousClock.now
    guard now - lastReport >= Self.interval, done < total else { return }
    lastReport = now
    StandardError.write("\(done) of \(total) customers")
  }
}
