/// What was sent up to one synchronisation point, and what has come back of it.
struct Flight {
  enum Load {
    /// The preparation of one statement, which others will use too.
    case preparation(PostgresStatement)
    /// Exchanges of callers: one of a session, or several that only read. The server runs what is
    /// between two synchronisation points as one transaction.
    case exchanges([PendingExchange])
  }

  /// What became of an exchange, or of a preparation.
  enum Outcome {
    case rows([PostgresRows])
    case failed(ServerError, PostgresFailure)
    /// It was not run, as one before it in the flight had failed.
    case passedOver
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
  /// Of each exchange that has all of its results, in the order in which they were sent.
  private(set) var outcomes: [Outcome] = []
  private var rows: [PostgresRows] = []
  /// Results that are still to come before the synchronisation point.
  private var missing: Int
  private var hasFailed = false

  init(_ load: Load) {
    self.load = load
    switch load {
    case .preparation: missing = 1
    case .exchanges(let exchanges):
      missing = exchanges.reduce(0) { $0 + $1.exchange.commands.count }
      outcomes.reserveCapacity(exchanges.count)
    }
  }

  var exchanges: [PendingExchange] {
    guard case .exchanges(let exchanges) = load else { return [] }
    return exchanges
  }

  /// The earliest of its exchanges.
  var deadline: ContinuousClock.Instant? { exchanges.lazy.map(\.exchange.deadline).min() }

  /// A command was done.
  mutating func answered(_ result: PostgresRows) -> Step {
    guard missing > 0, !hasFailed else { return .unexpected }
    missing -= 1
    rows.append(result)
    if rows.count == commandCount(outcomes.count) {
      outcomes.append(.rows(rows))
      rows = []
    }
    return .goOn
  }

  /// A command failed, or the synchronisation did (as deferred constraints do).
  mutating func failed(_ told: ServerError) -> Step {
    guard !hasFailed else { return .unexpected }
    hasFailed = true
    if missing == 0 {
      let failure = Outcome.failed(told, told.failure(of: nil, at: nil))
      outcomes = outcomes.map { _ in failure }
    } else {
      missing -= 1
      let failure = told.failure(of: statement(outcomes.count, rows.count), at: rows.count)
      outcomes.append(.failed(told, failure))
    }
    return .goOn
  }

  /// A command was passed over, as one before it had failed.
  mutating func passedOver() -> Step {
    guard missing > 0, hasFailed else { return .unexpected }
    missing -= 1
    return .goOn
  }

  mutating func synchronized() -> Step {
    guard missing == 0 else { return .unexpected }
    while outcomes.count < exchanges.count { outcomes.append(.passedOver) }
    return .finished
  }

  private func commandCount(_ index: Int) -> Int {
    switch load {
    case .preparation: 1
    case .exchanges(let exchanges): exchanges[index].exchange.commands.count
    }
  }

  private func statement(_ index: Int, _ command: Int) -> PostgresStatement {
    switch load {
    case .preparation(let statement): statement
    case .exchanges(let exchanges): exchanges[index].exchange.commands[command].statement
    }
  }
}
