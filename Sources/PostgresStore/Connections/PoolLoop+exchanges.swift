import DequeModule
import Logging

extension PoolLoop {
  func readWanted(_ pending: PendingExchange) {
    if closing != nil {
      return pending.fail(PostgresFailure(.closed, "the pool is closed"))
    }
    if pending.exchange.isCancelled {
      return pending.fail(PostgresFailure(.cancelled, "the read was cancelled"))
    }
    guard waitingReads.count < limits.waitingReads else {
      statistics.rejected += 1
      return pending.fail(
        PostgresFailure(.overloaded, "too many reads are waiting for the database"))
    }
    waitRead(pending)
  }

  /// Sends waiting reads on the connections with the fewest exchanges in flight.
  func dispatchReads() {
    while let connection = leastLoadedReadingConnection, let pending = waitingReads.popFirst() {
      if !pending.isAnswered { send(pending, on: connection) }
    }
  }

  /// Sends an exchange. Drops the connection when that fails.
  func send(_ pending: PendingExchange, on connection: PostgresConnection) {
    do throws(PostgresFailure) {
      try connection.send(pending)
    } catch {
      drop(connection, because: error)
    }
  }

  /// Takes the outcome of an exchange.
  func answer(
    _ pending: PendingExchange, _ outcome: PipelinedBatch.Outcome, on connection: PostgresConnection
  ) {
    switch outcome {
    case .rows(let rows):
      if connection.role == .reading { statistics.exchanges += 1 }
      pending.answer(.success(rows))
    case .failed(let error, let failure):
      if connection.role == .reading { statistics.exchanges += 1 }
      exchangeFailed(pending, error, failure, on: connection)
    }
  }

  private func exchangeFailed(
    _ pending: PendingExchange, _ error: ServerError, _ failure: PostgresFailure,
    on connection: PostgresConnection
  ) {
    if [.unknownStatement, .failedTransaction].contains(error.state),
      let preparationFailure = connection.preparationFailure(of: pending.exchange)
    {
      return pending.fail(preparationFailure)
    }
    if error.state.saysDamage { damageReported(error.state) }
    if error.isFatal { connection.isRetiring = true }
    if error.invalidatesConnections { invalidateGeneration(connection, error.state) }
    if connection.role == .reading, error.isConnectionSpecific {
      retry(pending, or: failure)
    } else {
      pending.fail(failure)
    }
  }

  /// Only the first error of this kind is logged: each later read of the same page repeats it.
  private func damageReported(_ state: SQLState) {
    guard statistics.damage == nil else { return }
    statistics.damage = state
    // Before the read is answered: its caller may ask for the health next.
    publishedStatistics.current = statistics
    logger.critical(
      """
      PostgreSQL reported damaged data: find the damage in its log, and restore the database from a \
      backup, or promote a standby without it; a damaged index alone can be rebuilt with REINDEX
      """, metadata: ["state": "\(state)"])
  }

  /// Retries a read. It is sent at most twice, because the read itself may cause the loss of its
  /// connection.
  func retry(_ pending: PendingExchange, or failure: PostgresFailure) {
    guard !pending.isAnswered else { return }
    guard closing == nil, pending.attempts < 2 else { return pending.fail(failure) }
    statistics.retriedReads += 1
    waitRead(pending)
  }

  private func waitRead(_ pending: PendingExchange) {
    waitingReads.append(pending)
    let deadline = pending.exchange.deadline
    earliestWaitDeadline = earliestWaitDeadline.map { min($0, deadline) } ?? deadline
  }

  /// The connection with the fewest exchanges in flight; nil when all have
  /// ``PostgresPoolLimits/pipelineDepth``.
  private var leastLoadedReadingConnection: PostgresConnection? {
    connections.lazy.filter {
      $0.role == .reading && !$0.isRetiring && $0.exchangesInFlight < self.limits.pipelineDepth
    }.min { $0.exchangesInFlight < $1.exchangesInFlight }
  }
}

extension PoolLoop {
  private static let rollback = PostgresCommand(PostgresStatement("ROLLBACK", name: "rollback"))

  func sessionWanted(_ waiting: WaitingSession) {
    if closing != nil {
      return waiting.answer(.failure(PostgresFailure(.closed, "the pool is closed")))
    }
    if waiting.request.isCancelled {
      return waiting.answer(.failure(Self.cancelledWait))
    }
    guard waitingSessions.count < limits.waitingSessions else {
      statistics.rejected += 1
      return waiting.answer(
        .failure(PostgresFailure(.overloaded, "too many callers are waiting for a session")))
    }
    waitingSessions.append(waiting)
    let deadline = waiting.request.deadline
    earliestWaitDeadline = earliestWaitDeadline.map { min($0, deadline) } ?? deadline
  }

  func grantSessions() {
    while !waitingSessions.isEmpty, let connection = idleSessions.popLast() {
      guard let waiting = waitingSessions.popFirst() else { return }
      lastLease += 1
      leases[lastLease] = SessionLease(connection: connection)
      waiting.answer(.success(lastLease))
    }
  }

  func sessionExchangeWanted(_ number: Int, _ pending: PendingExchange) {
    if pending.exchange.isCancelled {
      return pending.fail(PostgresFailure(.cancelled, "the exchange was cancelled"))
    }
    guard let connection = leases[number]?.connection else {
      return pending.fail(
        PostgresFailure(.connectionLost, "the connection of the session was lost"))
    }
    send(pending, on: connection)
  }

  func sessionReleased(_ number: Int) {
    guard let connection = leases.removeValue(forKey: number)?.connection else { return }
    guard connection.isIdle else {
      // The caller left before its answer came, so the state of the session is unknown.
      return drop(
        connection,
        because: PostgresFailure(.closed, "the session has ended", wasSent: true))
    }
    guard connection.isInTransaction else { return becameIdle(connection) }
    guard
      let exchange = try? PostgresExchange([Self.rollback], within: limits.rollbackTimeout)
    else { return }
    let pending = PendingExchange(exchange) { [weak self, weak connection] result in
      guard let self, let connection else { return }
      switch result {
      case .success: self.becameIdle(connection)
      case .failure: connection.isRetiring = true
      }
    }
    send(pending, on: connection)
  }

  /// Makes a session available to the next caller.
  func becameIdle(_ connection: PostgresConnection) {
    guard connections.contains(where: { $0 === connection }) else { return }
    idleSessions.append(connection)
  }

  static var cancelledWait: PostgresFailure {
    PostgresFailure(.cancelled, "the wait for a session was cancelled")
  }
}

/// A caller waiting for a session, on the pool's thread.
struct WaitingSession {
  let request: SessionRequest
  private let continuation: SessionContinuation

  init(_ request: SessionRequest, continuation: SessionContinuation) {
    self.request = request
    self.continuation = continuation
  }

  /// Must be called once.
  func answer(_ result: Result<Int, PostgresFailure>) { continuation.resume(returning: result) }
}

/// A session in use by a caller. The connection is nil after it was lost.
struct SessionLease {
  var connection: PostgresConnection?
}
