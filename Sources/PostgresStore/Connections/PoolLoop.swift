import Cryptography
import Dispatch
import Glibc
import Logging

/// The pool's thread: it owns all connections, sends what the mailbox brings, waits for all sockets
/// together, and answers. Nothing in it is seen by another thread.
final class PoolLoop {
  let limits: PostgresPoolLimits
  let logger: Logger
  let mailbox: PoolMailbox
  let connector: PostgresConnector
  private let holder: PoolStatisticsHolder
  private var pollSet: [pollfd] = []

  var statistics = PostgresPoolStatistics()
  var connections: [PostgresConnection] = []
  /// Told apart from those before a failover: they are not used any more.
  var generation = 0

  var waitingReads = FirstInFirstOut<PendingExchange>()
  var waitingSessions = FirstInFirstOut<WaitingSession>()
  /// No deadline of those who wait is earlier.
  var earliestWait: ContinuousClock.Instant?
  /// Whether some of those who wait, or are on their way, have been cancelled.
  var hasCancelled = false

  /// Sessions that nobody has. The last used goes first: the others may grow old.
  var idleSessions: [PostgresConnection] = []
  /// Sessions by number; without a connection once that was lost.
  var leases: [Int: SessionLease] = [:]
  var lastLease = 0

  var tickets: Set<ConnectTicket> = []
  var lastTicket = 0
  var backoff: PostgresBackoff
  var random = SystemRandomNumberGenerator()
  /// No attempt to connect before this.
  var retryAt: ContinuousClock.Instant?
  /// Why the last attempt failed; nil after one that did not.
  var lastRefusal: PostgresFailure?
  let connectQueue = DispatchQueue(label: "postgres connecting", attributes: .concurrent)

  var listeners: [ObjectIdentifier: ListenerState] = [:]
  var closing: PoolClosing?

  init(
    _ configuration: PostgresPoolConfiguration, mailbox: PoolMailbox,
    statistics holder: PoolStatisticsHolder
  ) {
    limits = configuration.limits
    logger = configuration.logger
    connector = PostgresConnector(configuration)
    self.mailbox = mailbox
    self.holder = holder
    backoff = PostgresBackoff(first: limits.firstBackoff, longest: limits.longestBackoff)
  }

  /// Serves until the pool is closed.
  func run() {
    blockBrokenPipes()
    while true {
      let isDrained = takeMessages()
      serve(at: .now)
      holder.current = statistics
      if isClosed(at: .now) { break }
      wait(isDrained ? timeout(at: .now) : 0)
    }
    finish()
    holder.current = statistics
  }

  /// - Returns: whether none is left. Then the next one ends the wait.
  private func takeMessages() -> Bool {
    // Those who post without end must not keep the thread from the sockets.
    for _ in 0..<4 {
      let messages = mailbox.take()
      if messages.isEmpty { return true }
      for message in messages { act(on: message) }
    }
    return false
  }

  private func act(on message: PoolMessage) {
    switch message {
    case .read(let exchange, let continuation):
      readWanted(PendingExchange(exchange, continuation: continuation))
    case .somethingCancelled:
      hasCancelled = true
    case .sessionWanted(let request, let continuation):
      sessionWanted(WaitingSession(request, continuation: continuation))
    case .sessionReleased(let number):
      sessionReleased(number)
    case .sessionExchange(let number, let exchange, let continuation):
      sessionExchangeWanted(number, PendingExchange(exchange, continuation: continuation))
    case .connected(let ticket, let outcome):
      connected(ticket, outcome)
    case .listenerAdded(let handle):
      listenerAdded(handle)
    case .listenerRemoved(let handle):
      listenerRemoved(handle)
    case .announcementWanted(let handle):
      announcementWanted(handle)
    case .closeWanted(let continuation):
      closeWanted(continuation)
    }
  }

  /// Everything that time and free places allow.
  private func serve(at now: ContinuousClock.Instant) {
    if hasCancelled { withdrawCancelled() }
    expireConnections(at: now)
    expireWaiting(at: now)
    retireIdle(at: now)
    dispatchReads()
    grantSessions()
    serveListeners(at: now)
    connectWhereWanted(at: now)
    count()
  }

  private func wait(_ milliseconds: Int32) {
    pollSet.removeAll(keepingCapacity: true)
    pollSet.append(pollfd(fd: mailbox.descriptor, events: Int16(POLLIN), revents: 0))
    let polled = connections
    for connection in polled {
      let events = connection.hasUnsent ? POLLIN | POLLOUT : POLLIN
      pollSet.append(pollfd(fd: connection.socket, events: Int16(events), revents: 0))
    }
    // An interrupted wait is as good as one that is over.
    guard poll(&pollSet, nfds_t(pollSet.count), milliseconds) > 0 else { return }
    if pollSet[0].revents != 0 { mailbox.acknowledge() }
    for (index, connection) in polled.enumerated() {
      let events = Int32(pollSet[index + 1].revents)
      guard events != 0 else { continue }
      transfer(connection, events)
    }
  }

  private func transfer(_ connection: PostgresConnection, _ events: Int32) {
    do throws(PostgresFailure) {
      if events & POLLOUT != 0 { try connection.flush() }
      guard events & ~POLLOUT != 0 else { return }
      let wasNotified = try connection.receive { pending, outcome in
        answer(pending, outcome, on: connection)
      }
      if wasNotified { notified(connection) }
    } catch {
      drop(connection, because: error)
    }
  }

  /// libpq keeps broken pipes from the process where the kernel lets it; this holds everywhere.
  private func blockBrokenPipes() {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  private func count() {
    statistics.readingConnections = connections.count { $0.role == .reading }
    statistics.sessions = connections.count { $0.role == .session }
    statistics.sessionsInUse = leases.count
    statistics.readsInFlight =
      connections.reduce(0) { $0 + ($1.role == .reading ? $1.exchangesInFlight : 0) }
    statistics.waitingReads = waitingReads.count
    statistics.waitingSessions = waitingSessions.count
  }
}
