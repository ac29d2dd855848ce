package import EntitlementStore
package import Logging
import Synchronization

/// Learns what other nodes wrote, and drops what this one holds of it: one loop a node.
///
/// It looks at each announcement, and after a second at the latest: announcements may be lost. While
/// it cannot look, answers in memory stop counting after ``FollowingLimits/staleness``; they are
/// kept, and count again once it has caught up and dropped those that changed.
///
/// Where the store cannot tell what changed, as after a failover that may have lost what was seen, and
/// where more changed than is worth telling, everything goes and following begins anew.
package final class ChangeFollower: Sendable {
  private let store: any EntitlementStore
  private let horizon: FeedHorizon
  private let timer: ServiceTimer
  private let limits: FollowingLimits
  private let logger: Logger
  private let changed: @Sendable (WrittenChanges) -> Void
  private let cleared: @Sendable () -> Void
  private let counts = Mutex(FollowerStatistics())
  /// What was told; nil: nothing, and nothing may be held from before.
  private let cursor = Mutex<FollowerCursor?>(nil)
  /// Something was announced since the last look.
  private let isAnnounced = Atomic(false)
  /// A look is due that nobody announces.
  private let isRecheckDue = Atomic(false)

  /// - Parameters:
  ///   - horizon: what this moves, and reads look at.
  ///   - changed: drops what is held of customers.
  ///   - cleared: drops all that is held.
  package init(
    store: any EntitlementStore, horizon: FeedHorizon, timer: ServiceTimer = .system,
    limits: FollowingLimits = FollowingLimits(), logger: Logger,
    changed: @escaping @Sendable (WrittenChanges) -> Void,
    cleared: @escaping @Sendable () -> Void
  ) {
    self.store = store
    self.horizon = horizon
    self.timer = timer
    self.limits = limits
    self.logger = logger
    self.changed = changed
    self.cleared = cleared
  }

  /// Up to where the feed is followed; -1 before the first look.
  package var position: Int64 { horizon.position }

  /// Whether answers in memory count.
  package var isCurrent: Bool { horizon.isCurrent }

  package var statistics: FollowerStatistics {
    var statistics = counts.withLock { $0 }
    statistics.staleBypasses = horizon.bypassCount
    statistics.position = horizon.position
    statistics.lag = horizon.lag
    return statistics
  }

  /// Follows until the task is cancelled. Runs once.
  package func run() async {
    // Before the first look: what is committed from now on is announced.
    let announcements = store.announcements()
    let (reasons, giveReason) = AsyncStream.makeStream(
      of: Void.self, bufferingPolicy: .bufferingNewest(1))
    await withDiscardingTaskGroup { group in
      group.addTask {
        for await _ in announcements {
          self.isAnnounced.store(true, ordering: .sequentiallyConsistent)
          giveReason.yield()
        }
      }
      group.addTask {
        while (try? await self.timer.sleep(self.limits.interval)) != nil {
          self.horizon.wake()
          giveReason.yield()
        }
        // The task was cancelled.
        giveReason.finish()
      }
      giveReason.yield()
      var reasons = reasons.makeAsyncIterator()
      var recheck = limits.recheck
      while await reasons.next() != nil {
        let wasAnnounced = isAnnounced.exchange(false, ordering: .sequentiallyConsistent)
        let isUnsettled = await look(isAnnounced: wasAnnounced)
        if !isUnsettled {
          recheck = limits.recheck
        } else if recheck < limits.interval,
          !isRecheckDue.exchange(true, ordering: .sequentiallyConsistent)
        {
          group.addTask { [recheck] in
            try? await self.timer.sleep(recheck)
            self.isRecheckDue.store(false, ordering: .sequentiallyConsistent)
            giveReason.yield()
          }
          // What takes long may take longer: in the end the usual interval is enough.
          recheck *= 2
        }
        if limits.pause > .zero, (try? await timer.sleep(limits.pause)) == nil { break }
      }
      group.cancelAll()
    }
  }

  // MARK: Looking

  /// What a look has found.
  private struct Findings {
    var subjects = 0
    /// Something was told that the feed does not tell yet.
    var isUnsettled = false
  }

  /// - Returns: whether to look again soon.
  private func look(isAnnounced: Bool) async -> Bool {
    let began = timer.now()
    do throws(StoreError) {
      let findings = try await findings()
      horizon.looked(at: began)
      counts.withLock { counts in
        counts.looks += 1
        counts.changed += Int64(findings.subjects)
        if !isAnnounced, findings.subjects > 0 { counts.recovered += 1 }
      }
      horizon.wake()
      return findings.isUnsettled
    } catch {
      counts.withLock { counts in
        counts.looks += 1
        counts.failedLooks += 1
      }
      // Once a second at most; a stop closes the store before this ends.
      if error.code != .closed, !Task.isCancelled {
        logger.warning("what others wrote cannot be read", metadata: ["reason": "\(error)"])
      }
      return false
    }
  }

  private func findings() async throws(StoreError) -> Findings {
    guard let cursor = cursor.withLock({ $0 }) else {
      try await startAtEnd()
      return Findings()
    }
    do throws(StoreError) {
      return try await changed(since: cursor)
    } catch  where error.code == .cursorExpired {
      logger.notice(
        "what others wrote cannot be told from where it was followed; starting anew",
        metadata: ["reason": "\(error.message)"])
      try await startAnew()
      return Findings()
    }
  }

  /// Reads part by part until everything is known that was committed before this began.
  private func changed(since cursor: FollowerCursor) async throws(StoreError) -> Findings {
    var cursor = cursor
    var findings = Findings()
    while true {
      let found = try await store.changedCustomers(since: cursor)
      cursor = found.cursor
      // In this order: see `require`.
      horizon.require(cursor.latest)
      if !found.subjects.isEmpty {
        changed(WrittenChanges(subjects: found.subjects, latest: cursor.latest))
      }
      horizon.followed(to: cursor.position)
      self.cursor.withLock { [cursor] in $0 = cursor }
      findings.subjects += found.subjects.count
      findings.isUnsettled = cursor.latest > cursor.position
      if found.isWhole { return findings }
      if findings.subjects > limits.subjects {
        logger.notice("too many customers changed to follow each; starting anew")
        try await startAnew()
        return findings
      }
    }
  }

  private func startAnew() async throws(StoreError) {
    // Should this fail, the next look begins here.
    cursor.withLock { $0 = nil }
    counts.withLock { $0.cleared += 1 }
    try await startAtEnd()
  }

  /// What was committed before is not looked at: so nothing may be held from before.
  private func startAtEnd() async throws(StoreError) {
    let cursor = try await store.followerCursor()
    horizon.require(cursor.latest)
    cleared()
    horizon.began(at: cursor.position)
    self.cursor.withLock { $0 = cursor }
  }
}
