package import EntitlementDomain

/// What a store has to write so that what a ``Ledger`` decided holds: final rows, each once. All of
/// it or nothing.
package struct LedgerChanges: Sendable {
  /// The version that stands now.
  package var facts: [ScopedFact: FactWrite] = [:]
  package var links: [ScopedTarget: LinkWrite] = [:]
  package var accounts: [ScopedAccount: AccountWrite] = [:]
  /// Nil: the token is known for nobody any more.
  package var tokens: [ScopedToken: AccountID?] = [:]
  /// Nil: the grant is deleted.
  package var grants: [ScopedGrant: Grant?] = [:]
  package var notifications: [NotificationWrite] = []
  /// In the order in which they happened.
  package var linkEvents: [LinkEventWrite] = []
  /// Entries of the feed. The position in this list, from 1, is the entry's ordinal: its sequence
  /// number is the transaction's base plus that.
  package var changes: [ChangeWrite] = []
  /// Documents that a fact no longer comes out of: to be deleted unless another fact does.
  package var releasedDocuments: Set<PayloadDigest> = []
  /// Accounts whose ids have to go from the events of links that are stored (R46). The new ones in
  /// `linkEvents` name them only where they were named again afterwards.
  package var erasedAccounts: Set<ScopedAccount> = []

  package init() {}

  package var isEmpty: Bool {
    facts.isEmpty && links.isEmpty && accounts.isEmpty && tokens.isEmpty && grants.isEmpty
      && notifications.isEmpty && linkEvents.isEmpty && changes.isEmpty
      && releasedDocuments.isEmpty && erasedAccounts.isEmpty
  }
}

package struct FactWrite: Sendable {
  package var signed: SignedFact
  package var target: LinkTarget
  package var hints: FactHints
  /// What the version that was stored before spoke of; nil when the fact was not stored.
  package var storedTarget: LinkTarget?

  package init(
    signed: SignedFact, target: LinkTarget, hints: FactHints, storedTarget: LinkTarget?
  ) {
    self.signed = signed
    self.target = target
    self.hints = hints
    self.storedTarget = storedTarget
  }
}

/// A row that is made or changed.
package struct LinkWrite: Hashable, Sendable {
  /// Its revision counts unless ``changeOrdinal`` does.
  package var row: LinkRow
  /// The account that is stored now.
  package var storedAccount: AccountID?
  /// False when there is a row.
  package var isNew: Bool
  /// The entry of the feed that gives the new revision; nil: it stays.
  package var changeOrdinal: Int?
  /// Counts where the row is new or gets a new revision; else that which is stored stays.
  package var changedAt: Milliseconds

  package init(
    row: LinkRow, storedAccount: AccountID?, isNew: Bool, changeOrdinal: Int? = nil,
    changedAt: Milliseconds
  ) {
    self.row = row
    self.storedAccount = storedAccount
    self.isNew = isNew
    self.changeOrdinal = changeOrdinal
    self.changedAt = changedAt
  }
}

/// A row that is made or changed.
package struct AccountWrite: Hashable, Sendable {
  /// Its revision counts unless ``changeOrdinal`` does.
  package var row: AccountRow
  /// False when there is a row.
  package var isNew: Bool
  /// The entry of the feed that gives the new revision; nil: it stays.
  package var changeOrdinal: Int?
  /// Counts where the row is new or gets a new revision; else that which is stored stays.
  package var changedAt: Milliseconds

  package init(
    row: AccountRow, isNew: Bool, changeOrdinal: Int? = nil, changedAt: Milliseconds
  ) {
    self.row = row
    self.isNew = isNew
    self.changeOrdinal = changeOrdinal
    self.changedAt = changedAt
  }
}

package struct NotificationWrite: Sendable {
  package var notification: SignedNotification
  package var receivedAt: Milliseconds
  /// The first chain that its facts speak of.
  package var chain: OriginalTransactionID?

  package init(
    notification: SignedNotification, receivedAt: Milliseconds, chain: OriginalTransactionID?
  ) {
    self.notification = notification
    self.receivedAt = receivedAt
    self.chain = chain
  }
}

package struct LinkEventWrite: Hashable, Sendable {
  package var target: ScopedTarget
  package var event: LinkEvent

  package init(target: ScopedTarget, event: LinkEvent) {
    self.target = target
    self.event = event
  }
}

package struct ChangeWrite: Hashable, Sendable {
  package var scope: AppScope
  /// Nil for events that concern no customer that is known.
  package var subject: CustomerSubject?
  package var kinds: ChangeKinds
  package var events: [FeedEvent]
  package var committedAt: Milliseconds

  package init(
    scope: AppScope, subject: CustomerSubject?, kinds: ChangeKinds, events: [FeedEvent] = [],
    committedAt: Milliseconds
  ) {
    self.scope = scope
    self.subject = subject
    self.kinds = kinds
    self.events = events
    self.committedAt = committedAt
  }
}

/// The sequence numbers of a transaction's changes.
package struct ChangeNumbering: Hashable, Sendable {
  /// One less than the number of the first.
  package let base: Int64

  package init(base: Int64) {
    self.base = base
  }

  package func sequence(_ ordinal: Int) -> Int64 { base + Int64(ordinal) }
}

/// A revision as a ledger knows it before the commit.
package enum LedgerRevision: Hashable, Sendable {
  case stored(Int64)
  /// That of a change of this transaction, by its ordinal.
  case change(Int)

  package func number(_ numbering: ChangeNumbering) -> Int64 {
    switch self {
    case .stored(let revision): revision
    case .change(let ordinal): numbering.sequence(ordinal)
    }
  }
}
