/// What a follower of the feed has done since the start.
package struct FollowerStatistics: Hashable, Sendable {
  /// Looks at what was written, those that failed included.
  package var looks: Int64 = 0
  package var failedLooks: Int64 = 0
  /// Customers that were told to have changed.
  package var changed: Int64 = 0
  /// Looks that nothing had announced and that found something: the announcement was lost.
  package var recovered: Int64 = 0
  /// How often everything in memory was dropped, as it could not be told what had changed, or too
  /// many had.
  package var cleared: Int64 = 0
  /// Reads that were not answered from memory since the last look was too long ago.
  package var staleBypasses: Int64 = 0
  /// The position of the feed that is followed up to; -1 before the first look.
  package var position: Int64 = -1
  /// The time since the last look began that saw all; nil before the first.
  package var lag: Duration?

  package init() {}
}

extension FollowerStatistics {
  package var values: [StatisticValue] {
    [
      StatisticValue("follower.looks", looks),
      StatisticValue("follower.failed_looks", failedLooks),
      StatisticValue("follower.changed", changed),
      StatisticValue("follower.recovered", recovered),
      StatisticValue("follower.cleared", cleared),
      StatisticValue("follower.stale_bypasses", staleBypasses),
      StatisticValue("follower.position", max(0, position)),
      StatisticValue("follower.lag_microseconds", lag?.microseconds ?? 0),
    ]
  }
}
