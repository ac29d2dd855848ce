import Foundation
import Locks
import Logging

/// Connections to one database. Reading connections are shared: exchanges of many callers are
/// pipelined on them. Sessions are leased to one caller at a time, for transactions.
///
/// One thread owns all connections and polls their sockets; it never blocks otherwise. Connections
/// are made on a separate queue, at their first use and after a loss.
final class PostgresPool: Sendable {
  private let mailbox: PoolMailbox
  private let publishedStatistics: PublishedPoolStatistics
  let limits: PostgresPoolLimits

  /// Starts the pool's thread. Connections are made later.
  ///
  /// - Throws: ``PostgresFailure/Kind/cannotConnect`` when the process is out of file descriptors.
  init(_ configuration: PostgresPoolConfiguration) throws(PostgresFailure) {
    let mailbox = try PoolMailbox()
    let publishedStatistics = PublishedPoolStatistics()
    self.mailbox = mailbox
    self.publishedStatistics = publishedStatistics
    limits = configuration.limits
    let thread = Thread {
      PoolLoop(configuration, mailbox: mailbox, statistics: publishedStatistics).run()
    }
    thread.name = "postgres"
    thread.start()
  }

  deinit { mailbox.post(.closeWanted(nil)) }

  var statistics: PostgresPoolStatistics { publishedStatistics.current }

  /// Runs read-only commands on a shared connection, in one round trip. Each command has its own
  /// snapshot. After a lost connection the commands may run a second time.
  ///
  /// - Parameter limit: for the wait for a connection and the answer together.
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

  /// Leases a connection to `body`. A transaction that is open when the body ends is rolled back.
  ///
  /// - Parameter limit: for the wait for a session. The body limits its exchanges itself.
  /// - Throws: ``PostgresFailure`` when no session is available; else what the body throws.
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

  /// Makes a listener with a connection of its own.
  func listener(on channel: String) -> PostgresListener {
    PostgresListener(channel: channel, mailbox: mailbox)
  }

  /// Refuses new and waiting calls, waits up to ``PostgresPoolLimits/closeTimeout`` for exchanges
  /// in flight, and closes all connections.
  func close() async {
    await withUnsafeContinuation { mailbox.post(.closeWanted($0)) }
  }
}

/// A leased connection, valid while the body of ``PostgresPool/withSession(within:_:)`` runs. After
/// the connection is lost, every exchange fails.
final class PostgresSession: Sendable {
  private let identifier: Int
  private let mailbox: PoolMailbox

  init(identifier: Int, mailbox: PoolMailbox) {
    self.identifier = identifier
    self.mailbox = mailbox
  }

  /// Sends commands in one round trip. The first failure ends the exchange; later commands are not
  /// run. Outside a transaction, the commands of one exchange form a transaction.
  ///
  /// When the task is cancelled before the commands are sent, nothing is sent. Later the answer is
  /// awaited and returned, because a caller must learn the outcome of a commit.
  ///
  /// - Parameter limit: the connection is closed when it passes.
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

/// The server and the settings of a pool.
struct PostgresPoolConfiguration: Sendable {
  enum Target: Sendable {
    /// Servers that accept writes. After a failover, the new primary is looked for.
    case primary
    /// Any server in the connection string.
    case any
  }

  var connection: PostgresConnectionString
  var target: Target
  /// The `application_name` in `pg_stat_activity`, unless the string sets it.
  var applicationName: String
  var limits: PostgresPoolLimits
  var logger: Logger

  init(
    connection: PostgresConnectionString, target: Target = .primary,
    applicationName: String = "entitled", limits: PostgresPoolLimits = PostgresPoolLimits(),
    logger: Logger
  ) {
    self.connection = connection
    self.target = target
    self.applicationName = applicationName
    self.limits = limits
    self.logger = logger
  }
}

/// The limits of a pool.
struct PostgresPoolLimits: Sendable {
  /// Connections shared by the reads of many callers.
  var readingConnections = 4
  /// Exchanges in flight on one reading connection: while the server runs one, the next has
  /// arrived. More would wait in the server, where they cannot be cancelled.
  var pipelineDepth = 2
  /// Connections for transactions, each leased to one caller at a time.
  var sessions = 4
  /// Reads waiting for a connection. Further reads are refused at once.
  var waitingReads = 8_192
  /// Callers waiting for a session. Further callers are refused at once.
  var waitingSessions = 1_024
  /// Concurrent attempts to connect. Each may block a thread for ``connectTimeout``.
  var simultaneousConnects = 4
  /// For each address of each host, unless the connection string sets it. libpq's minimum is two
  /// seconds.
  var connectTimeout = Duration.seconds(5)
  /// The server's `statement_timeout`.
  var statementTimeout = Duration.seconds(10)
  /// The server's `lock_timeout`.
  var lockTimeout = Duration.seconds(5)
  /// The server's `idle_in_transaction_session_timeout`, which releases the locks of a silent
  /// client.
  var idleTransactionTimeout = Duration.seconds(10)
  /// How long the kernel waits for an acknowledgement on a TCP connection before it closes it.
  var tcpUserTimeout = Duration.seconds(10)
  /// Age at which an idle connection is replaced, so that a load balancer can redistribute
  /// connections; nil for no limit.
  var maximumAge: Duration?
  /// Upper bound of the backoff after the first failure to connect. It doubles with each further
  /// failure.
  var firstBackoff = Duration.milliseconds(50)
  /// Limit of the bound of the backoff.
  var longestBackoff = Duration.seconds(5)
  /// Time limit of the rollback when a session is returned within a transaction.
  var rollbackTimeout = Duration.seconds(2)
  /// How long ``PostgresPool/close()`` waits for exchanges in flight.
  var closeTimeout = Duration.seconds(5)
  /// Idle time of a listening connection before a keepalive query is sent.
  var keepaliveInterval = Duration.seconds(10)
  /// Time limit of `LISTEN`, `NOTIFY` and the keepalive query.
  var listenerTimeout = Duration.seconds(5)
}

/// Current state of a pool, and its counters since it was started.
struct PostgresPoolStatistics: Hashable, Sendable {
  var readingConnections = 0
  var sessions = 0
  /// Leased sessions.
  var sessionsInUse = 0
  /// Reads in flight.
  var readsInFlight = 0
  var waitingReads = 0
  var waitingSessions = 0

  /// Reads answered by rows or by an error of the server.
  var exchanges = 0
  /// Connections made.
  var connects = 0
  var failedConnects = 0
  /// Connections that the pool did not close itself.
  var lostConnections = 0
  /// Exchanges that timed out after they were sent.
  var timeouts = 0
  /// Calls that timed out while waiting for a connection.
  var waitTimeouts = 0
  /// Calls refused because too many were waiting.
  var rejected = 0
  /// Reads sent again on another connection.
  var retriedReads = 0
  /// The first error of the server that says that its data or an index is damaged.
  var damage: SQLState?
}

/// The latest statistics, published by the pool's thread.
final class PublishedPoolStatistics: Sendable {
  private let state = LockedValue(PostgresPoolStatistics())

  var current: PostgresPoolStatistics {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}
