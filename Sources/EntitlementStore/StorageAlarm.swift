package import Logging
import Synchronization

/// Logs that writes fail because the storage is full: at the first one, then each minute with their
/// number, and when one succeeds again. Callers get an error for each, but only an operator can make
/// room.
package final class StorageAlarm: Sendable {
  private struct State {
    /// When the next line is due; nil while writes succeed.
    var next: ContinuousClock.Instant?
    /// Writes that failed since the last line.
    var failures = 0
  }

  private static let interval = Duration.seconds(60)

  private let logger: Logger
  private let now: @Sendable () -> ContinuousClock.Instant
  private let state = Mutex(State())

  package init(
    logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    self.logger = logger
    self.now = now
  }

  /// - Parameter outcome: of a write.
  package func note<Value>(_ outcome: Result<Value, StoreError>) {
    switch outcome {
    case .success: succeeded()
    case .failure(let error) where error.code == .full: failed(error)
    case .failure: break
    }
  }

  private func succeeded() {
    let wasFull = state.withLock { state in
      guard state.next != nil else { return false }
      state = State()
      return true
    }
    if wasFull { logger.notice("the store can be written again") }
  }

  private func failed(_ error: StoreError) {
    let now = now()
    let count: Int? = state.withLock { state in
      state.failures += 1
      if let next = state.next, now < next { return nil }
      defer { state.failures = 0 }
      state.next = now + Self.interval
      return state.failures
    }
    guard let count else { return }
    logger.error(
      "the store is full: writes are refused",
      metadata: ["writes": .stringConvertible(count), "reason": "\(error.message)"])
  }
}
