package import EntitlementStore
package import Logging
import Synchronization

/// Polls the store for changes of all nodes and invalidates the cached answers of changed
/// customers. A node runs one follower.
///
/// The follower polls at each announcement, and at least every ``FollowingLimits/interval``, as
/// announcements may be lost. While polls fail, cached answers are served up to
/// ``FollowingLimits/staleness``. They stay in memory. The next successful poll
/// invalidates the changed ones, and the others are served again.
///
/// The follower invalidates everything and restarts at the end of the feed when the store cannot
/// list the changes, as after a failover that may have lost some, and when too many customers
/// changed.
package final class ChangeFollower: Sendable {
  private let store: any EntitlementStore
  private let watermark: FeedWatermark
  private let timer: ServiceTimer
  private let limits: FollowingLimits
  private let logger: Logger
  private let changed: @Sendable (WrittenChanges) -> Void
  private let cleared: @Sendable () -> Void
  private let counts = Mutex(FollowerStatistics())
  /// The position to poll from; nil: start at the end of the feed and invalidate everything.
  private let cursor = Mutex<FollowerCursor?>(nil)
  /// True when an announcement arrived since the last poll.
  private let isAnnounced = Atomic(false)
  private let isRecheckScheduled = Atomic(false)

  /// - Parameters:
  ///   - watermark: advanced by each poll.
  ///   - changed: invalidates the cached answers of customers.
  ///   - cleared: invalidates all cached answers.
  package init(
    store: any EntitlementStore, watermark: FeedWatermark, timer: ServiceTimer = .system,
    limits: FollowingLimits = FollowingLimits(), logger: Logger,
    changed: @escaping @Sendable (WrittenChanges) -> Void,
    cleared: @escaping @Sendable () -> Void
  ) {
    self.store = store
    self.watermark = watermark
    self.timer = timer
    self.limits = limits
    self.logger = logger
    self.changed = changed
    self.cleared = cleared
  }

  /// The position of the feed that the follower has reached; -1 before the first poll.
  package var position: Int64 { watermark.position }

  /// Whether cached answers may be served.
  package var isCurrent: Bool { watermark.isCurrent }

  package var statistics: FollowerStatistics {
    var statistics = counts.withLock { $0 }
    statistics.staleBypasses = watermark.bypassCount
    statistics.position = watermark.position
    statistics.lag = watermark.lag
    return statistics
  }

  /// Follows the feed until the task is cancelled. Call it once.
  package func run() async {
    // Subscribed before the first poll, so that every later commit is announced.
    let announcements = store.announcements()
    let (polls, requestPoll) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    await withDiscardingTaskGroup { group in
      group.addTask {
        for await _ in announcements {
          self.isAnnounced.store(true, ordering: .sequentiallyConsistent)
          requestPoll.yield()
        }
      }
      group.addTask {
        while (try? await self.timer.sleep(self.limits.interval)) != nil {
          self.watermark.wake()
          requestPoll.yield()
        }
        // The task was cancelled.
        requestPoll.finish()
      }
      requestPoll.yield()
      var requests = polls.makeAsyncIterator()
      var recheck = limits.recheck
      while await requests.next() != nil {
        let wasAnnounced = isAnnounced.exchange(false, ordering: .sequentiallyConsistent)
        let hasGap = await poll(isAnnounced: wasAnnounced)
        if !hasGap {
          recheck = limits.recheck
        } else if recheck < limits.interval,
          !isRecheckScheduled.exchange(true, ordering: .sequentiallyConsistent)
        {
          group.addTask { [recheck] in
            try? await self.timer.sleep(recheck)
            self.isRecheckScheduled.store(false, ordering: .sequentiallyConsistent)
            requestPoll.yield()
          }
          // Exponential backoff, up to the regular interval.
          recheck *= 2
        }
        if limits.pause > .zero, (try? await timer.sleep(limits.pause)) == nil { break }
      }
      group.cancelAll()
    }
  }

  // MARK: Polling

  private struct PollResult {
    var customers = 0
    /// True when a listed change is beyond the end of the feed, as an older transaction is in
    /// flight.
    var hasGap = false
  }

  /// - Returns: whether to poll again before the next interval.
  private func poll(isAnnounced: Bool) async -> Bool {
    let began = timer.now()
    do throws(StoreError) {
      let result = try await readChanges()
      watermark.recordPoll(begunAt: began)
      counts.withLock { counts in
        counts.polls += 1
        counts.changed += Int64(result.customers)
        if !isAnnounced, result.customers > 0 { counts.recovered += 1 }
      }
      watermark.wake()
      return result.hasGap
    } catch {
      counts.withLock { counts in
        counts.polls += 1
        counts.failedPolls += 1
      }
      // At most one line per interval. The store is closed before this task during a shutdown.
      if error.code != .closed, !Task.isCancelled {
        logger.warning(
          "changes of other nodes cannot be read", metadata: ["reason": "\(error)"])
      }
      return false
    }
  }

  private func readChanges() async throws(StoreError) -> PollResult {
    guard let cursor = cursor.withLock({ $0 }) else {
      try await startAtEnd()
      return PollResult()
    }
    do throws(StoreError) {
      return try await readChanges(since: cursor)
    } catch  where error.code == .cursorExpired {
      logger.notice(
        "the change feed no longer contains the follower's position; restarting at its end",
        metadata: ["reason": "\(error.message)"])
      try await restart()
      return PollResult()
    }
  }

  /// Reads page by page until every change that was committed before the call is processed.
  private func readChanges(since cursor: FollowerCursor) async throws(StoreError) -> PollResult {
    var cursor = cursor
    var result = PollResult()
    while true {
      let page = try await store.changedCustomers(since: cursor)
      cursor = page.cursor
      // `require` has to precede the invalidation.
      watermark.require(cursor.latest)
      if !page.subjects.isEmpty {
        changed(WrittenChanges(subjects: page.subjects, latest: cursor.latest))
      }
      watermark.advance(to: cursor.position)
      self.cursor.withLock { [cursor] in $0 = cursor }
      result.customers += page.subjects.count
      result.hasGap = cursor.latest > cursor.position
      if page.isComplete { return result }
      if result.customers > limits.subjects {
        logger.notice(
          "too many customers changed since the last poll; restarting at the end of the feed")
        try await restart()
        return result
      }
    }
  }

  private func restart() async throws(StoreError) {
    // If this fails, the next poll starts at the end.
    cursor.withLock { $0 = nil }
    counts.withLock { $0.cleared += 1 }
    try await startAtEnd()
  }

  /// Skips everything that was committed before, so all cached answers are invalidated.
  private func startAtEnd() async throws(StoreError) {
    let cursor = try await store.followerCursor()
    watermark.require(cursor.latest)
    cleared()
    watermark.restart(at: cursor.position)
    self.cursor.withLock { $0 = cursor }
  }
}

