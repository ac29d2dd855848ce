import Synchronization

/// What one caller wants to be sent: commands that leave together, and are answered together.
final class PostgresExchange: Sendable {
  let commands: [EncodedCommand]
  let deadline: ContinuousClock.Instant
  /// Set by the caller's task when it is cancelled; what has not left then never will.
  private let cancellation = Atomic<Bool>(false)

  /// - Throws: ``PostgresFailure/Kind/protocolViolation`` for a command that is too large, and where
  ///   there is none.
  init(_ commands: [PostgresCommand], within limit: Duration) throws(PostgresFailure) {
    if commands.isEmpty { throw PostgresFailure(.protocolViolation, "there is nothing to ask") }
    var encoded: [EncodedCommand] = []
    encoded.reserveCapacity(commands.count)
    for command in commands { encoded.append(try EncodedCommand(command)) }
    self.commands = encoded
    deadline = .now + limit
  }

  var isCancelled: Bool { cancellation.load(ordering: .relaxed) }

  func cancel() { cancellation.store(true, ordering: .relaxed) }
}
