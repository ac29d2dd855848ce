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

  func dispatchReads() {
    while !waitingReads.isEmpty, let connection = freestReadingConnection {
      guard let pending = waitingReads.popFirst() else { return }
      guard !pending.isAnswered else { continue }
      send(pending, on: connection)
    }
  }

  /// The connection that an exchange is sent on, or lost.
  func send(_ pending: PendingExchange, on connection: PostgresConnection) {
    do throws(PostgresFailure) {
      try connection.send(pending)
    } catch {
      drop(connection, because: error)
    }
  }

  /// An exchange has come back.
  func answer(_ pending: PendingExchange, _ flight: Flight, on connection: PostgresConnection) {
    statistics.exchanges += 1
    guard let failure = flight.failure, let error = flight.error else {
      return pending.answer(.success(flight.rows))
    }
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

  /// The one with the fewest exchanges on their way, if it may have more.
  private var freestReadingConnection: PostgresConnection? {
    var freest: PostgresConnection?
    var fewest = limits.pipelineDepth
    for connection in connections
    where connection.role == .reading && !connection.isRetiring
      && connection.exchangesInFlight < fewest
    {
      freest = connection
      fewest = connection.exchangesInFlight
    }
    return freest
  }
}
