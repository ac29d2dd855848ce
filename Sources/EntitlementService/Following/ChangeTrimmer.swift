import EntitlementDomain
package import EntitlementStore
package import Logging
import Synchronization

/// Deletes changes of the feed that are older than the retention time. It works in small steps, so
/// that writers are blocked only briefly. Several nodes may trim at the same time.
package final class ChangeTrimmer: Sendable {
  /// The largest number of changes that one step deletes.
  package static let stepSize = 1_000
  /// The pause between two steps, in which writers proceed.
  package static let pause = Duration.milliseconds(100)
  /// The time between two runs.
  package static let interval = Duration.seconds(600)

  private let store: any EntitlementStore
  private let retention: Duration?
  private let clock: ServiceClock
  private let timer: ServiceTimer
  private let logger: Logger
  private let trimmed = Atomic<Int64>(0)

  /// - Parameter retention: how long changes are stored; nil: for ever.
  package init(
    store: any EntitlementStore, retention: Duration?, clock: ServiceClock,
    timer: ServiceTimer = .system, logger: Logger
  ) {
    self.store = store
    self.retention = retention
    self.clock = clock
    self.timer = timer
    self.logger = logger
  }

  package var values: [StatisticValue] {
    [StatisticValue("changes.trimmed", trimmed.load(ordering: .relaxed))]
  }

  /// Trims every ``interval`` until the task is cancelled. Call it once.
  package func run() async {
    repeat {
      if let retention { await trim(olderThan: retention) }
    } while (try? await timer.sleep(Self.interval)) != nil
  }

  private func trim(olderThan retention: Duration) async {
    let now = clock.now()
    let moment = now.advanced(by: -retention.milliseconds)
    var count = 0
    do {
      while !Task.isCancelled {
        let step = try await store.trimChanges(
          committedBefore: moment, now: now, limit: Self.stepSize)
        trimmed.add(Int64(step), ordering: .relaxed)
        count += step
        guard step >= Self.stepSize else { break }
        try await timer.sleep(Self.pause)
      }
    } catch let error as StoreError {
      logger.warning("the change feed cannot be trimmed", metadata: ["reason": "\(error)"])
    } catch {
      // The task was cancelled.
    }
    if count > 0 {
      logger.info("trimmed the change feed", metadata: ["changes": "\(count)"])
    }
  }
}

extension Duration {
  /// Rounded down, and clamped to the largest value.
  fileprivate var milliseconds: Int64 {
    let (product, isTooLarge) = components.seconds.multipliedReportingOverflow(by: 1_000)
    return isTooLarge ? .max : product
  }
}
