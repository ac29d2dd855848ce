import Synchronization

/// The commands of one call, which are sent together and answered together.
final class PostgresExchange: Sendable {
  let commands: [EncodedCommand]
  let deadline: ContinuousClock.Instant
  /// Set when the caller's task is cancelled. A command that was not sent by then is never sent.
  private let cancellation = Atomic<Bool>(false)

  /// - Throws: ``PostgresFailure/Kind/protocolViolation`` when a command is too large, or there is
  ///   none.
  init(_ commands: [PostgresCommand], within limit: Duration) throws(PostgresFailure) {
    if commands.isEmpty {
      throw PostgresFailure(.protocolViolation, "an exchange needs at least one command")
    }
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
  /// How often the exchange was sent.
  var attempts = 0
  private var answer: ((ExchangeResult) -> Void)?
  private var continuation: ExchangeContinuation?

  init(_ exchange: PostgresExchange, continuation: ExchangeContinuation) {
    self.exchange = exchange
    self.continuation = continuation
  }

  /// An exchange of the pool itself, answered on the pool's thread.
  init(_ exchange: PostgresExchange, answer: @escaping (ExchangeResult) -> Void) {
    self.exchange = exchange
    self.answer = answer
  }

  var isAnswered: Bool { continuation == nil && answer == nil }

  /// Answers once; later answers are dropped.
  func answer(_ result: ExchangeResult) {
    let (continuation, answer) = (continuation, answer)
    (self.continuation, self.answer) = (nil, nil)
    continuation?.resume(returning: result)
    answer?(result)
  }

  func fail(_ failure: PostgresFailure) { answer(.failure(failure)) }
}

/// The commands up to one synchronisation point, and the results received for them. The server runs
/// the commands between two synchronisation points as one transaction.
struct PipelinedBatch {
  enum Content {
    /// The preparation of one statement, which later exchanges use too.
    case preparation(PostgresStatement)
    case exchange(PendingExchange)
  }

  /// The outcome of an exchange or a preparation.
  enum Outcome {
    case rows([PostgresRows])
    case failed(ServerError, PostgresFailure)
  }

  /// The meaning of a result within the batch.
  enum Step: Equatable {
    case needsMore
    /// The synchronisation point was reached and the batch is complete.
    case finished
    /// The result does not match what was sent.
    case unexpected
  }

  let content: Content
  private var rows: [PostgresRows] = []
  private var failure: (ServerError, PostgresFailure)?
  /// The number of results that are missing before the synchronisation point.
  private var missing: Int

  init(_ content: Content) {
    self.content = content
    switch content {
    case .preparation: missing = 1
    case .exchange(let pending): missing = pending.exchange.commands.count
    }
  }

  var exchange: PendingExchange? {
    if case .exchange(let pending) = content { pending } else { nil }
  }

  /// Valid when the batch is complete.
  var outcome: Outcome {
    failure.map { .failed($0.0, $0.1) } ?? .rows(rows)
  }

  /// A command succeeded.
  mutating func answered(_ result: PostgresRows) -> Step {
    guard missing > 0, failure == nil else { return .unexpected }
    missing -= 1
    rows.append(result)
    return .needsMore
  }

  /// A command failed, or the synchronisation did, as with deferred constraints.
  mutating func failed(_ error: ServerError) -> Step {
    guard failure == nil else { return .unexpected }
    guard missing > 0 else {
      failure = (error, error.failure(of: nil, at: nil))
      return .needsMore
    }
    missing -= 1
    let statement =
      switch content {
      case .preparation(let statement): statement
      case .exchange(let pending): pending.exchange.commands[rows.count].statement
      }
    failure = (error, error.failure(of: statement, at: rows.count))
    return .needsMore
  }

  /// A command was skipped because an earlier one failed.
  mutating func skipped() -> Step {
    guard missing > 0, failure != nil else { return .unexpected }
    missing -= 1
    return .needsMore
  }

  mutating func synchronized() -> Step {
    missing == 0 ? .finished : .unexpected
  }
}
