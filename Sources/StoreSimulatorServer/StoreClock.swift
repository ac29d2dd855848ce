package import EntitlementDomain
import StoreSimulator

/// The virtual time of a simulated App Store: it runs with the real one, faster or not at all, and
/// can be set forward by hand. It never goes back.
package struct StoreClock: Sendable {
  /// Virtual milliseconds in a real one; 0: it stands still.
  package private(set) var speed: Double
  /// Whether it is the system's clock, which cannot be set.
  package let isReal: Bool
  /// Grows with each change by hand.
  package private(set) var revision = 1
  private var base: Milliseconds
  private var begun: Milliseconds

  /// The highest speed: a year in half a minute.
  package static let maximumSpeed = 1_000_000.0

  /// - Parameters:
  ///   - start: the virtual time now; nil for a real clock.
  ///   - real: the real time now.
  package init(start: Milliseconds?, speed: Double, real: Milliseconds) {
    isReal = start == nil
    self.speed = isReal ? 1 : speed
    base = start ?? real
    begun = real
  }

  /// The virtual time, at most the end of ``SimulatedCalendar/range``.
  ///
  /// - Parameter real: the real time now.
  package func now(real: Milliseconds) -> Milliseconds {
    let end = SimulatedCalendar.range.upperBound
    if isReal { return min(max(base, real), end) }
    let elapsed = max(0, real.rawValue - begun.rawValue)
    return min(base.advanced(by: Int64(min(Double(elapsed) * speed, 1e15))), end)
  }

  /// Sets it forward. An earlier moment changes nothing.
  package mutating func set(_ moment: Milliseconds, real: Milliseconds) {
    guard moment > now(real: real) else { return }
    base = moment
    begun = real
    revision += 1
  }

  /// Changes the speed from now on.
  package mutating func set(speed: Double, real: Milliseconds) {
    base = now(real: real)
    begun = real
    self.speed = speed
    revision += 1
  }
}
