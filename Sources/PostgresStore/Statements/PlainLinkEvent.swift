package import EntitlementDomain
package import EntitlementStore

/// The latest event of a target, where it says no more than that a submission linked the target,
/// which had no account, to the account that has it. Nearly all targets have only this one, so it is
/// kept in columns of the link: `event_position` and `event_reason`, which are NULL where the latest
/// event is another one, its author and its trace. Its moment is the link's `changed_at`, and its account that of the
/// link: before either changes, the event becomes a row of `link_events`.
package struct PlainLinkEvent: Hashable, Sendable {
  /// Its place among the events of the transaction, from 1.
  package let place: Int
  /// A stored number.
  package let reason: Int64
  package let author: LinkAuthor?
  /// The id of a trace; empty if there is none.
  package let trace: [UInt8]

  /// - Parameter place: from 1.
  fileprivate init?(_ write: LinkEventWrite, place: Int, of link: LinkWrite) {
    let event = write.event
    guard let reason = Self.number(of: event.reason), let account = event.to,
      account == link.row.account, event.from == nil, !event.isFromErased,
      event.onBehalfOf == nil, event.note == nil,
      // Otherwise the stored row keeps its moment.
      link.isNew || link.changeOrdinal != nil, link.changedAt == event.at
    else { return nil }
    self.place = place
    self.reason = reason
    author = event.author
    trace = event.traceID ?? []
  }

  // MARK: The columns

  /// Stored numbers, which must not change. 0 is ``WriteStatements/keptEvent``.
  private static let numbers: [(reason: LinkReason, number: Int64)] = [
    (.named, 1), (.appAccountToken, 2), (.appTransaction, 3), (.previousChain, 4), (.imported, 5),
  ]

  /// Nil for the reasons of requests and of events that take a target from an account.
  private static func number(of reason: LinkReason) -> Int64? {
    numbers.first { $0.reason == reason }?.number
  }

  /// SQL of the reason, in the form of `link_events.reason`; NULL without such an event.
  static let storedReason =
    "CASE links.event_reason "
    + numbers.map { "WHEN \($0.number) THEN '\($0.reason.rawValue)'" }.joined(separator: " ")
    + " END"
}

extension LedgerChanges {
  /// The events that are kept with their links. All others are rows of `link_events`.
  package var plainLinkEvents: [ScopedTarget: PlainLinkEvent] {
    var latest: [ScopedTarget: Int] = [:]
    for (index, write) in linkEvents.enumerated() { latest[write.target] = index }
    var events: [ScopedTarget: PlainLinkEvent] = [:]
    for (target, index) in latest {
      guard let link = links[target] else { continue }
      events[target] = PlainLinkEvent(linkEvents[index], place: index + 1, of: link)
    }
    return events
  }

  /// The accounts of an event that do not have the target now. Each gets a row in `account_events`. An
  /// account that has the target needs none: its events are found by the target.
  package func formerAccounts(of write: LinkEventWrite) -> Set<AccountID> {
    Set([write.event.from, write.event.to].compactMap(\.self))
      .subtracting([links[write.target]?.row.account].compactMap(\.self))
  }
}
