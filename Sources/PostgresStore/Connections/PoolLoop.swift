import DequeModule
import Dispatch
import Glibc
import Logging

/// The event loop of the pool's thread. It owns all connections, takes messages from the mailbox,
/// polls all sockets together, and answers callers. No other thread accesses its state.
final class PoolLoop {
  let limits: PostgresPoolLimits
  let logger: Logger
  let mailbox: PoolMailbox
  let connector: PostgresConnector
  let publishedStatistics: PublishedPoolStatistics
  private var pollSet: [pollfd] = []

  var statistics = PostgresPoolStatistics()
  var connections: [PostgresConnection] = []
  /// Incremented by a failover. Connections of earlier generations are not used any more.
  var generation = 0

  var waitingReads = Deque<PendingExchange>()
  var waitingSessions = Deque<WaitingSession>()
  /// A lower bound of the deadlines of all waiting reads and sessions.
  var earliestWaitDeadline: ContinuousClock.Instant?
  /// Whether a waiting or sent exchange may have been cancelled.
  var hasCancelled = false

  /// Sessions that are not leased. The last used one is leased first, so that unused ones can
  /// expire.
  var idleSessions: [PostgresConnection] = []
  /// Leased sessions by number. The connection is nil after it was lost.
  var leases: [Int: SessionLease] = [:]
  var lastLease = 0

  var connectAttempts: Set<ConnectAttempt> = []
  var lastAttemptNumber = 0
  var backoff: PostgresBackoff
  var random = SystemRandomNumberGenerator()
  /// The earliest moment for the next attempt to connect.
  var retryAt: ContinuousClock.Instant?
  /// The failure of the last attempt to connect; nil after a success.
  var lastConnectFailure: PostgresFailure?
  let connectQueue = DispatchQueue(label: "postgres connecting", attributes: .concurrent)

  var listeners: [ObjectIdentifier: ListenerState] = [:]
  var closing: PoolClosing?

  init(
    _ configuration: PostgresPoolConfiguration, mailbox: PoolMailbox,
    statistics publishedStatistics: PublishedPoolStatistics
  ) {
    limits = configuration.limits
    logger = configuration.logger
    connector = PostgresConnector(configuration)
    self.mailbox = mailbox
    self.publishedStatistics = publishedStatistics
    backoff = PostgresBackoff(first: limits.firstBackoff, longest: limits.longestBackoff)
  }

  /// Runs until the pool is closed.
  func run() {
    blockBrokenPipes()
    while true {
      let isDrained = takeMessages()
      serve(at: .now)
      publishedStatistics.current = statistics
      if isClosed(at: .now) { break }
      wait(isDrained ? timeout(at: .now) : 0)
    }
    finish()
    publishedStatistics.current = statistics
  }

