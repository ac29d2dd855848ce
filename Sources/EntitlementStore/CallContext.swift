package import Workers

/// What a store needs to know of the call that the current task serves, without a parameter of each
/// method.
///
/// A store bounds its writes by the time of the call, so that verification, reads before the write,
/// the wait for a transaction and the transaction share one limit. Writes take turns by the source.
///
/// A task that serves no call has none. Its writes are bounded from their own beginning, and are the
/// server's own.
package struct CallContext: Sendable {
  package let began: ContinuousClock.Instant
  /// Nil: the caller set none.
  package let deadline: ContinuousClock.Instant?
  /// Where the call comes from.
  package let source: WorkSource
  /// Who makes the call: the author of what it changes.
  package let caller: AuditCaller

  package init(
    began: ContinuousClock.Instant = .now, deadline: ContinuousClock.Instant?,
    source: WorkSource = .server, caller: AuditCaller = .server
  ) {
    self.began = began
    self.deadline = deadline
    self.source = source
    self.caller = caller
  }

  @TaskLocal package static var current: CallContext?

  /// The source of the current call, or else the server.
  package static var source: WorkSource { current?.source ?? .server }

  /// The caller of the current call, or else the server.
  package static var caller: AuditCaller { current?.caller ?? .server }

  /// The moment by which a write of the current call must be answered: `limit` after the beginning
  /// of the call, or the caller's deadline if it is earlier.
  package static func writeDeadline(within limit: Duration) -> ContinuousClock.Instant {
    let call = current
    let latest = (call?.began ?? .now) + limit
    return call?.deadline.map { min($0, latest) } ?? latest
  }
}
