import Glibc

/// How use cases measure time and wait: by a clock that never jumps, which tests turn by hand.
package struct ServiceTimer: Sendable {
  /// The time since a moment that stays the same as long as the process lives, in nanoseconds: reads of
  /// what is in memory look at it, and those of `Duration` cost more than a look-up.
  let nanoseconds: @Sendable () -> Int64
  /// Throws `CancellationError` when the task is cancelled meanwhile.
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

  /// The system's clock, which goes on while the machine is suspended.
  package static let system = ServiceTimer(
    nanoseconds: {
      var time = timespec()
      clock_gettime(CLOCK_BOOTTIME, &time)
      return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    },
    sleep: { try await Task.sleep(for: $0, clock: .continuous) })
}
