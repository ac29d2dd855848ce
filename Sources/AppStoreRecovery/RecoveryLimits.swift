package import EntitlementDomain

/// How the App Store is asked for what is missing. Durations.
package struct RecoveryLimits: Hashable, Sendable {
  /// Jobs that this process does at a time. They wait for Apple most of the time.
  package var attempts = 8
  /// Time between two looks for jobs that are due.
  package var pollInterval = Duration.seconds(1)
  /// How long a lease lasts after its last report.
  package var leaseTime = Duration.seconds(60)
  /// The time for one step of an attempt: a page, from the question to its report. It is shorter than a
  /// lease.
  package var stepTime = Duration.seconds(45)
  /// After this time an attempt that advances lets other jobs go first.
  package var turnTime = Duration.seconds(300)
  /// Time before the second attempt. It doubles with each failure, up to ``longestBackoff``.
  package var firstBackoff = Duration.seconds(30)
  package var longestBackoff = Duration.seconds(6 * 3_600)
  /// A job is given up with its last failure of so many: those of an outage of some 38 hours.
  package var failures = 16
  /// The waits after answers of the App Store that do not explain the reasons of a job, or refuse the
  /// request: it may know more later. A further such answer gives the job up.
  package var unexplainedWaits: [Duration] = [60, 900, 7_200, 43_200].map { .seconds($0) }
  /// The wait for a key that the App Store takes.
  package var keyWait = Duration.seconds(3_600)
  /// The longest wait before another attempt to tell about consumption, whose deadline is 12 hours away
  /// at most, or before another look for what is missing.
  package var longestConsumptionWait = Duration.seconds(900)
  /// The shortest wait for what this client or the App Store has no room for.
  package var shortestWait = Duration.seconds(5)
  /// Signed payloads in one submission.
  package var batch = 100
  /// Rows of imports of accounts that this process does at a time. They wait for Apple most of the time,
  /// and fewer than half as many as may wait for one endpoint, so that refetches find room.
  package var importRows = 64
  /// How long the lease of a row lasts after it was renewed last: the rows of a server that was killed wait
  /// so long, if the store cannot tell. It is renewed three times in that time, while the row is being
  /// done. A row whose lease has ended all the same is done again.
  package var importLeaseTime = Duration.seconds(15)
  /// An attempt at a row asks for nothing after this time, and continues later.
  package var importTime = Duration.seconds(45)
  /// The waits after the App Store did not know the transaction of a row, or refused it. After a further
  /// such answer the row has failed.
  package var importWaits: [Duration] = [30, 300].map { .seconds($0) }
  /// Time between two looks at the schedule of reconciliations.
  package var scheduleInterval = Duration.seconds(10)
  /// A reconciliation begins so long after what the previous one has covered.
  package var reconciliationInterval = Duration.seconds(3_600)
  /// The same for the first look of this process, which may have been absent.
  package var absence = Duration.seconds(300)
  /// What the previous reconciliation has covered last is asked for again, as the App Store may list a
  /// notification some time after it was signed.
  package var overlap = Duration.seconds(3_600)
  /// How long the App Store repeats what was not delivered: 1, 12, 24, 48 and 72 hours after the
  /// attempt before (rules.md, R48).
  package var retrySpan = Duration.seconds(157 * 3_600)

  package init() {}

  /// The wait after a failure.
  ///
  /// - Parameters:
  ///   - failures: with this one.
  ///   - jitter: 0 to 1. Jobs that failed together do not come back together.
  package func backoff(afterFailures failures: Int, jitter: Double) -> Duration {
    var wait = firstBackoff
    for _ in 1..<max(failures, 1) where wait < longestBackoff { wait *= 2 }
    return min(wait, longestBackoff) * (0.75 + 0.5 * jitter)
  }
}

extension Milliseconds {
  func advanced(by duration: Duration) -> Milliseconds {
    advanced(by: duration.milliseconds)
  }
}

extension Duration {
  /// Rounded down.
  fileprivate var milliseconds: Int64 {
    let (seconds, attoseconds) = components
    return seconds * 1_000 + attoseconds / 1_000_000_000_000_000
  }
}

extension StoreEnvironment {
  /// How far back the App Store lists notifications.
  package var notificationSpan: Duration {
    .seconds((self == .production ? 180 : 30) * 86_400)
  }
}
