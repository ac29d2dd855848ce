import EntitlementDomain
import EntitlementStore
import Synchronization

/// Reads of accounts from the primary.
///
/// While some are on their way, those that come share the next statement: to open the partitions that
/// a statement names costs the database as much as the rows of several customers do. Whoever finds
/// nobody before it is read at once, by itself.
final class AccountReads: Sendable {
  /// The rows of one account, among those of others.
  struct Found: Sendable {
    let rows: PostgresRows
    let indexes: [Int]
  }

  private struct Reader {
    let scope: Int64
    let account: AccountID
    let deadline: ContinuousClock.Instant
    let continuation: CheckedContinuation<Result<Found, StoreError>, Never>
  }

  private struct State {
    var waiting = FirstInFirstOut<Reader>()
    var statementsUnderWay = 0
  }

  private let pool: PostgresPool
  private let limits: PostgresStoreLimits
  private let state = Mutex(State())

  init(pool: PostgresPool, limits: PostgresStoreLimits) {
    self.pool = pool
    self.limits = limits
  }

  /// How many reads wait for the next statement.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Several accounts of one caller's, in one statement of their own; a single one shares it with
  /// others' accounts.
  ///
  /// - Returns: for each, in their order, what ``read(_:in:)`` does.
  func read(_ accounts: [AccountID], in scope: Int64) async throws(StoreError) -> [Found] {
    if accounts.count == 1 { return [try await read(accounts[0], in: scope)] }
    do throws(PostgresFailure) {
      return try await find(
        accounts.map { (scope, $0) }, until: .now + limits.readTimeLimit)
    } catch {
      throw StoreError(translating: error)
    }
  }

  /// What the database knows of an account, in a snapshot that was taken after this was called: rows
  /// of ``CustomerStatement/account``.
  ///
  /// - Throws: ``StoreError/Code/unavailable`` also when too many wait, the time was up before it
  ///   was its turn, or the task was cancelled before.
  func read(_ account: AccountID, in scope: Int64) async throws(StoreError) -> Found {
    // One that was sent is not called back: others may share it.
    if Task.isCancelled { throw StoreError(translating: PostgresFailure(.cancelled, "")) }
    let deadline = ContinuousClock.now + limits.readTimeLimit
    return try await withCheckedContinuation { continuation in
      let reader = Reader(
        scope: scope, account: account, deadline: deadline, continuation: continuation)
      enum Turn { case now, later, never }
      let turn = state.withLock { state -> Turn in
        if state.statementsUnderWay < statementLimit {
          state.statementsUnderWay += 1
          return .now
        }
        if state.waiting.count >= limits.maximumWaitingReads { return .never }
        state.waiting.append(reader)
        return .later
      }
      switch turn {
      case .now: Task { await self.run([reader]) }
      case .later: break
      case .never: continuation.resume(returning: .failure(Self.overload))
      }
    }.get()
  }

  /// Enough that a connection has its next statement when it is done with one.
  private var statementLimit: Int { 2 * max(1, limits.readingConnections) }

  /// Runs a statement, and then those of the readers that came meanwhile.
  private func run(_ first: [Reader]) async {
    var readers = first
    while !readers.isEmpty {
      await answer(readers)
      readers = state.withLock { state in
        var next: [Reader] = []
        while next.count < limits.maximumReadsPerStatement, let reader = state.waiting.popFirst() {
          next.append(reader)
        }
        if next.isEmpty { state.statementsUnderWay -= 1 }
        return next
      }
    }
  }

  private func answer(_ all: [Reader]) async {
    let now = ContinuousClock.now
    var readers: [Reader] = []
    for reader in all {
      if reader.deadline > now {
        readers.append(reader)
      } else {
        reader.continuation.resume(returning: .failure(Self.timeout))
      }
    }
    if readers.count > 1 {
      await answerTogether(readers)
    } else if let reader = readers.first {
      await answerAlone(reader)
    }
  }

  private func answerAlone(_ reader: Reader) async {
    let outcome: Result<Found, StoreError>
    do throws(PostgresFailure) {
      let rows = try await run(
        CustomerStatement.account.statement(.record, onStandby: false),
        [.int64(reader.scope), .text(reader.account.rawValue)], until: reader.deadline)
      outcome = .success(Found(rows: rows, indexes: Array(0..<rows.count)))
    } catch {
      outcome = .failure(StoreError(translating: error))
    }
    reader.continuation.resume(returning: outcome)
  }

  private func answerTogether(_ readers: [Reader]) async {
    do throws(PostgresFailure) {
      // Half of a reader's time at most, so that there is some left to be answered alone.
      let earliest = readers.reduce(.now + limits.readTimeLimit / 2) { min($0, $1.deadline) }
      let found = try await find(readers.map { ($0.scope, $0.account) }, until: earliest)
      for (reader, found) in zip(readers, found) {
        reader.continuation.resume(returning: .success(found))
      }
    } catch {
      // What one of them made the server refuse, or too slow, is no failure of the others.
      let now = ContinuousClock.now
      let isOfOne =
        switch error.kind {
        case .server, .timedOut, .poolTimedOut, .connectionLost: true
        default: false
        }
      await withDiscardingTaskGroup { group in
        for reader in readers {
          if isOfOne, reader.deadline > now {
            group.addTask { await self.answerAlone(reader) }
          } else {
            reader.continuation.resume(returning: .failure(StoreError(translating: error)))
          }
        }
      }
    }
  }

  private func find(
    _ accounts: [(scope: Int64, id: AccountID)], until deadline: ContinuousClock.Instant
  ) async throws(PostgresFailure) -> [Found] {
    let rows = try await run(
      CustomerStatement.accounts,
      [.int64s(accounts.map(\.scope)), .texts(accounts.map(\.id.rawValue))], until: deadline)
    var indexes = [[Int]](repeating: [], count: accounts.count)
    for row in 0..<rows.count {
      let place = Int(try rows.int64(row, CustomerStatement.columns)) - 1
      guard indexes.indices.contains(place) else {
        throw PostgresFailure(.protocolViolation, "the answer has a row that nobody asked for")
      }
      indexes[place].append(row)
    }
    return indexes.map { Found(rows: rows, indexes: $0) }
  }

  private func run(
    _ statement: PostgresStatement, _ values: [PostgresValue],
    until deadline: ContinuousClock.Instant
  ) async throws(PostgresFailure) -> PostgresRows {
    let limit = ContinuousClock.now.duration(to: deadline)
    let results = try await pool.read([PostgresCommand(statement, values)], within: limit)
    guard let rows = results.first else {
      throw PostgresFailure(.protocolViolation, "there is no answer")
    }
    return rows
  }

  private static var overload: StoreError {
    StoreError(translating: PostgresFailure(.overloaded, ""))
  }
  private static var timeout: StoreError {
    StoreError(translating: PostgresFailure(.poolTimedOut, ""))
  }
}
