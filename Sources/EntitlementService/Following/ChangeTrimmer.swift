import EntitlementDomain
package import EntitlementStore
package import Logging
import Synchronization

/// Deletes changes of the feed that are older than operators want to keep, in small steps: each
/// holds up writers for a moment only. Several nodes may do so at once.
package final class ChangeTrimmer: Sendable {
  /// Changes that one step deletes at most.
  package static let stepSize = 1_000
  /// Between two steps, so that others get their turn.
  package static let pause = Duration.milliseconds(100)
  /// Between two times of trimming.
  package static let interval = Duration.seconds(600)

  private let store: any EntitlementStore
  private let retention: Duration?
  private let clock: ServiceClock
  private let timer: ServiceTimer
  private let logger: Logger
  private let trimmed = Atomic<Int64>(0)

  /// - Parameter retention: how long changes are kept; nil: for ever.
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

  /// Trims now and then until the task is cancelled. Runs once.
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
  /// Rounded down; what does not fit is the greatest that does.
  fileprivate var milliseconds: Int64 {
    let (product, isTooLarge) = components.seconds.multipliedReportingOverflow(by: 1_000)
    return isTooLarge ? .max : product
  }
}
