package import EntitlementDomain
package import EntitlementStore

/// What happened to an account, oldest first.
package struct CustomerHistory: Hashable, Sendable {
  /// The one that it was merged into, where it was.
  package let accountID: AccountID
  /// At most ``LinkLimits/history``, the latest.
  package let entries: [Entry]

  /// Something that happened.
  package struct Entry: Hashable, Sendable {
    /// When the server learned of it.
    package let at: Milliseconds
    package let occurrence: Occurrence
  }

  package enum Occurrence: Hashable, Sendable {
    /// It got or lost a chain or an app transaction.
    case link(TargetLinkEvent)
    case grant(Grant)
    /// The grant was ended before its time, and says why.
    case grantWithdrawal(Grant)
    /// Apple told something of one of its chains.
    case notification(NotificationRecord)
  }

  init(_ history: AccountHistory) {
    accountID = history.accountID
    let links = history.linkEvents.map { Entry(at: $0.event.at, occurrence: .link($0)) }
    let grants = history.grants.map { Entry(at: $0.createdAt, occurrence: .grant($0)) }
    let withdrawals = history.grants.compactMap { grant in
      grant.withdrawal.map { Entry(at: $0.at, occurrence: .grantWithdrawal(grant)) }
    }
    let notifications = history.notifications.map {
      Entry(at: $0.receivedAt, occurrence: .notification($0.record))
    }
    // Of one moment: what Apple told before what followed from it, and each kind in its own order.
    // Sorting keeps that.
    let all = (notifications + links + grants + withdrawals).sorted { $0.at < $1.at }
    entries = all.suffix(LinkLimits.history)
  }
}
