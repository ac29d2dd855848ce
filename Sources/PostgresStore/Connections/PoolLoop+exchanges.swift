import DequeModule

extension PoolLoop {
  func readWanted(_ pending: PendingExchange) {
    if closing != nil {
      return pending.fail(PostgresFailure(.closed, "the pool is closed"))
    }
    if pending.exchange.isCancelled {
      return pending.fail(PostgresFailure(.cancelled, "the read was cancelled"))
    }
    guard waitingReads.count < limits.waitingReads else {
      statistics.turnedAway += 1
      return pending.fail(PostgresFailure(.overloaded, "too many reads wait for the database"))
    }
    waitRead(pending)
  }

  /// Sends what waits, on the connections with the fewest exchanges in flight.
  func dispatchReads() {
    while let connection = freestReadingConnection, let pending = waitingReads.popFirst() {
      if !pending.isAnswered { send(pending, on: connection) }
    }
  }

  /// Sends an exchange, or loses the connection.
  func send(_ pending: PendingExchange, on connection: PostgresConnection) {
    do throws(PostgresFailure) {
      try connection.send(pending)
    } catch {
      drop(connection, because: error)
    }
  }

  /// An exchange has come back.
  func answer(
    _ pending: PendingExchange, _ outcome: Flight.Outcome, on connection: PostgresConnection
  ) {
    switch outcome {
    case .rows(let rows):
      if connection.role == .reading { statistics.exchanges += 1 }
      pending.answer(.success(rows))
    case .failed(let error, let failure):
      if connection.role == .reading { statistics.exchanges += 1 }
      refused(pending, error, failure, on: connection)
    }
  }

  private func refused(
    _ pending: PendingExchange, _ error: ServerError, _ failure: PostgresFailure,
    on connection: PostgresConnection
  ) {
    if [.unknownStatement, .failedTransaction].contains(error.state),
      let refusal = connection.refusal(of: pending.exchange)
    {
      return pending.fail(refusal)
    }
    if error.isFatal { connection.isRetiring = true }
    if error.discreditsConnections { discredit(connection, error.state) }
    if connection.role == .reading, error.isOfConnection {
      retry(pending, or: failure)
    } else {
      pending.fail(failure)
    }
  }

  /// Reads may run again; once is enough, as it might be the read that ends connections.
  func retry(_ pending: PendingExchange, or failure: PostgresFailure) {
    guard !pending.isAnswered else { return }
    guard closing == nil, pending.attempts < 2 else { return pending.fail(failure) }
    statistics.retriedReads += 1
    waitRead(pending)
  }

  private func waitRead(_ pending: PendingExchange) {
    waitingReads.append(pending)
    let deadline = pending.exchange.deadline
    earliestWait = earliestWait.map { min($0, deadline) } ?? deadline
  }

  /// One that may have another exchange.
  private var freestReadingConnection: PostgresConnection? {
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
      statistics.turnedAway += 1
      return waiting.answer(
        .failure(PostgresFailure(.overloaded, "too many callers wait for a session")))
    }
    waitingSessions.append(waiting)
    let deadline = waiting.request.deadline
    earliestWait = earliestWait.map { min($0, deadline) } ?? deadline
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
      return pending.fail(PostgresFailure(.connectionLost, "the session's connection was lost"))
    }
    send(pending, on: connection)
  }

  func sessionReleased(_ number: Int) {
    guard let connection = leases.removeValue(forKey: number)?.connection else { return }
    guard connection.isIdle else {
      // Somebody left without waiting for an answer, and it is not known what it will be.
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

  /// A session that the next one may have.
  func becameIdle(_ connection: PostgresConnection) {
    guard connections.contains(where: { $0 === connection }) else { return }
    idleSessions.append(connection)
  }

  static var cancelledWait: PostgresFailure {
    PostgresFailure(.cancelled, "the wait for a session was cancelled")
  }
}

/// Somebody who waits for a session, on the pool's thread.
struct WaitingSession {
  let request: SessionRequest
  private let continuation: SessionContinuation

  init(_ request: SessionRequest, continuation: SessionContinuation) {
    self.request = request
    self.continuation = continuation
  }

  /// Called once.
  func answer(_ result: Result<Int, PostgresFailure>) { continuation.resume(returning: result) }
}

/// A session that somebody has. Its connection may have been lost meanwhile.
struct SessionLease {
  var connection: PostgresConnection?
}
