import EntitlementStore
import Logging
import Synchronization

/// Standbys that may answer reads, in turn. One that failed is left alone for a while.
final class ReplicaSet: Sendable {
  private struct Turn {
    var next = 0
    var restsUntil: [ContinuousClock.Instant?]
  }

  /// How long a standby that failed is not asked.
  private static let rest: Duration = .seconds(1)
  /// How long it may take: the primary is asked after that.
  private static let patience: Duration = .seconds(1)

  let pools: [PostgresPool]
  private let counters: PostgresCounters
  private let logger: Logger
  private let turn: Mutex<Turn>

  init(_ pools: [PostgresPool], counters: PostgresCounters, logger: Logger) {
    self.pools = pools
    self.counters = counters
    self.logger = logger
    turn = Mutex(Turn(restsUntil: .init(repeating: nil, count: pools.count)))
  }

  var isEmpty: Bool { pools.isEmpty }

  /// What the next standby answers; nil when there is none, or it failed, or the caller does not wait
  /// any more.
  ///
  /// - Parameter decode: gives nil for what the standby does not know yet.
  func read<Value: Sendable>(
    _ commands: @autoclosure () -> [PostgresCommand], within limit: Duration,
    _ decode: ([PostgresRows]) throws -> [Value?]
  ) async -> [Value?]? {
    guard let index = takeTurn() else { return nil }
    do {
      let results = try await pools[index].read(commands(), within: min(limit, Self.patience))
      let values = try decode(results)
      let known = values.count { $0 != nil }
      counters.replicaReads.add(known, ordering: .relaxed)
      counters.passedReplicas.add(values.count - known, ordering: .relaxed)
      return values
    } catch {
      // Says nothing of the replica.
      if (error as? PostgresFailure)?.kind == .cancelled { return nil }
      logger.debug("a replica failed", metadata: ["reason": "\(error)"])
      turn.withLock { $0.restsUntil[index] = .now + Self.rest }
    }
    counters.passedReplicas.add(1, ordering: .relaxed)
    return nil
  }

  private func takeTurn() -> Int? {
    if pools.isEmpty { return nil }
    return turn.withLock { turn in
      for offset in 0..<pools.count {
        let index = (turn.next + offset) % pools.count
        if let end = turn.restsUntil[index], end > .now { continue }
        turn.next = (index + 1) % pools.count
        return index
      }
      return nil
    }
  }

  func close() async {
    for pool in pools { await pool.close() }
  }
}
