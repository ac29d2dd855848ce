package import EntitlementStore
package import Logging
import Synchronization

/// Learns what other nodes wrote, and drops what this one holds of it: one loop a node.
///
/// It looks at each announcement, and after a second at the latest: announcements may be lost. While
/// it cannot look, answers in memory stop counting after ``FollowingLimits/staleness``; they are
/// kept, and count again once it has caught up and dropped those that changed.
package final class ChangeFollower: Sendable {
  private let store: any EntitlementStore
  private let horizon: FeedHorizon
  private let timer: ServiceTimer
  private let limits: FollowingLimits
  private let logger: Logger
  private let changed: @Sendable (WrittenChanges) -> Void
  private let cleared: @Sendable () -> Void
  private let counts = Mutex(FollowerStatistics())
  /// Something was announced since the last look.
  private let isAnnounced = Atomic(false)

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
    await withTaskGroup(of: Void.self) { group in
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
      while await reasons.next() != nil {
        let wasAnnounced = isAnnounced.exchange(false, ordering: .sequentiallyConsistent)
        let isUnsettled = await look(isAnnounced: wasAnnounced)
        let pause = isUnsettled ? limits.recheck : limits.pause
        if pause > .zero, (try? await timer.sleep(pause)) == nil { break }
        if isUnsettled { giveReason.yield() }
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
    guard horizon.position >= 0 else {
      try await startAtEnd()
      return Findings()
    }
    do throws(StoreError) {
      return try await changedSinceLastLook()
    } catch  where error.code == .cursorExpired {
      counts.withLock { $0.cleared += 1 }
      logger.notice("the change feed was trimmed beyond what was followed; starting anew")
      try await startAtEnd()
      return Findings()
    }
  }

  /// Reads until everything is known that was committed before this began. A store may tell it in
  /// parts, and others may write faster than this reads: then the end of now is enough.
  private func changedSinceLastLook() async throws(StoreError) -> Findings {
    var findings = Findings()
    var end: Int64?
    var reads = 0
    while true {
      let position = horizon.position
      let found = try await store.changedCustomers(after: position)
      // In this order: see `require`.
      horizon.require(found.latest)
      if !found.subjects.isEmpty {
        changed(WrittenChanges(subjects: found.subjects, latest: found.latest))
      }
      findings.subjects += found.subjects.count
      findings.isUnsettled = found.latest > found.position
      guard found.position > position else { return findings }
      horizon.followed(to: found.position)
      reads += 1
      if reads == 2 { end = try await store.feedEnd() }
      if let end, found.position >= end { return findings }
    }
  }

  /// What was committed before is not looked at: so nothing may be held from before.
  private func startAtEnd() async throws(StoreError) {
    let end = try await store.feedEnd()
    horizon.require(end)
    cleared()
    horizon.followed(to: end)
  }
}
