import Cryptography
import DequeModule
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

  var waitingReads = Deque<PendingExchange>()
  var waitingSessions = Deque<WaitingSession>()
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

extension PoolLoop {
  /// Closes connections on which an answer is late.
  func expireConnections(at now: ContinuousClock.Instant) {
    for connection in connections where connection.hasExpired(at: now) {
      drop(
        connection,
        because: PostgresFailure(
          .connectionLost, "the connection was closed, as an answer on it was late",
          wasSent: true))
    }
  }

  /// Answers those who have waited for a connection long enough.
  func expireWaiting(at now: ContinuousClock.Instant) {
    guard let earliest = earliestWait, earliest <= now else { return }
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
    earliestWait = nil
    for pending in waitingReads { consider(pending.exchange.deadline) }
    for waiting in waitingSessions { consider(waiting.request.deadline) }
  }

  /// Answers those whose tasks were cancelled. What was sent stays, and its answer is dropped.
  func withdrawCancelled() {
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
    // Each flag is read once: it may be set meanwhile.
    var waitingOn = Deque<WaitingSession>()
    for waiting in waitingSessions {
      if waiting.request.isCancelled {
        waiting.answer(.failure(Self.cancelledWait))
      } else {
        waitingOn.append(waiting)
      }
    }
    waitingSessions = waitingOn
  }

  /// How long to wait for sockets and messages, in milliseconds; negative: without limit.
  func timeout(at now: ContinuousClock.Instant) -> Int32 {
    var next = earliestWait
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
      // One that is due already waits for its turn to connect, which the end of another attempt
      // gives it: to wake for it would be to wake without end.
      if let event = listener.nextEvent(limits), event > now { consider(event) }
    }
    consider(retryAt)
    consider(closing?.deadline)
    guard let next else { return -1 }
    return now.duration(to: next).wholeMilliseconds
  }

  private func consider(_ deadline: ContinuousClock.Instant) {
    earliestWait = earliestWait.map { min($0, deadline) } ?? deadline
  }

  private func waitFailure(of role: ConnectionRole) -> PostgresFailure {
    if connections.contains(where: { $0.role == role && !$0.isRetiring }) {
      return PostgresFailure(.poolTimedOut, "all connections to the database were busy")
    }
    return lastRefusal
      ?? PostgresFailure(.cannotConnect, "a connection to the database was not made in time")
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

  /// Whether it was asked to close, and nobody is busy or may be any longer.
  func isClosed(at now: ContinuousClock.Instant) -> Bool {
    guard let closing else { return false }
    return closing.deadline <= now
      || leases.isEmpty && waitingReads.isEmpty && connections.allSatisfy(\.isIdle)
  }

  /// Closes everything, and answers everybody.
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

/// A pool that is being closed.
struct PoolClosing {
  let deadline: ContinuousClock.Instant
  var continuations: [UnsafeContinuation<Void, Never>] = []
}

extension Duration {
  /// Rounded up, and bounded: what `poll` and the server's settings take.
  var wholeMilliseconds: Int32 {
    let (seconds, attoseconds) = components
    guard seconds < 2_000_000 else { return 2_000_000_000 }
    guard self > .zero else { return 0 }
    return Int32(seconds * 1_000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
  }
}
