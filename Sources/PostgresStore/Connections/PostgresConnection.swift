import CPostgres
import DequeModule

/// A connection in pipeline mode, used on the pool's thread only. Answers come in the order of the
/// exchanges. Each exchange ends with its own synchronisation point, so that its failure does not
/// affect the next one.
final class PostgresConnection {
  let role: ConnectionRole
  let generation: Int
  let openedAt = ContinuousClock.now
  /// Accepts no new exchanges, and is closed when idle.
  var isRetiring = false

  private let handle: OwnedConnection
  private var batches = Deque<PipelinedBatch>()
  /// Statements whose preparation was sent and has not failed.
  private var prepared: Set<PostgresStatement> = []
  private var preparationFailures: [PostgresStatement: PostgresFailure] = [:]
  /// A lower bound of the deadlines in flight. It may belong to an exchange that was answered
  /// already.
  private(set) var earliestDeadline: ContinuousClock.Instant?
  private(set) var exchangesInFlight = 0
  /// Whether libpq has buffered bytes that the socket did not accept.
  private(set) var hasUnsent = false
  /// Consecutive calls of `PQgetResult` without a result.
  private var emptyResults = 0

  init(_ handle: OwnedConnection, role: ConnectionRole, generation: Int) {
    self.handle = handle
    self.role = role
    self.generation = generation
  }

  var socket: CInt { PQsocket(handle.pointer) }
  var isIdle: Bool { batches.isEmpty }
  /// Whether a transaction is open, or has failed and is not rolled back. Valid only while idle.
  var isInTransaction: Bool { PQtransactionStatus(handle.pointer) != PQTRANS_IDLE }

  /// Hands an exchange to libpq, after the preparation of its statements that are new on this
  /// connection. Each preparation has its own synchronisation point, so it does not depend on the
  /// outcome of the exchange.
  ///
  /// - Throws: ``PostgresFailure/Kind/connectionLost``; the connection is then unusable.
  ///   ``takeExchanges()`` returns the exchange too.
  func send(_ pending: PendingExchange) throws(PostgresFailure) {
    pending.attempts += 1
    let batch = PipelinedBatch(.exchange(pending))
    for command in pending.exchange.commands where !prepared.contains(command.statement) {
      prepared.insert(command.statement)
      batches.append(PipelinedBatch(.preparation(command.statement)))
      guard command.prepare(on: handle.pointer), PQpipelineSync(handle.pointer) == 1 else {
        batches.append(batch)
        throw lost()
      }
    }
    batches.append(batch)
    exchangesInFlight += 1
    let deadline = pending.exchange.deadline
    earliestDeadline = earliestDeadline.map { min($0, deadline) } ?? deadline
    for command in pending.exchange.commands {
      guard command.send(on: handle.pointer) else { throw lost() }
    }
    // libpq writes to the socket here, once for all commands.
    guard PQpipelineSync(handle.pointer) == 1 else { throw lost() }
    try flush()
  }

  /// Writes buffered bytes as far as the socket accepts them.
  func flush() throws(PostgresFailure) {
    let outcome = PQflush(handle.pointer)
    guard outcome >= 0 else { throw lost() }
    hasUnsent = outcome == 1
  }

  /// Reads from the socket, and calls `finished` for each exchange that is complete.
  ///
  /// - Returns: whether a notification came.
  /// - Throws: ``PostgresFailure/Kind/connectionLost`` or
  ///   ``PostgresFailure/Kind/protocolViolation``, after the complete exchanges were delivered.
  func receive(
    _ finished: (PendingExchange, PipelinedBatch.Outcome) -> Void
  ) throws(PostgresFailure) -> Bool {
    let isOpen = PQconsumeInput(handle.pointer) == 1
    // A final error message may arrive together with the end of the connection.
    while !batches.isEmpty, PQisBusy(handle.pointer) == 0 {
      try step(finished)
    }
    var wasNotified = false
    while let notification = PQnotifies(handle.pointer) {
      PQfreemem(notification)
      wasNotified = true
    }
    guard isOpen, handle.isOpen else { throw lost() }
    return wasNotified
  }

  /// Whether an exchange in flight is past its deadline.
  func hasExpired(at now: ContinuousClock.Instant) -> Bool {
    guard let earliest = earliestDeadline, earliest <= now else { return false }
    earliestDeadline = batches.lazy.compactMap { $0.exchange?.exchange.deadline }.min()
    return earliestDeadline.map { $0 <= now } ?? false
  }

  /// Removes and returns all exchanges without an answer, in order.
  func takeExchanges() -> [PendingExchange] {
    exchangesInFlight = 0
    defer { batches = [] }
    return batches.compactMap(\.exchange)
  }

  /// Calls `body` for each exchange without an answer.
  func forEachExchange(_ body: (PendingExchange) -> Void) {
    for batch in batches { batch.exchange.map(body) }
  }

  /// The reason why a statement of the exchange could not be prepared. The error of its execution
  /// reports only that the statement does not exist.
  func preparationFailure(of exchange: PostgresExchange) -> PostgresFailure? {
    for command in exchange.commands {
      if let failure = preparationFailures[command.statement] { return failure }
    }
    return nil
  }

  private func step(
    _ finished: (PendingExchange, PipelinedBatch.Outcome) -> Void
  ) throws(PostgresFailure) {
    guard let result = PQgetResult(handle.pointer) else {
      emptyResults += 1
      // One call without a result ends the results of each command. Several in a row mean that
      // libpq expects nothing more, as after the connection was lost.
      guard emptyResults < 3 else { throw handle.isOpen ? unexpected() : lost() }
      return
    }
    emptyResults = 0
    var outcome = PipelinedBatch.Step.unexpected
    var isBroken = false
    // The queue is not empty: see `receive`.
    switch PQresultStatus(result) {
    case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
      outcome = batches[0].answered(PostgresRows(owning: result))
    case PGRES_PIPELINE_ABORTED:
      outcome = batches[0].skipped()
      PQclear(result)
    case PGRES_PIPELINE_SYNC:
      outcome = batches[0].synchronized()
      PQclear(result)
    case PGRES_FATAL_ERROR:
      if let error = ServerError(result) {
        outcome = batches[0].failed(error)
      } else {
        isBroken = true
      }
      PQclear(result)
    default:
      // COPY, and modes that are never requested.
      PQclear(result)
    }
    if isBroken { throw lost() }
    switch outcome {
    case .needsMore: break
    case .unexpected: throw unexpected()
    case .finished: finish(finished)
    }
  }

  private func finish(_ finished: (PendingExchange, PipelinedBatch.Outcome) -> Void) {
    guard let batch = batches.popFirst() else { return }
    switch batch.content {
    case .preparation(let statement):
      preparationFailures[statement] = nil
      if case .failed(_, let failure) = batch.outcome {
        preparationFailures[statement] = failure
        prepared.remove(statement)
      }
    case .exchange(let pending):
      exchangesInFlight -= 1
      finished(pending, batch.outcome)
    }
    if batches.isEmpty { earliestDeadline = nil }
  }

  private func lost() -> PostgresFailure {
    PostgresFailure(.connectionLost, "the connection was lost: \(handle.reason)", wasSent: true)
  }

  private func unexpected() -> PostgresFailure {
    PostgresFailure(
      .protocolViolation, "unexpected response from the database", wasSent: true)
  }
}
