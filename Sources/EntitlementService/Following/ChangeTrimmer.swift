import EntitlementDomain
package import EntitlementStore
package import Logging
import Synchronization

/// Deletes changes of the feed that are older than the retention time, by the time that the store
/// trusts. It works in small steps, so that writers are blocked only briefly. Several nodes may trim
/// at the same time.
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

  /// The time between two errors in the log about the same clock.
  package static let reportInterval = Duration.seconds(86_400)

  /// What one run knows from the runs before it.
  private struct Progress {
    /// When the store last said by which time to trim, by the timer.
    var asked: Duration?
    /// When a clock was last reported, by the timer; nil while no clock is in doubt.
    var reported: Duration?
  }

  /// Trims every ``interval`` until the task is cancelled. Call it once.
  package func run() async {
    var progress = Progress()
    repeat {
      if let retention { await trim(olderThan: retention, &progress) }
    } while (try? await timer.sleep(Self.interval)) != nil
  }

  private func trim(olderThan retention: Duration, _ progress: inout Progress) async {
    var count = 0
    do {
      guard let now = try await time(retention, &progress) else { return }
      let moment = now.advanced(by: -retention.wholeMilliseconds)
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
      logger.info("trimmed the change feed", metadata: ["changes": .stringConvertible(count)])
    }
  }

  /// The time by which to trim. The store decides it: the clock of this node may be wrong.
  private func time(
    _ retention: Duration, _ progress: inout Progress
  ) async throws(StoreError) -> Milliseconds? {
    let asked = timer.now()
    let time = try await store.trimmingTime(
      clock: clock.now(), elapsed: progress.asked.map { asked - $0 } ?? .zero,
      retention: retention)
    progress.asked = asked
    if let doubt = time.doubt {
      if progress.reported.map({ asked - $0 >= Self.reportInterval }) ?? true {
        logger.error("a clock is wrong: the change feed is kept", metadata: ["reason": "\(doubt)"])
        progress.reported = asked
      }
    } else if progress.reported != nil {
      logger.notice("the clock is trusted again: the change feed is trimmed by it")
      progress.reported = nil
    }
    return time.now
  }
}
