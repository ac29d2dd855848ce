package import EntitlementDomain
import Foundation

/// Where the use cases read the time; evaluation itself takes it as an argument (R1).
package struct ServiceClock: Sendable {
  package let now: @Sendable () -> Milliseconds

  package init(now: @escaping @Sendable () -> Milliseconds) {
    self.now = now
  }

  /// The system's clock.
  package static let system = ServiceClock {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Milliseconds(Int64(time.tv_sec) * 1_000 + Int64(time.tv_nsec) / 1_000_000)
  }
}
