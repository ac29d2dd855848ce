/// How use cases measure time and wait: by a clock that never jumps, which tests turn by hand.
package struct ServiceTimer: Sendable {
  /// The time since a moment that stays the same as long as the process lives.
  package let now: @Sendable () -> Duration
  /// Throws `CancellationError` when the task is cancelled meanwhile.
  package let sleep: @Sendable (Duration) async throws -> Void

  package init(
    now: @escaping @Sendable () -> Duration,
    sleep: @escaping @Sendable (Duration) async throws -> Void
  ) {
    self.now = now
    self.sleep = sleep
  }

  /// The system's clock.
  package static let system: ServiceTimer = {
    let start = ContinuousClock.now
    return ServiceTimer(
      now: { start.duration(to: .now) },
      sleep: { try await Task.sleep(for: $0, clock: .continuous) })
  }()
}
