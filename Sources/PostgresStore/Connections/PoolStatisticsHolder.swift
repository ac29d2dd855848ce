import Cryptography

/// The pool's figures, as its thread last told them.
final class PoolStatisticsHolder: Sendable {
  private let state = Guarded(PostgresPoolStatistics())

  var current: PostgresPoolStatistics {
    get { state.withLock { $0 } }
    set { state.withLock { $0 = newValue } }
  }
}
