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
    for pending in waitingReads.pop(where: { $0.exchange.deadline <= now }) {
      guard !pending.isAnswered else { continue }
      statistics.waitTimeouts += 1
      pending.fail(waitFailure(of: .reading).sent(pending.attempts > 0))
    }
    for waiting in waitingSessions.pop(where: { $0.request.deadline <= now }) {
      statistics.waitTimeouts += 1
      waiting.answer(.failure(waitFailure(of: .session)))
    }
    earliestWait = nil
    waitingReads.forEach { consider($0.exchange.deadline) }
    waitingSessions.forEach { consider($0.request.deadline) }
  }

  /// Answers those whose tasks were cancelled. What was sent stays, and its answer is dropped.
  func withdrawCancelled() {
    hasCancelled = false
    let reads = waitingReads.pop { $0.exchange.isCancelled }
    for pending in reads {
      pending.fail(
        PostgresFailure(.cancelled, "the read was cancelled", wasSent: pending.attempts > 0))
    }
    for connection in connections where connection.role == .reading {
      connection.forEachExchange { pending in
        guard pending.exchange.isCancelled else { return }
        pending.fail(PostgresFailure(.cancelled, "the read was cancelled", wasSent: true))
      }
    }
    for waiting in waitingSessions.pop(where: {
      $0.request.isCancelled
    }) {
      waiting.answer(.failure(Self.cancelledWait))
    }
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
