import EntitlementDomain
import EntitlementStore
import GRDB

extension SubmissionWriter {
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
      catalog: submission.catalog)
    if events.isEmpty { return nil }
    if let chain = merges.lazy.compactMap({ concerns.chains[$0.chainRowID ?? 0]?.row }).first {
      return NotificationFindings(
        events: events, scopeID: chain.scopeID,
        customer: chain.account.map { .account($0) } ?? .chain(chain.id))
    }
    if let key = merges.lazy.compactMap(\.appTransaction).first {
      return NotificationFindings(
        events: events, scopeID: key.scopeID,
        customer: concerns.appTransactions[key]?.account.map { .account($0) })
    }
    return NotificationFindings(
      events: events, scopeID: try database.internedScopeID(scope), customer: nil)
  }

  /// Every standing fact of the chains of some facts, and of their app transactions, each once.
  private func standingFacts(about merges: [FactMerge]) throws -> [Fact] {
    var facts: [Fact] = []
    var chains: Set<Int64> = []
    var appTransactions: Set<AppTransactionKey> = []
    for merge in merges {
      if let id = merge.chainRowID, chains.insert(id).inserted {
        facts += try database.facts(.factsOfChain, [id], in: merge.fact.scope)
      }
      if let key = merge.appTransaction, appTransactions.insert(key).inserted {
        facts += try database.facts(
          .factByKey, merge.fact.key.arguments(scopeID: key.scopeID), in: merge.fact.scope)
      }
    }
    return facts
  }
}
