/// A connection of one's own, for as long as the body of
/// ``PostgresPool/withSession(within:_:)`` runs. Once it was lost, every exchange fails.
final class PostgresSession: Sendable {
  private let identifier: Int
  private let mailbox: PoolMailbox

  init(identifier: Int, mailbox: PoolMailbox) {
    self.identifier = identifier
    self.mailbox = mailbox
  }

  /// Sends commands in one round trip. The first that fails ends the exchange: those after it are
  /// not run. Outside a transaction, the commands of one exchange are a transaction by themselves.
  ///
  /// When the task is cancelled before they leave, nothing is sent. Afterwards the answer is waited
  /// for and returned: a commit's fate is worth to be known.
  ///
  /// - Parameter limit: when it passes, the connection is closed.
  /// - Returns: the rows of each command.
  func exchange(
    _ commands: [PostgresCommand], within limit: Duration
  ) async throws(PostgresFailure) -> [PostgresRows] {
    let exchange = try PostgresExchange(commands, within: limit)
    return try await withTaskCancellationHandler {
      await withUnsafeContinuation {
        mailbox.post(.sessionExchange(identifier, exchange, $0))
      }
    } onCancel: {
      exchange.cancel()
    }.get()
  }
}
