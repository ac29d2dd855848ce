/// How closely a node follows what others write.
package struct FollowingLimits: Hashable, Sendable {
  /// How long an answer in memory is served without a look at what others have written: beyond it,
  /// the store is asked.
  package var staleness: Duration
  /// The longest time between two looks. It recovers announcements that were lost, and is well
  /// within the bound above.
  package var interval: Duration
  /// The shortest time between two looks, so that a busy database is not asked without end.
  package var pause: Duration
  /// When to look again for what was told but is not in the feed yet, since an older transaction is
  /// still under way. Twice as long each time, up to the interval.
  package var recheck: Duration
  /// Customers that are dropped one by one in a look: beyond it, it takes less time to drop all.
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
