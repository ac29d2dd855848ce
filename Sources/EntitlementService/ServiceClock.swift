package import EntitlementDomain
import Glibc

/// The wall clock of the use cases. Evaluation takes the time as an argument (R1).
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

/// A monotonic clock with a sleep, which tests replace.
package struct ServiceTimer: Sendable {
  /// Nanoseconds since a fixed moment. A plain integer, as arithmetic on `Duration` costs more than
  /// a cache lookup.
  let nanoseconds: @Sendable () -> Int64
  /// Throws `CancellationError` when the task is cancelled.
  package let sleep: @Sendable (Duration) async throws -> Void

  package init(
    nanoseconds: @escaping @Sendable () -> Int64,
    sleep: @escaping @Sendable (Duration) async throws -> Void
  ) {
    self.nanoseconds = nanoseconds
    self.sleep = sleep
  }

  package func now() -> Duration {
    .nanoseconds(nanoseconds())
  }

  /// The system's boot-time clock, which also runs while the machine is suspended.
  package static let system = ServiceTimer(
    nanoseconds: {
      var time = timespec()
      clock_gettime(CLOCK_BOOTTIME, &time)
      return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    },
    sleep: { try await Task.sleep(for: $0, clock: .continuous) })
}
