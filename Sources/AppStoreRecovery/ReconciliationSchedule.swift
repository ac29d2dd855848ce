package import EntitlementDomain
package import EntitlementStore

/// Decides when the notifications of an app are asked for (R81): at the start after an absence, and again
/// and again.
package struct ReconciliationSchedule {
  private let limits: RecoveryLimits
  /// The reconciliations that this process scheduled, or found to be recent. For these, the time in
  /// which the process may have been absent is over.
  private var seen: Set<AppStoreJobKey> = []

  package init(limits: RecoveryLimits) {
    self.limits = limits
  }

  /// The reconciliation that ``since(_:of:now:jobsNow:)`` asked for is scheduled.
  package mutating func scheduled(_ key: AppStoreJobKey) {
    seen.insert(key)
  }

  /// - Parameters:
  ///   - job: the app's; nil before its first reconciliation.
  ///   - now: by the clock of the service.
  ///   - jobsNow: by the clock of jobs.
  /// - Returns: from when on notifications are to be asked for; nil: not now.
  package mutating func since(
    _ job: AppStoreJob?, of key: AppStoreJobKey, now: Milliseconds, jobsNow: Milliseconds
  ) -> Milliseconds? {
    let everything = now.advanced(by: .zero - key.scope.environment.notificationSpan)
    guard let job else { return everything }
    guard job.state != .open else { return nil }
    // One that was given up or cancelled is not repeated at once.
    if job.state != .done,
      jobsNow < job.changedAt.advanced(by: limits.reconciliationInterval)
    {
      return nil
    }
    // Clocks of nodes differ by seconds. Of a moment far ahead one was wrong.
    guard let complete = job.completeUntil,
      complete <= now.advanced(by: limits.overlap)
    else { return everything }
    let interval = seen.contains(key) ? limits.reconciliationInterval : limits.absence
    guard now >= complete.advanced(by: interval) else {
      seen.insert(key)
      return nil
    }
    return complete.advanced(by: .zero - limits.overlap)
  }
}
