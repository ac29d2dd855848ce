/// When the call that the current task serves began, and the deadline that its caller set. A store
/// bounds its writes by it, so that verification, reads before the write, the wait for a transaction
/// and the transaction share one limit.
///
/// A task that serves no call has none, and its writes are bounded from their own beginning.
package struct CallTime: Sendable {
  package let began: ContinuousClock.Instant
  /// Nil: the caller set none.
  package let deadline: ContinuousClock.Instant?

  package init(began: ContinuousClock.Instant = .now, deadline: ContinuousClock.Instant?) {
    self.began = began
    self.deadline = deadline
  }

  @TaskLocal package static var current: CallTime?

  /// The moment by which a write of the current call must be answered: `limit` after the beginning
  /// of the call, or the caller's deadline if it is earlier.
  package static func writeDeadline(within limit: Duration) -> ContinuousClock.Instant {
    let call = current
    let latest = (call?.began ?? .now) + limit
    return call?.deadline.map { min($0, latest) } ?? latest
  }
}
