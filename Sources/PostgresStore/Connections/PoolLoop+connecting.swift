import Dispatch
import Logging

extension PoolLoop {
  func connectWhereWanted(at now: ContinuousClock.Instant) {
    if let retryAt, retryAt > now { return }
    retryAt = nil
    while let role = wantedRole(at: now) { connect(role) }
  }

  /// What an attempt to connect has come to.
  func connected(_ ticket: ConnectTicket, _ outcome: Result<OwnedConnection, PostgresFailure>) {
    tickets.remove(ticket)
    switch outcome {
    case .success(let handle):
      statistics.connects += 1
      backoff.succeeded()
      retryAt = nil
      if lastRefusal != nil { logger.notice("connected to the database again") }
      lastRefusal = nil
      guard closing == nil else { return }
      let connection = PostgresConnection(
        handle, role: ticket.role, generation: ticket.generation)
      connection.isRetiring = ticket.generation != generation
      connections.append(connection)
      switch ticket.role {
      case .reading: break
      case .session: idleSessions.append(connection)
      case .listening(let listener): listenerConnected(listener, connection)
      }
    case .failure(let failure):
      statistics.failedConnects += 1
      // The log hears of it when it begins; each further attempt would say the same.
      logger.log(
        level: lastRefusal == nil ? .error : .debug, "cannot connect to the database",
        metadata: ["reason": "\(failure.message)"])
      lastRefusal = failure
      retryAt = .now + backoff.failed(using: &random)
    }
  }

  /// After a failover, or when statements changed: what is connected is used up and replaced.
  func discredit(_ connection: PostgresConnection, _ state: SQLState) {
    guard connection.generation == generation else { return }
    logger.notice(
      "connections to the database are made anew", metadata: ["state": "\(state)"])
    generation += 1
    for connection in connections { connection.isRetiring = true }
  }

  /// Closes a connection, and answers everybody on it.
  ///
  /// - Parameter failure: for those whose time is not up.
  func drop(_ connection: PostgresConnection, because failure: PostgresFailure) {
    forget(connection)
    if closing == nil, failure.kind != .closed {
      statistics.lostConnections += 1
      logger.notice(
        "a connection to the database was closed",
        metadata: ["reason": "\(failure.message)", "role": "\(connection.role)"])
    }
    let now = ContinuousClock.now
    for pending in connection.takeExchanges() where !pending.isAnswered {
      if pending.exchange.deadline <= now {
        statistics.timeouts += 1
        pending.fail(PostgresFailure(.timedOut, "the database did not answer", wasSent: true))
      } else if connection.role == .reading {
        retry(pending, or: failure)
      } else {
        pending.fail(failure)
      }
    }
  }

  /// Closes what is idle and not wanted any more.
  func retireIdle(at now: ContinuousClock.Instant) {
    for connection in connections where connection.isIdle {
      if let age = limits.maximumAge, connection.openedAt + age <= now {
        connection.isRetiring = true
      }
      let isLeased = leases.values.contains { $0.connection === connection }
      if connection.isRetiring, !isLeased { forget(connection) }
    }
  }

  func forget(_ connection: PostgresConnection) {
    connections.removeAll { $0 === connection }
    idleSessions.removeAll { $0 === connection }
    for (number, lease) in leases where lease.connection === connection {
      leases[number] = SessionLease(connection: nil)
    }
    if case .listening(let listener) = connection.role { listenerDisconnected(listener) }
  }

  private func connect(_ role: ConnectionRole) {
    lastTicket += 1
    let ticket = ConnectTicket(number: lastTicket, role: role, generation: generation)
    tickets.insert(ticket)
    connectQueue.async { [connector, mailbox] in
      let outcome = Result { () throws(PostgresFailure) in try connector.connect() }
      mailbox.post(.connected(ticket, outcome))
    }
  }

  /// The next connection to make, if any.
  private func wantedRole(at now: ContinuousClock.Instant) -> ConnectionRole? {
    // While none can be made, one attempt at a time tells whether that has changed.
    guard tickets.count < (lastRefusal == nil ? limits.simultaneousConnects : 1) else {
      return nil
    }
    if wantsReadingConnection { return .reading }
    if wantsSession { return .session }
    return listenerToConnect(at: now)
  }

  private var wantsReadingConnection: Bool {
    guard closing == nil, !tickets.contains(where: { $0.role == .reading }) else { return false }
    let present = connections.filter { $0.role == .reading && !$0.isRetiring }
    guard present.count < limits.readingConnections else { return false }
    return !waitingReads.isEmpty
  }

  private var wantsSession: Bool {
    let coming = tickets.count { $0.role == .session }
    guard coming < waitingSessions.count else { return false }
    return connections.count { $0.role == .session } + coming < limits.sessions
  }
}

/// A connection that is being made.
struct ConnectTicket: Hashable, Sendable {
  let number: Int
  let role: ConnectionRole
  /// That of the pool when it began.
  let generation: Int
}

/// Who uses a connection.
enum ConnectionRole: Hashable, Sendable {
  /// Many callers at once, who only read.
  case reading
  /// One caller at a time.
  case session
  /// One listener.
  case listening(ObjectIdentifier)
}

/// How long to wait before the next attempt to connect: exponential, with full jitter, so that many
/// processes do not come back at once.
struct PostgresBackoff {
  private let first: Duration
  private let longest: Duration
  private var failures = 0

  init(first: Duration, longest: Duration) {
    self.first = first
    self.longest = longest
  }

  /// - Returns: a random time from zero to the present bound.
  mutating func failed(using random: inout some RandomNumberGenerator) -> Duration {
    var bound = first
    for _ in 0..<failures where bound < longest { bound *= 2 }
    failures += 1
    return min(bound, longest) * Double.random(in: 0...1, using: &random)
  }

  mutating func succeeded() { failures = 0 }
}
