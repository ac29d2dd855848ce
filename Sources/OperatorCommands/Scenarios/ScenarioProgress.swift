import Programs

/// Tells people on a terminal how far a long run is, at most once a second.
struct ScenarioProgress {
  let total: Int
  private var done = 0
  private var lastReport = ContinuousClock.now

  init(total: Int) {
    self.total = total
  }

  mutating func oneDone() {
    done += 1
    let now = ContinuousClock.now
    guard StandardError.isTerminal, done < total, now - lastReport >= .seconds(1) else { return }
    lastReport = now
    StandardError.write("\(done) of \(total) scenarios")
  }
}
