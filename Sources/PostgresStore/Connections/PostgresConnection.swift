import CPostgres
import DequeModule

/// A connection in pipeline mode, on the pool's thread. What is sent here comes back in the same
/// order. Each exchange ends with a synchronisation point of its own, so that a failure does not touch
/// the next.
final class PostgresConnection {
  let role: ConnectionRole
  let generation: Int
  let openedAt = ContinuousClock.now
  /// Nothing new is sent, and it is closed when it is idle.
  var isRetiring = false

  private let handle: OwnedConnection
  private var flights = Deque<Flight>()
  /// Statements whose preparation was sent, and has not failed.
  private var prepared: Set<PostgresStatement> = []
  private var refused: [PostgresStatement: PostgresFailure] = [:]
  /// No deadline of what is on its way is earlier. It may be that of something answered already.
  private(set) var earliestDeadline: ContinuousClock.Instant?
  private(set) var exchangesInFlight = 0
  /// Whether libpq holds bytes that the socket did not take.
  private(set) var hasUnsent = false
  /// How often libpq said in a row that there is no result.
  private var emptyAnswers = 0

  init(_ handle: OwnedConnection, role: ConnectionRole, generation: Int) {
    self.handle = handle
    self.role = role
    self.generation = generation
  }

  var socket: CInt { PQsocket(handle.pointer) }
  var isIdle: Bool { flights.isEmpty }
  /// Whether a transaction is open, or has failed and is not rolled back. Asked while it is idle.
  var isInTransaction: Bool { PQtransactionStatus(handle.pointer) != PQTRANS_IDLE }

  /// Hands an exchange to libpq, with the preparation of those of its statements that the server does
  /// not know. Each preparation has a synchronisation point of its own: it counts whatever becomes of
  /// the exchange.
  ///
  /// - Throws: ``PostgresFailure/Kind/connectionLost``; the connection is of no use then. What was
  ///   handed over is among ``takeExchanges()``.
  func send(_ pending: PendingExchange) throws(PostgresFailure) {
    pending.attempts += 1
    let flight = Flight(.exchange(pending))
    for command in pending.exchange.commands where !prepared.contains(command.statement) {
      prepared.insert(command.statement)
      flights.append(Flight(.preparation(command.statement)))
      guard command.prepare(on: handle.pointer), PQpipelineSync(handle.pointer) == 1 else {
        flights.append(flight)
        throw lost()
      }
    }
    flights.append(flight)
    exchangesInFlight += 1
    let deadline = pending.exchange.deadline
    earliestDeadline = earliestDeadline.map { min($0, deadline) } ?? deadline
    for command in pending.exchange.commands {
      guard command.send(on: handle.pointer) else { throw lost() }
    }
    // libpq writes to the socket here, once for all of them.
    guard PQpipelineSync(handle.pointer) == 1 else { throw lost() }
    try flush()
  }

  /// Lets leave what the socket takes.
  func flush() throws(PostgresFailure) {
    let outcome = PQflush(handle.pointer)
    guard outcome >= 0 else { throw lost() }
    hasUnsent = outcome == 1
  }

  /// Reads what has come, and tells of each exchange that has its answer.
  ///
  /// - Returns: whether there was a notification.
  /// - Throws: ``PostgresFailure/Kind/connectionLost`` or ``PostgresFailure/Kind/protocolViolation``,
  ///   after all that came before.
  func receive(
    _ finished: (PendingExchange, Flight.Outcome) -> Void
  ) throws(PostgresFailure) -> Bool {
    let isOpen = PQconsumeInput(handle.pointer) == 1
    // The server's last words may have come together with the end.
    while !flights.isEmpty, PQisBusy(handle.pointer) == 0 {
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

  /// Whether the time of something on its way is up.
  func hasExpired(at now: ContinuousClock.Instant) -> Bool {
    guard let earliest = earliestDeadline, earliest <= now else { return false }
    earliestDeadline = flights.lazy.compactMap { $0.exchange?.exchange.deadline }.min()
    return earliestDeadline.map { $0 <= now } ?? false
  }

  /// What was sent and has no answer, in order. Nothing is left here.
  func takeExchanges() -> [PendingExchange] {
    exchangesInFlight = 0
    defer { flights = [] }
    return flights.compactMap(\.exchange)
  }

  /// Does something with every exchange that has no answer.
  func forEachExchange(_ body: (PendingExchange) -> Void) {
    for flight in flights { flight.exchange.map(body) }
  }

  /// The reason why a statement of the exchange could not be prepared. Its execution fails then
  /// with an error that only tells of the consequence.
  func refusal(of exchange: PostgresExchange) -> PostgresFailure? {
    for command in exchange.commands {
      if let failure = refused[command.statement] { return failure }
    }
    return nil
  }

  private func step(_ finished: (PendingExchange, Flight.Outcome) -> Void) throws(PostgresFailure) {
    guard let result = PQgetResult(handle.pointer) else {
      emptyAnswers += 1
      // One ends the results of each command. Several mean that libpq expects nothing more, as it
      // does when the connection is gone.
      guard emptyAnswers < 3 else { throw handle.isOpen ? unexpected() : lost() }
      return
    }
    emptyAnswers = 0
    var outcome = Flight.Step.unexpected
    var isBroken = false
    // There is a flight: see `receive`.
    switch PQresultStatus(result) {
    case PGRES_TUPLES_OK, PGRES_COMMAND_OK, PGRES_EMPTY_QUERY:
      outcome = flights[0].answered(PostgresRows(owning: result))
    case PGRES_PIPELINE_ABORTED:
      outcome = flights[0].passedOver()
      PQclear(result)
    case PGRES_PIPELINE_SYNC:
      outcome = flights[0].synchronized()
      PQclear(result)
    case PGRES_FATAL_ERROR:
      if let error = ServerError(result) {
        outcome = flights[0].failed(error)
      } else {
        isBroken = true
      }
      PQclear(result)
    default:
      // Copying, and modes that are never asked for.
      PQclear(result)
    }
    if isBroken { throw lost() }
    switch outcome {
    case .goOn: break
    case .unexpected: throw unexpected()
    case .finished: finish(finished)
    }
  }

  private func finish(_ finished: (PendingExchange, Flight.Outcome) -> Void) {
    guard let flight = flights.popFirst() else { return }
    switch flight.load {
    case .preparation(let statement):
      refused[statement] = nil
      if case .failed(_, let failure) = flight.outcome {
        refused[statement] = failure
        prepared.remove(statement)
      }
    case .exchange(let pending):
      exchangesInFlight -= 1
      finished(pending, flight.outcome)
    }
    if flights.isEmpty { earliestDeadline = nil }
  }

  private func lost() -> PostgresFailure {
    PostgresFailure(.connectionLost, "the connection was lost: \(handle.reason)", wasSent: true)
  }

  private func unexpected() -> PostgresFailure {
    PostgresFailure(
      .protocolViolation, "the database answered what was not asked", wasSent: true)
  }
}
