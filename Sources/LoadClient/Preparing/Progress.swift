import Glibc
import PostgresBulkLoader
import Synchronization

/// Reports the progress of a long step on stderr.
package final class Progress: BulkProgress {
  private struct Step {
    var name = ""
    var count = 0
    var total = 0
    var started = ContinuousClock.now
    var shown = ContinuousClock.now
  }

  private let interval: Duration
  /// Prefix of each line.
  private let indentation: String
  private let step = Mutex(Step())

  /// - Parameters:
  /// - interval: minimum time between two lines.
  /// - indentation: prefix of each line.
  package init(interval: Duration = .seconds(5), indentation: String = "") {
    self.interval = interval
    self.indentation = indentation
  }

  /// Begins a step.
  ///
  /// - Parameter total: number of parts of the step.
  package func start(_ name: String, of total: Int) {
    step.withLock { $0 = Step(name: name, total: total) }
    say("\(name): \(total)")
  }

  /// Counts parts of the step as done.
  package func advance(by count: Int) {
    let line = step.withLock { step -> String? in
      step.count += count
      let now = ContinuousClock.now
      guard now - step.shown >= interval, step.count > 0 else { return nil }
      step.shown = now
      let rate = Double(step.count) / ((now - step.started) / .seconds(1))
      let left = Int(Double(step.total - step.count) / rate)
      let speed = rate < 10 ? "" : ", \(Int(rate)) a second"
      return "\(step.name): \(step.count) of \(step.total)\(speed), \(left) s left"
    }
    if let line { say(line) }
  }

  /// Ends the step.
  package func end() {
    let line = step.withLock { step in
      "\(step.name): done in \(Int((ContinuousClock.now - step.started) / .seconds(1))) s"
    }
    say(line)
  }

  /// Writes a line.
  package func say(_ text: String) {
    var line = "\(indentation)\(text)\n"
    // A failed write is ignored: the lines are only for people.
    line.withUTF8 { bytes in _ = write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
  }
}
