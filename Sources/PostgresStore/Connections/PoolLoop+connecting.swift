import Dispatch
import Logging

extension PoolLoop {
  func connectWhereWanted(at now: ContinuousClock.Instant) {
    if let retryAt, retryAt > now { return }
    retryAt = nil
    while let role = wantedRole(at: now) { connect(role) }
  }

  /// Takes the outcome of an attempt to connect.
  func connected(_ attempt: ConnectAttempt, _ outcome: Result<OwnedConnection, PostgresFailure>) {
    connectAttempts.remove(attempt)
    switch outcome {
    case .success(let handle):
      statistics.connects += 1
      backoff.succeeded()
      retryAt = nil
      if lastConnectFailure != nil { logger.notice("reconnected to the database") }
      lastConnectFailure = nil
      guard closing == nil else { return }
      let connection = PostgresConnection(
        handle, role: attempt.role, generation: attempt.generation)
      connection.isRetiring = attempt.generation != generation
      connections.append(connection)
      switch attempt.role {
      case .reading: break
      case .session: idleSessions.append(connection)
      case .listening(let listener): listenerConnected(listener, connection)
      }
    case .failure(let failure):
      statistics.failedConnects += 1
      // Only the first of several failures in a row is logged as an error.
      logger.log(
        level: lastConnectFailure == nil ? .error : .debug, "cannot connect to the database",
        metadata: ["reason": "\(failure.message)"])
      lastConnectFailure = failure
      retryAt = .now + backoff.failed(using: &random)
    }
  }

  /// Retires all connections of the current generation, after a failover or a change of prepared
  /// statements. They are replaced on demand.
  func invalidateGeneration(_ connection: PostgresConnection, _ state: SQLState) {
    guard connection.generation == generation else { return }
    logger.notice(
      "replacing the connections to the database", metadata: ["state": "\(state)"])
    generation += 1
    for connection in connections { connection.isRetiring = true }
  }

  /// Closes a connection and answers every exchange on it. Reads within their deadline are retried.
  ///
  /// - Parameter failure: for exchanges that are within their deadline and are not retried.
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
        pending.fail(
          PostgresFailure(.timedOut, "the database did not respond in time", wasSent: true))
      } else if connection.role == .reading {
        retry(pending, or: failure)
      } else {
        pending.fail(failure)
      }
    }
  }

  /// Closes idle connections that are retiring or too old.
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
    lastAttemptNumber += 1
    let attempt = ConnectAttempt(number: lastAttemptNumber, role: role, generation: generation)
    connectAttempts.insert(attempt)
    connectQueue.async { [connector, mailbox] in
      let outcome = Result { () throws(PostgresFailure) in try connector.connect() }
      mailbox.post(.connected(attempt, outcome))
    }
  }

  /// The role of the next connection to make; nil for none.
  private func wantedRole(at now: ContinuousClock.Instant) -> ConnectionRole? {
    // After a failure, one attempt at a time probes whether connections can be made again.
    let maximum = lastConnectFailure == nil ? limits.simultaneousConnects : 1
    guard connectAttempts.count < maximum else { return nil }
    if wantsReadingConnection { return .reading }
    if wantsSession { return .session }
    return listenerToConnect(at: now)
  }

  private var wantsReadingConnection: Bool {
    guard closing == nil, !connectAttempts.contains(where: { $0.role == .reading }) else {
      return false
    }
    let present = connections.filter { $0.role == .reading && !$0.isRetiring }
    guard present.count < limits.readingConnections else { return false }
    return !waitingReads.isEmpty
  }

  private var wantsSession: Bool {
    let coming = connectAttempts.count { $0.role == .session }
    guard coming < waitingSessions.count else { return false }
    return connections.count { $0.role == .session } + coming < limits.sessions
  }
}

/// An attempt to connect that is in flight.
struct ConnectAttempt: Hashable, Sendable {
  let number: Int
  let role: ConnectionRole
  /// The generation of the pool when the attempt began.
  let generation: Int
}

/// The use of a connection.
enum ConnectionRole: Hashable, Sendable {
  /// Shared by the reads of many callers.
  case reading
  /// Leased to one caller at a time.
  case session
  /// Belongs to one listener.
  case listening(ObjectIdentifier)
}

/// Exponential backoff with full jitter between attempts to connect, so that many processes do not
/// reconnect at once.
struct PostgresBackoff {
  private let first: Duration
  private let longest: Duration
  private var failures = 0

  init(first: Duration, longest: Duration) {
    self.first = first
    self.longest = longest
  }

  /// - Returns: a random duration between zero and the current bound.
  mutating func failed(using random: inout some RandomNumberGenerator) -> Duration {
    var bound = first
    for _ in 0..<failures where bound < longest { bound *= 2 }
    failures += 1
    return min(bound, longest) * Double.random(in: 0...1, using: &random)
  }

  mutating func succeeded() { failures = 0 }
}
