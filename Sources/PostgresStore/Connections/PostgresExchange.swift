import Synchronization

/// What one caller wants to be sent: commands that leave together, and are answered together.
final class PostgresExchange: Sendable {
  let commands: [EncodedCommand]
  let deadline: ContinuousClock.Instant
  /// Set by the caller's task when it is cancelled; what has not left then never will.
  private let cancellation = Atomic<Bool>(false)

  /// - Throws: ``PostgresFailure/Kind/protocolViolation`` for a command that is too large, and where
  ///   there is none.
  init(_ commands: [PostgresCommand], within limit: Duration) throws(PostgresFailure) {
    if commands.isEmpty { throw PostgresFailure(.protocolViolation, "there is nothing to ask") }
    var encoded: [EncodedCommand] = []
    encoded.reserveCapacity(commands.count)
    for command in commands { encoded.append(try EncodedCommand(command)) }
    self.commands = encoded
    deadline = .now + limit
  }

  var isCancelled: Bool { cancellation.load(ordering: .relaxed) }

  func cancel() { cancellation.store(true, ordering: .relaxed) }
}

/// An exchange on the pool's thread, until it is answered.
final class PendingExchange {
  let exchange: PostgresExchange
  /// How often it was sent.
  var attempts = 0
  private var answer: ((ExchangeResult) -> Void)?
  private var continuation: ExchangeContinuation?

  init(_ exchange: PostgresExchange, continuation: ExchangeContinuation) {
    self.exchange = exchange
    self.continuation = continuation
  }

  /// One of the pool's own, which is answered on its thread.
  init(_ exchange: PostgresExchange, answer: @escaping (ExchangeResult) -> Void) {
    self.exchange = exchange
    self.answer = answer
  }

  var isAnswered: Bool { continuation == nil && answer == nil }

  /// Answers once; what comes later is dropped.
  func answer(_ result: ExchangeResult) {
    let (continuation, answer) = (continuation, answer)
    (self.continuation, self.answer) = (nil, nil)
    continuation?.resume(returning: result)
    answer?(result)
  }

  func fail(_ failure: PostgresFailure) { answer(.failure(failure)) }
}

/// What was sent up to one synchronisation point, and what has come back of it. The server runs what is
/// between two of these points as one transaction.
struct Flight {
  enum Load {
    /// The preparation of one statement, which others will use too.
    case preparation(PostgresStatement)
    case exchange(PendingExchange)
  }

  /// What became of an exchange, or of a preparation.
  enum Outcome {
    case rows([PostgresRows])
    case failed(ServerError, PostgresFailure)
  }

  /// What the next result means.
  enum Step: Equatable {
    case goOn
    /// The synchronisation point was reached: the flight is over.
    case finished
    /// It does not fit what was sent.
    case unexpected
  }

  let load: Load
  private var rows: [PostgresRows] = []
  private var failure: (ServerError, PostgresFailure)?
  /// Results that are still to come before the synchronisation point.
  private var missing: Int

  init(_ load: Load) {
    self.load = load
    switch load {
    case .preparation: missing = 1
    case .exchange(let pending): missing = pending.exchange.commands.count
    }
  }

  var exchange: PendingExchange? {
    if case .exchange(let pending) = load { pending } else { nil }
  }

  /// Of a flight that is over.
  var outcome: Outcome {
    failure.map { .failed($0.0, $0.1) } ?? .rows(rows)
  }

  /// A command was done.
  mutating func answered(_ result: PostgresRows) -> Step {
    guard missing > 0, failure == nil else { return .unexpected }
    missing -= 1
    rows.append(result)
    return .goOn
  }

  /// A command failed, or the synchronisation did (as deferred constraints do).
  mutating func failed(_ told: ServerError) -> Step {
    guard failure == nil else { return .unexpected }
    guard missing > 0 else {
      failure = (told, told.failure(of: nil, at: nil))
      return .goOn
    }
    missing -= 1
    let statement =
      switch load {
      case .preparation(let statement): statement
      case .exchange(let pending): pending.exchange.commands[rows.count].statement
      }
    failure = (told, told.failure(of: statement, at: rows.count))
    return .goOn
  }

  /// A command was passed over, as one before it had failed.
  mutating func passedOver() -> Step {
    guard missing > 0, failure != nil else { return .unexpected }
    missing -= 1
    return .goOn
  }

  mutating func synchronized() -> Step {
    missing == 0 ? .finished : .unexpected
  }
}
