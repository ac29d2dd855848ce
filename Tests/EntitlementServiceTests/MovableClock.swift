import EntitlementDomain
import EntitlementService
import Synchronization

/// A clock that the test sets.
final class MovableClock: Sendable {
  private let now: Mutex<Milliseconds>

  init(_ now: Milliseconds = 0) { self.now = Mutex(now) }

  func set(_ moment: Milliseconds) { now.withLock { $0 = moment } }

  var clock: ServiceClock { ServiceClock { self.now.withLock { $0 } } }
}
