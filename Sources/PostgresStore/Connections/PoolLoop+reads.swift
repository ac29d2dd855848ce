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

  /// Sends what waits. Reads share a flight, since each flight costs the database and this thread a
  /// system call for its question, another for its answer, and a transaction: more than the read.
  func dispatchReads() {
    while !waitingReads.isEmpty {
      let places = readingConnectionsWithPlace
      guard let connection = places.first else { return }
      // All that have a place get as much, so that none has to wait for another's.
      let share = (waitingReads.count + places.count - 1) / places.count
      let exchanges = takeReads(min(share, limits.readsPerFlight))
      if !exchanges.isEmpty { send(exchanges, on: connection) }
    }
  }

  /// Takes the reads of the next flight.
  private func takeReads(_ count: Int) -> [PendingExchange] {
    var exchanges: [PendingExchange] = []
    while exchanges.count < count, let pending = waitingReads.first {
      if pending.travelsAlone, !exchanges.isEmpty { break }
      _ = waitingReads.popFirst()
      if pending.isAnswered { continue }
      exchanges.append(pending)
      if pending.travelsAlone { break }
    }
    return exchanges
  }

  /// The connection that exchanges are sent on, or lost.
  func send(_ exchanges: [PendingExchange], on connection: PostgresConnection) {
    do throws(PostgresFailure) {
      try connection.send(exchanges)
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
    case .passedOver:
      // Whatever it was that failed will not meet it again.
      pending.travelsAlone = true
      waitRead(pending)
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
    pending.travelsAlone = true
    waitRead(pending)
  }

  private func waitRead(_ pending: PendingExchange) {
    waitingReads.append(pending)
    let deadline = pending.exchange.deadline
    earliestWait = earliestWait.map { min($0, deadline) } ?? deadline
  }

  /// Those that may have another flight, the freest first.
  private var readingConnectionsWithPlace: [PostgresConnection] {
    connections.filter {
      $0.role == .reading && !$0.isRetiring && $0.flightsOfExchanges < limits.pipelineDepth
    }.sorted { $0.exchangesInFlight < $1.exchangesInFlight }
  }
}