  /// - Returns: whether the mailbox is empty; then the next message wakes `poll`.
  private func takeMessages() -> Bool {
    // Bounded, so that a steady flow of messages does not starve the sockets.
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
    case .connected(let attempt, let outcome):
      connected(attempt, outcome)
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

  /// Does everything that deadlines and free capacity allow.
  private func serve(at now: ContinuousClock.Instant) {
    if hasCancelled { removeCancelled() }
    expireConnections(at: now)
    expireWaiting(at: now)
    retireIdle(at: now)
    dispatchReads()
    grantSessions()
    serveListeners(at: now)
    connectWhereWanted(at: now)
    updateStatistics()
  }

  private func wait(_ milliseconds: Int32) {
    pollSet.removeAll(keepingCapacity: true)
    pollSet.append(pollfd(fd: mailbox.descriptor, events: Int16(POLLIN), revents: 0))
    let polled = connections
    for connection in polled {
      let events = connection.hasUnsent ? POLLIN | POLLOUT : POLLIN
      pollSet.append(pollfd(fd: connection.socket, events: Int16(events), revents: 0))
    }
    // A `poll` that a signal interrupted counts as finished.
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

  /// libpq blocks SIGPIPE only where the kernel supports it, so the thread blocks it too.
  private func blockBrokenPipes() {
    var signals = sigset_t()
    sigemptyset(&signals)
    sigaddset(&signals, SIGPIPE)
    pthread_sigmask(SIG_BLOCK, &signals, nil)
  }

  private func updateStatistics() {
    statistics.readingConnections = connections.count { $0.role == .reading }
    statistics.sessions = connections.count { $0.role == .session }
    statistics.sessionsInUse = leases.count
    statistics.readsInFlight =
      connections.reduce(0) { $0 + ($1.role == .reading ? $1.exchangesInFlight : 0) }
    statistics.waitingReads = waitingReads.count
    statistics.waitingSessions = waitingSessions.count
  }
}

extension PoolLoop {
  /// Closes connections with an exchange past its deadline.
  func expireConnections(at now: ContinuousClock.Instant) {
    for connection in connections where connection.hasExpired(at: now) {
      drop(
        connection,
        because: PostgresFailure(
          .connectionLost, "the connection was closed because a response timed out",
          wasSent: true))
    }
  }

  /// Fails waiting reads and sessions past their deadline.
  func expireWaiting(at now: ContinuousClock.Instant) {
    guard let earliest = earliestWaitDeadline, earliest <= now else { return }
    for pending in waitingReads where pending.exchange.deadline <= now && !pending.isAnswered {
      statistics.waitTimeouts += 1
      pending.fail(waitFailure(of: .reading).sent(pending.attempts > 0))
    }
    waitingReads.removeAll { $0.exchange.deadline <= now }
    for waiting in waitingSessions where waiting.request.deadline <= now {
      statistics.waitTimeouts += 1
      waiting.answer(.failure(waitFailure(of: .session)))
    }
    waitingSessions.removeAll { $0.request.deadline <= now }
    earliestWaitDeadline = nil
    for pending in waitingReads { consider(pending.exchange.deadline) }
    for waiting in waitingSessions { consider(waiting.request.deadline) }
  }

  /// Fails exchanges of cancelled tasks. The answer of an exchange that was sent is dropped.
  func removeCancelled() {
    hasCancelled = false
    for pending in waitingReads where pending.exchange.isCancelled {
      pending.fail(
        PostgresFailure(.cancelled, "the read was cancelled", wasSent: pending.attempts > 0))
    }
    waitingReads.removeAll(where: \.isAnswered)
    for connection in connections where connection.role == .reading {
      connection.forEachExchange { pending in
        guard pending.exchange.isCancelled else { return }
        pending.fail(PostgresFailure(.cancelled, "the read was cancelled", wasSent: true))
      }
    }
    // Each flag is read once, because it may be set concurrently.
    var remaining = Deque<WaitingSession>()
    for waiting in waitingSessions {
      if waiting.request.isCancelled {
        waiting.answer(.failure(Self.cancelledWait))
      } else {
        remaining.append(waiting)
      }
    }
    waitingSessions = remaining
  }

  /// The timeout of `poll` in milliseconds; negative for none.
  func timeout(at now: ContinuousClock.Instant) -> Int32 {
    var next = earliestWaitDeadline
    func consider(_ instant: ContinuousClock.Instant?) {
      guard let instant else { return }
      next = next.map { min($0, instant) } ?? instant
    }
    for connection in connections {
      consider(connection.earliestDeadline)
      if let age = limits.maximumAge, connection.isIdle, !connection.isRetiring {
        consider(connection.openedAt + age)
      }
    }
    for listener in listeners.values {
      // An overdue listener waits for an attempt to connect to end, which wakes the loop. A timeout
      // for it would be a busy loop.
      if let event = listener.nextEvent(limits), event > now { consider(event) }
    }
    consider(retryAt)
    consider(closing?.deadline)
    guard let next else { return -1 }
    return now.duration(to: next).settingMilliseconds
  }

  private func consider(_ deadline: ContinuousClock.Instant) {
    earliestWaitDeadline = earliestWaitDeadline.map { min($0, deadline) } ?? deadline
  }

  private func waitFailure(of role: ConnectionRole) -> PostgresFailure {
    if connections.contains(where: { $0.role == role && !$0.isRetiring }) {
      return PostgresFailure(.poolTimedOut, "no connection to the database became free in time")
    }
    return lastConnectFailure
      ?? PostgresFailure(.cannotConnect, "connecting to the database timed out")
  }
}

extension PoolLoop {
  func closeWanted(_ continuation: UnsafeContinuation<Void, Never>?) {
    if closing == nil {
      closing = PoolClosing(deadline: .now + limits.closeTimeout)
      refuseWaiting()
      for listener in listeners.values { listenerRemoved(listener.handle) }
    }
    if let continuation { closing?.continuations.append(continuation) }
  }

  /// Whether closing was requested, and all work has ended or the close timeout has passed.
  func isClosed(at now: ContinuousClock.Instant) -> Bool {
    guard let closing else { return false }
    return closing.deadline <= now
      || leases.isEmpty && waitingReads.isEmpty && connections.allSatisfy(\.isIdle)
  }

  /// Closes all connections and fails all waiting calls.
  func finish() {
    let failure = PostgresFailure(.closed, "the pool was closed", wasSent: true)
    for connection in connections { drop(connection, because: failure) }
    refuseWaiting()
    leases = [:]
    mailbox.finish()
    for continuation in closing?.continuations ?? [] { continuation.resume() }
    closing?.continuations = []
  }

  private func refuseWaiting() {
    let failure = PostgresFailure(.closed, "the pool is closed")
    for pending in waitingReads { pending.fail(failure.sent(pending.attempts > 0)) }
    waitingReads = []
    for waiting in waitingSessions { waiting.answer(.failure(failure)) }
    waitingSessions = []
  }
}

/// A pool that is closing.
struct PoolClosing {
  let deadline: ContinuousClock.Instant
  var continuations: [UnsafeContinuation<Void, Never>] = []
}

extension Duration {
  /// Rounded up and bounded to the range of `poll` and of server settings.
  var settingMilliseconds: Int32 {
    let (seconds, attoseconds) = components
    guard seconds < 2_000_000 else { return 2_000_000_000 }
    guard self > .zero else { return 0 }
    return Int32(seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}
