/// What was sent up to one synchronisation point, and what has come back of it.
struct Flight {
  enum Load {
    /// The preparation of one statement, which others will use too.
    case preparation(PostgresStatement)
    case exchange(PendingExchange)
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
  private let commands: Int
  private(set) var rows: [PostgresRows] = []
  private(set) var failure: PostgresFailure?
  private(set) var error: ServerError?
  private var answered = 0

  init(_ load: Load) {
    self.load = load
    switch load {
    case .preparation: commands = 1
    case .exchange(let pending): commands = pending.exchange.commands.count
    }
    rows.reserveCapacity(commands)
  }

  var deadline: ContinuousClock.Instant? {
    guard case .exchange(let pending) = load else { return nil }
    return pending.exchange.deadline
  }

  /// A command was done.
  mutating func answered(_ result: PostgresRows) -> Step {
    guard answered < commands, failure == nil else { return .unexpected }
    answered += 1
    rows.append(result)
    return .goOn
  }

  /// A command failed, or the synchronisation did (as deferred constraints do).
  mutating func failed(_ told: ServerError) -> Step {
    guard failure == nil else { return .unexpected }
    failure = told.failure(of: statement(answered), at: answered < commands ? answered : nil)
    error = told
    answered = min(answered + 1, commands)
    return .goOn
  }

  /// A command was passed over, as one before it had failed.
  mutating func passedOver() -> Step {
    guard answered < commands, failure != nil else { return .unexpected }
    answered += 1
    return .goOn
  }

  mutating func synchronized() -> Step {
    answered == commands ? .finished : .unexpected
  }

  private func statement(_ index: Int) -> PostgresStatement? {
    switch load {
    case .preparation(let statement): statement
    case .exchange(let pending):
      index < commands ? pending.exchange.commands[index].statement : nil
    }
  }
}
