import Cryptography
import Foundation
import Logging

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

/// What a pool connects to, and how.
struct PostgresPoolConfiguration: Sendable {
  enum Target: Sendable {
    /// Servers that accept writes: after a failover, the new primary is looked for.
    case primary
    /// Any server that the string names.
    case any
  }

  var connection: PostgresConnectionString
  var target: Target
  /// How the server's `pg_stat_activity` names the connections, unless the string says so.
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

/// Everything that a pool bounds.
struct PostgresPoolLimits: Sendable {
  /// Connections that many callers' reads share.
  var readingConnections = 4
  /// Exchanges in flight on one reading connection: while the server works on one, the next is
  /// there already. More would wait in the server instead of here, where they can still be withdrawn.
  var pipelineDepth = 2
  /// Connections that one caller has to itself, for transactions.
  var sessions = 4
  /// Reads that wait for a place; more are turned away at once.
  var waitingReads = 8_192
  /// Callers that wait for a session; more are turned away at once.
  var waitingSessions = 1_024
  /// Connections that are being made at once: each may block a thread for
  /// ``connectTimeout``.
  var simultaneousConnects = 4
  /// For each address of each host, unless the connection string says otherwise. At least two
  /// seconds, which is libpq's own minimum.
  var connectTimeout = Duration.seconds(5)
  /// After this long the server itself ends a statement.
  var statementTimeout = Duration.seconds(10)
  /// After this long the server gives up waiting for a lock.
  var lockTimeout = Duration.seconds(5)
  /// After this long the server ends a transaction whose client is silent, so that its locks go.
  var idleTransactionTimeout = Duration.seconds(10)
  /// After this long without an acknowledgement the kernel gives a TCP connection up.
  var tcpUserTimeout = Duration.seconds(10)
  /// A connection that is older is replaced when it is idle; nil: never. It lets a load balancer
  /// spread connections anew.
  var maximumAge: Duration?
  /// The wait after the first failure to connect is below this; it doubles with each further one.
  var firstBackoff = Duration.milliseconds(50)
  /// No wait between attempts is longer.
  var longestBackoff = Duration.seconds(5)
  /// How long a session that comes back amid a transaction may take to roll back.
  var rollbackTimeout = Duration.seconds(2)
  /// How long ``PostgresPool/close()`` waits for those who are busy.
  var closeTimeout = Duration.seconds(5)
  /// How long a listening connection may be silent before it is asked whether it lives.
  var keepaliveInterval = Duration.seconds(10)
  /// How long `LISTEN`, `NOTIFY` and the question whether it lives may take.
  var listenerTimeout = Duration.seconds(5)
}

/// What a pool is doing, and has done since it began.
struct PostgresPoolStatistics: Hashable, Sendable {
  var readingConnections = 0
  var sessions = 0
  /// Sessions that somebody has.
  var sessionsInUse = 0
  /// Reads that are on their way.
  var readsInFlight = 0
  var waitingReads = 0
  var waitingSessions = 0

  /// Reads that were answered, by rows or by a refusal of the server.
  var exchanges = 0
  /// Connections that were made.
  var connects = 0
  var failedConnects = 0
  /// Connections that ended without this program's will.
  var lostConnections = 0
  /// Exchanges whose time was up when they had been sent.
  var timeouts = 0
  /// Calls whose time was up before there was a connection for them.
  var waitTimeouts = 0
  /// Calls that were turned away as too many waited.
  var turnedAway = 0
  /// Reads that were sent again on another connection.
  var retriedReads = 0
}

/// The pool's figures, as its thread last told them.
final class PoolStatisticsHolder: Sendable {
  private let state = Guarded(PostgresPoolStatistics())

  var current: PostgresPoolStatistics {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}
