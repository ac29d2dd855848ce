package import EntitlementDomain
package import EntitlementStore

/// The history of an account, oldest entry first.
package struct CustomerHistory: Hashable, Sendable {
  /// The account itself, or the one that it was merged into.
  package let accountID: AccountID
  /// The latest entries, at most ``LinkLimits/history``.
  package let entries: [Entry]

  package struct Entry: Hashable, Sendable {
    /// When the server received or made the change.
    package let at: Milliseconds
    package let occurrence: Occurrence
  }

  package enum Occurrence: Hashable, Sendable {
    /// The account got or lost a chain or an app transaction.
    case link(TargetLinkEvent)
    case grant(Grant)
    /// A grant was withdrawn; its withdrawal gives the reason.
    case grantWithdrawal(Grant)
    /// A notification of the App Store about one of the account's chains.
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
    // Entries of one millisecond: a notification precedes its effects, and each kind keeps its
    // order. The sort is stable.
    let all = (notifications + links + grants + withdrawals).sorted { $0.at < $1.at }
    entries = all.suffix(LinkLimits.history)
  }
}
