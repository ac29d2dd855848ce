import EntitlementDomain

/// What the review of a notification found (R47), and where it is told.
struct NotificationFindings {
  /// At least one.
  let events: [FeedEvent]
  let scope: AppScope
  /// Whom the notification is about; nil when no customer is known.
  let customer: CustomerSubject?
}

extension Ledger {
  /// Reviews a notification in the light of all that is known of what its facts speak of. Links
  /// have to be settled.
  ///
  /// - Returns: nil when it brings no events. One that names no app brings none, as every change of
  ///   the feed has a scope.
  func findings(of notification: SignedNotification, merges: [FactMerge]) throws
    -> NotificationFindings?
  {
    guard let scope = notification.record.scope else { return nil }
    let events = NotificationReview.events(
      of: notification, bringing: merges.map(\.fact), facts: try standingFacts(about: merges),
      catalog: occasion.catalog)
    if events.isEmpty { return nil }
    // The first chain, else the first app transaction.
    let targets = merges.map(\.target)
    guard let target = targets.first(where: { $0.unlinkedSubject != nil }) ?? targets.first else {
      return NotificationFindings(events: events, scope: scope, customer: nil)
    }
    let account = try view.link(of: target)?.account
    return NotificationFindings(
      events: events, scope: target.scope,
      customer: account.map { .account(target.scope, $0) } ?? target.unlinkedSubject)
  }

  /// Every standing fact of the chains of some facts, and of their app transactions, each once.
  private func standingFacts(about merges: [FactMerge]) throws -> [Fact] {
    let keys = Set(merges.map { LedgerKey.facts($0.target) })
    try view.reader.willRead(keys)
    var facts: [Fact] = []
    var seen: Set<ScopedTarget> = []
    for merge in merges where seen.insert(merge.target).inserted {
      facts += try view.facts(of: merge.target)
    }
    return facts
  }
}
