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

  private struct State {
    var waiting = FirstInFirstOut<AccountRead>()
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
  ///   was its turn, or the task is cancelled: at once then, wherever the read is.
  func read(_ account: AccountID, in scope: Int64) async throws(StoreError) -> Found {
    let read = AccountRead(
      scope: scope, account: account, deadline: .now + limits.readTimeLimit)
    return try await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        read.wait(continuation)
        begin(read)
      }
    } onCancel: {
      // A statement that was sent is not called back: others may share it.
      read.cancel()
      state.withLock { $0.waiting.removeFirst { $0 === read } }
    }.get()
  }

  private func begin(_ read: AccountRead) {
    enum Turn { case now, later, never }
    let turn = state.withLock { state -> Turn in
      // Cancelled: looked at here, so that it does not come to wait after it was to be removed.
      if read.isAnswered { return .later }
      if state.statementsUnderWay < statementLimit {
        state.statementsUnderWay += 1
        return .now
      }
      if state.waiting.count >= limits.maximumWaitingReads { return .never }
      state.waiting.append(read)
      return .later
    }
    switch turn {
    case .now: Task { await run([read]) }
    case .later: break
    case .never: read.answer(.failure(Self.overload))
    }
  }

  /// Enough that a connection has its next statement when it is done with one.
  private var statementLimit: Int { 2 * max(1, limits.readingConnections) }

  /// Runs a statement, and then those of the reads that came meanwhile.
  private func run(_ first: [AccountRead]) async {
    var reads = first
    while !reads.isEmpty {
      await answer(reads)
      reads = state.withLock { state in
        var next: [AccountRead] = []
        while next.count < limits.maximumReadsPerStatement, let read = state.waiting.popFirst() {
          next.append(read)
        }
        if next.isEmpty { state.statementsUnderWay -= 1 }
        return next
      }
    }
  }

  private func answer(_ all: [AccountRead]) async {
    let now = ContinuousClock.now
    for read in all where read.deadline <= now { read.answer(.failure(Self.timeout)) }
    let reads = all.filter { !$0.isAnswered }
    if reads.count > 1 {
      await answerTogether(reads)
    } else if let read = reads.first {
      await answerAlone(read)
    }
  }

  private func answerAlone(_ read: AccountRead) async {
    do throws(PostgresFailure) {
      let rows = try await run(
        CustomerStatement.account.statement(.record, onStandby: false),
        [.int64(read.scope), .text(read.account.rawValue)], until: read.deadline)
      read.answer(.success(Found(rows: rows, indexes: Array(0..<rows.count))))
    } catch {
      read.answer(.failure(StoreError(translating: error)))
    }
  }

  private func answerTogether(_ reads: [AccountRead]) async {
    do throws(PostgresFailure) {
      // Half of a read's time at most, so that there is some left to be answered alone.
      let earliest = reads.reduce(.now + limits.readTimeLimit / 2) { min($0, $1.deadline) }
      let found = try await find(reads.map { ($0.scope, $0.account) }, until: earliest)
      for (read, found) in zip(reads, found) { read.answer(.success(found)) }
    } catch {
      // What one of them made the server refuse, or too slow, is no failure of the others.
      let now = ContinuousClock.now
      let isOfOne =
        switch error.kind {
        case .server, .timedOut, .poolTimedOut, .connectionLost: true
        default: false
        }
      await withDiscardingTaskGroup { group in
        for read in reads where !read.isAnswered {
          if isOfOne, read.deadline > now {
            group.addTask { await self.answerAlone(read) }
          } else {
            read.answer(.failure(StoreError(translating: error)))
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
