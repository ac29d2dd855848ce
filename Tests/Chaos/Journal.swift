import Glibc
import Synchronization

/// Prints events with the time since the start.
final class Journal: Sendable {
  private let start = ContinuousClock.now
  private let lock = Mutex(())

  var elapsed: Duration { ContinuousClock.now - start }

  func tell(_ text: String) {
    let tenths =
      elapsed.components.seconds * 10 + elapsed.components.attoseconds / 100_000_000_000_000_000
    lock.withLock { _ in
      print("[\(Self.padded(tenths))] \(text)")
      fflush(nil)
    }
  }

  private static func padded(_ tenths: Int64) -> String {
    let text = "\(tenths / 10).\(tenths % 10) s"
    return String(repeating: " ", count: max(0, 8 - text.count)) + text
  }
}
