import EntitlementStore
import Logging
import Synchronization

/// Standbys for reads, used round robin. A standby that failed is skipped for
/// ``failurePause``.
final class ReplicaSet: Sendable {
  private struct Rotation {
    var next = 0
    var unavailableUntil: [ContinuousClock.Instant?]
  }

  /// How long a standby is skipped after a failure.
  private static let failurePause: Duration = .seconds(1)
  /// Time limit of a read from a standby. After it, the primary is read.
  private static let readTimeLimit: Duration = .seconds(1)

  let pools: [PostgresPool]
  private let evaluations: EvaluationPool
  private let counters: PostgresCounters
  private let logger: Logger
  private let rotation: Mutex<Rotation>

  init(
    _ pools: [PostgresPool], evaluations: EvaluationPool, counters: PostgresCounters, logger: Logger
  ) {
    self.pools = pools
    self.evaluations = evaluations
    self.counters = counters
    self.logger = logger
    rotation = Mutex(Rotation(unavailableUntil: .init(repeating: nil, count: pools.count)))
  }

  var isEmpty: Bool { pools.isEmpty }

  /// Reads from the next available standby.
  ///
  /// - Parameter decode: returns nil for each value that the standby does not have yet.
  /// - Returns: nil when no standby is available, the read failed, or the task was cancelled.
  func read<Value: Sendable>(
    _ commands: @autoclosure () -> [PostgresCommand], within limit: Duration,
    _ decode: @escaping @Sendable ([PostgresRows]) throws -> [Value?]
  ) async -> [Value?]? {
    guard let index = nextAvailable() else { return nil }
    do {
      let results = try await pools[index].read(commands(), within: min(limit, Self.readTimeLimit))
      let rows = results.reduce(0) { $0 + $1.count }
      let values = try await evaluations.decode(rows: rows) { Result { try decode(results) } }.get()
      let known = values.count { $0 != nil }
      counters.replicaReads.add(known, ordering: .relaxed)
      counters.replicaFallbacks.add(values.count - known, ordering: .relaxed)
      return values
    } catch {
      // A cancellation is no failure of the replica.
      if (error as? PostgresFailure)?.kind == .cancelled { return nil }
      logger.debug("a read from a replica failed", metadata: ["reason": "\(error)"])
      rotation.withLock { $0.unavailableUntil[index] = .now + Self.failurePause }
    }
    counters.replicaFallbacks.add(1, ordering: .relaxed)
    return nil
  }

  private func nextAvailable() -> Int? {
    if pools.isEmpty { return nil }
    return rotation.withLock { rotation in
      for offset in 0..<pools.count {
        let index = (rotation.next + offset) % pools.count
        if let end = rotation.unavailableUntil[index], end > .now { continue }
        rotation.next = (index + 1) % pools.count
        return index
      }
      return nil
    }
  }

  func close() async {
    for pool in pools { await pool.close() }
  }
}
