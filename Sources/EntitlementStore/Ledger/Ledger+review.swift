import EntitlementDomain

/// The events of a notification (R47), with the customer and scope of their feed entry.
struct NotificationFindings {
  /// Never empty.
  let events: [FeedEvent]
  let scope: AppScope
  /// The customer of the notification; nil when none is known.
  let customer: CustomerSubject?
}

extension Ledger {
  /// Reviews a notification against all standing facts of its targets. Links must be decided
  /// before.
  ///
  /// - Returns: nil when there are no events. A notification without an app has none, as every
  ///   entry of the feed has a scope.
  func findings(of notification: SignedNotification, merges: [FactMerge]) throws
    -> NotificationFindings?
  {
    guard let scope = notification.record.scope else { return nil }
    let events = NotificationReview.events(
      of: notification, bringing: merges.map(\.fact), facts: try standingFacts(about: merges),
      catalog: context.catalog)
    if events.isEmpty { return nil }
    // The first chain, or the first app transaction if there is no chain.
    let targets = merges.map(\.target)
    guard let target = targets.first(where: { $0.unlinkedSubject != nil }) ?? targets.first else {
      return NotificationFindings(events: events, scope: scope, customer: nil)
    }
    let account = try view.link(of: target)?.account
    return NotificationFindings(
      events: events, scope: target.scope,
      customer: account.map { .account(target.scope, $0) } ?? target.unlinkedSubject)
  }

  /// The standing facts of the targets of some facts, each once.
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
