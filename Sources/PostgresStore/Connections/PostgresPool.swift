import Foundation

/// Connections to one database. Some are shared by many callers' reads, which are in flight on them
/// at once; others are had by one caller at a time, for transactions.
///
/// One thread owns all connections and waits for all of them; nothing that may block runs there.
/// Connections are made on a queue apart, when they are first needed, and again when they were lost.
final class PostgresPool: Sendable {
  private let mailbox: PoolMailbox
  private let shared: PoolStatisticsHolder
  let limits: PostgresPoolLimits

  /// Starts the pool's thread. No connection is made yet.
  ///
  /// - Throws: ``PostgresFailure/Kind/cannotConnect`` when the process has no descriptors left.
  init(_ configuration: PostgresPoolConfiguration) throws(PostgresFailure) {
    let mailbox = try PoolMailbox()
    let shared = PoolStatisticsHolder()
    self.mailbox = mailbox
    self.shared = shared
    limits = configuration.limits
    let thread = Thread {
      PoolLoop(configuration, mailbox: mailbox, statistics: shared).run()
    }
    thread.name = "postgres"
    thread.start()
  }

  deinit { mailbox.post(.closeWanted(nil)) }

  var statistics: PostgresPoolStatistics { shared.current }

  /// Sends commands that only read, in one round trip, on a connection that others use too. Each
  /// command sees its own snapshot. After a lost connection they may run a second time.
  ///
  /// - Parameter limit: for all of it: the wait for a connection, and the answer.
  /// - Returns: the rows of each command.
  func read(
    _ commands: [PostgresCommand], within limit: Duration
  ) async throws(PostgresFailure) -> [PostgresRows] {
    let exchange = try PostgresExchange(commands, within: limit)
    return try await withTaskCancellationHandler {
      await withUnsafeContinuation { mailbox.post(.read(exchange, $0)) }
    } onCancel: {
      exchange.cancel()
      mailbox.post(.somethingCancelled)
    }.get()
  }

  /// Lends a connection that nobody else uses meanwhile. If a transaction is open when the body
  /// ends, it is rolled back.
  ///
  /// - Parameter limit: for the wait for a session. The body bounds its exchanges itself.
  /// - Throws: ``PostgresFailure`` when there is no session; else what the body throws.
  func withSession<Outcome, Failure: Error>(
    within limit: Duration,
    _ body: (PostgresSession) async throws(Failure) -> Outcome
  ) async throws -> Outcome {
    let request = SessionRequest(within: limit)
    let identifier = try await withTaskCancellationHandler {
      await withUnsafeContinuation { mailbox.post(.sessionWanted(request, $0)) }
    } onCancel: {
      request.cancel()
      mailbox.post(.somethingCancelled)
    }.get()
    defer { mailbox.post(.sessionReleased(identifier)) }
    return try await body(PostgresSession(identifier: identifier, mailbox: mailbox))
  }

  /// Hears and makes announcements on a channel, on a connection of its own.
  func listener(on channel: String) -> PostgresListener {
    PostgresListener(channel: channel, mailbox: mailbox)
  }

  /// Refuses new calls and those that wait, lets those that were sent finish for
  /// ``PostgresPoolLimits/closeTimeout``, and closes all connections.
  func close() async {
    await withUnsafeContinuation { mailbox.post(.closeWanted($0)) }
  }
}
