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
    send([pending], on: connection)
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
    send([pending], on: connection)
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