/// Intervals and limits of a ``ChangeFollower``.
package struct FollowingLimits: Hashable, Sendable {
  /// The age of the last poll up to which cached answers are served. Beyond it, reads go to the
  /// store.
  package var staleness: Duration
  /// The longest time between two polls. It recovers from lost announcements, and is well below
  /// ``staleness``.
  package var interval: Duration
  /// The shortest time between two polls. It limits the load on a busy database.
  package var pause: Duration
  /// The first delay before a poll for changes that the feed does not show yet, as an older
  /// transaction is in flight. It doubles with each such poll, up to ``interval``.
  package var recheck: Duration
  /// The number of customers that one poll invalidates one by one. Beyond it, invalidating
  /// everything is faster.
  package var subjects: Int

  package init(
    staleness: Duration = .seconds(5), interval: Duration = .seconds(1),
    pause: Duration = .milliseconds(2), recheck: Duration = .milliseconds(50),
    subjects: Int = 100_000
  ) {
    self.staleness = staleness
    self.interval = interval
    self.pause = pause
    self.recheck = recheck
    self.subjects = subjects
  }
}

/// Metrics of a ``ChangeFollower`` since the start.
package struct FollowerStatistics: Hashable, Sendable {
  /// Polls, failed ones included.
  package var polls: Int64 = 0
  package var failedPolls: Int64 = 0
  /// Changed customers that polls returned.
  package var changed: Int64 = 0
  /// Polls without an announcement that found changes. The announcement was lost.
  package var recovered: Int64 = 0
  /// How often all cached answers were invalidated, as the store could not list the changes or too
  /// many customers changed.
  package var cleared: Int64 = 0
  /// Reads that went to the store because the last poll was too old.
  package var staleBypasses: Int64 = 0
  /// The position of the feed that the follower has reached; -1 before the first poll.
  package var position: Int64 = -1
  /// The time since the last successful poll began; nil before the first.
  package var lag: Duration?

  package init() {}
}

extension FollowerStatistics {
  package var values: [StatisticValue] {
    [
      StatisticValue("follower.looks", polls),
      StatisticValue("follower.failed_looks", failedPolls),
      StatisticValue("follower.changed", changed),
      StatisticValue("follower.recovered", recovered),
      StatisticValue("follower.cleared", cleared),
      StatisticValue("follower.stale_bypasses", staleBypasses),
      StatisticValue("follower.position", max(0, position)),
      StatisticValue("follower.lag_microseconds", lag?.microseconds ?? 0),
    ]
  }
}
