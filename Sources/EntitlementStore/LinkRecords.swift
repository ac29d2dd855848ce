package import EntitlementDomain

/// One thing that an account owns.
package struct LinkedTarget: Hashable, Sendable {
  package var target: LinkTarget
  /// Nobody signed what the account was named with.
  package var isUnsigned: Bool
  /// When and why it got this account.
  package var since: Milliseconds
  package var reason: LinkReason

  package init(target: LinkTarget, isUnsigned: Bool, since: Milliseconds, reason: LinkReason) {
    self.target = target
    self.isUnsigned = isUnsigned
    self.since = since
    self.reason = reason
  }
}

/// One step in the history of a link (R41, R46).
package struct LinkEvent: Hashable, Sendable {
  package var from: AccountID?
  package var to: AccountID?
  /// The account of `from`, or of `to`, was deleted since: it is nil, though it was not then.
  package var isFromErased: Bool
  package var isToErased: Bool
  package var reason: LinkReason
  /// Who asked for it, in their words; nil when a submission brought it about.
  package var author: String?
  /// Why, in the words of who asked; nil as `author`.
  package var note: String?
  package var at: Milliseconds

  package init(
    from: AccountID?, to: AccountID?, isFromErased: Bool = false, isToErased: Bool = false,
    reason: LinkReason, author: String? = nil, note: String? = nil, at: Milliseconds
  ) {
    self.from = from
    self.to = to
    self.isFromErased = isFromErased
    self.isToErased = isToErased
    self.reason = reason
    self.author = author
    self.note = note
    self.at = at
  }
}

/// A step in the history of what it concerned.
package struct TargetLinkEvent: Hashable, Sendable {
  package var target: LinkTarget
  package var event: LinkEvent

  package init(target: LinkTarget, event: LinkEvent) {
    self.target = target
    self.event = event
  }
}

/// A chain that no account has.
package struct UnlinkedChain: Hashable, Sendable {
  package var chain: OriginalTransactionID
  package var revision: Int64
  /// When that change was made.
  package var changedAt: Milliseconds

  package init(chain: OriginalTransactionID, revision: Int64, changedAt: Milliseconds) {
    self.chain = chain
    self.revision = revision
    self.changedAt = changedAt
  }
}

/// Whom a selector finds.
package struct ResolvedCustomer: Hashable, Sendable {
  /// The account, or the one chain without an account; nil when nobody is known, or several
  /// unlinked chains are.
  package var subject: CustomerSubject?
  package var revision: Int64

  package init(subject: CustomerSubject?, revision: Int64) {
    self.subject = subject
    self.revision = revision
  }
}

/// What happened to one account.
package struct AccountHistory: Hashable, Sendable {
  package var accountID: AccountID
  /// Every step that concerned the account, oldest first.
  package var linkEvents: [TargetLinkEvent]
  /// Withdrawn ones included, oldest first.
  package var grants: [Grant]
  /// Those whose facts speak of its chains, oldest first.
  package var notifications: [ReceivedRecord]

  package init(
    accountID: AccountID, linkEvents: [TargetLinkEvent], grants: [Grant],
    notifications: [ReceivedRecord]
  ) {
    self.accountID = accountID
    self.linkEvents = linkEvents
    self.grants = grants
    self.notifications = notifications
  }
}

/// A notification, without what Apple signed, and when it came.
package struct ReceivedRecord: Hashable, Sendable {
  package var record: NotificationRecord
  package var receivedAt: Milliseconds

  package init(record: NotificationRecord, receivedAt: Milliseconds) {
    self.record = record
    self.receivedAt = receivedAt
  }
}

/// All that a store knows of one account (R46).
package struct AccountExport: Hashable, Sendable {
  package var accountID: AccountID
  package var revision: Int64
  /// When the latest change was made; nil when there was none.
  package var changedAt: Milliseconds?
  /// Accounts that were merged into it.
  package var merged: [AccountID]
  package var tokens: [AppAccountToken]
  package var links: [LinkedTarget]
  /// Every step that concerned the account, oldest first.
  package var linkEvents: [TargetLinkEvent]
  /// Every standing fact of what it owns. Those out of one document share the bytes of it: a document
  /// is as long as a mebibyte, and hundreds of facts may come out of it.
  package var facts: [SignedFact]
  package var grants: [Grant]
  /// Those whose facts speak of its chains, oldest first.
  package var notifications: [ReceivedNotification]

  package init(
    accountID: AccountID, revision: Int64, changedAt: Milliseconds?, merged: [AccountID],
    tokens: [AppAccountToken], links: [LinkedTarget], linkEvents: [TargetLinkEvent],
    facts: [SignedFact], grants: [Grant], notifications: [ReceivedNotification]
  ) {
    self.accountID = accountID
    self.revision = revision
    self.changedAt = changedAt
    self.merged = merged
    self.tokens = tokens
    self.links = links
    self.linkEvents = linkEvents
    self.facts = facts
    self.grants = grants
    self.notifications = notifications
  }
}

package struct ReceivedNotification: Hashable, Sendable {
  package var notification: SignedNotification
  package var receivedAt: Milliseconds

  package init(notification: SignedNotification, receivedAt: Milliseconds) {
    self.notification = notification
    self.receivedAt = receivedAt
  }
}
