package import EntitlementDomain

/// The changes that a ``Ledger`` decided: final rows, each once. A store writes them atomically.
package struct LedgerChanges: Sendable {
  /// The new standing versions.
  package var facts: [ScopedFact: FactWrite] = [:]
  /// Changed histories of facts whose standing version is not written.
  package var histories: [ScopedFact: HistoryWrite] = [:]
  /// Versions that stand no longer, or never did.
  package var versions: [ScopedFact: VersionsWrite] = [:]
  package var links: [ScopedTarget: LinkWrite] = [:]
  package var accounts: [ScopedAccount: AccountWrite] = [:]
  /// Nil: the token is deleted.
  package var tokens: [ScopedToken: TokenRow?] = [:]
  /// Nil: the grant is deleted.
  package var grants: [ScopedGrant: Grant?] = [:]
  package var notifications: [NotificationWrite] = []
  /// In the order of the changes.
  package var linkEvents: [LinkEventWrite] = []
  /// Refused claims, each of which replaces the former one of its account and target.
  package var refusedClaims: [RefusedClaim.Key: RefusedClaim] = [:]
  /// Entries of the feed. The position in this list, from 1, is the ordinal of the entry. Its
  /// sequence number is the base of the transaction plus the ordinal.
  package var changes: [ChangeWrite] = []
  /// Documents that a replaced fact came from. Delete those without another fact.
  package var releasedDocuments: Set<PayloadDigest> = []
  /// Accounts whose ids are erased from stored link events (R46). Events in ``linkEvents`` name
  /// such an account only when it was created again after the deletion.
  package var erasedAccounts: Set<ScopedAccount> = []
  /// Entries of the audit trail, in the order of the calls.
  package var audits: [AuditCall] = []
  /// Jobs that are inserted or replaced. One without an id is new.
  package var jobs: [AppStoreJobKey: AppStoreJob] = [:]
  /// Records of consumption that are inserted or replaced. One without an id is new.
  package var consumption: [ConsumptionKey: ConsumptionRecord] = [:]
  /// Nil: the consent is deleted.
  package var consents: [ScopedAccount: ConsumptionConsent?] = [:]

  package init() {}

  package var isEmpty: Bool {
    facts.isEmpty && histories.isEmpty && versions.isEmpty && links.isEmpty && accounts.isEmpty
      && tokens.isEmpty && grants.isEmpty
      && notifications.isEmpty && linkEvents.isEmpty && refusedClaims.isEmpty && changes.isEmpty
      && releasedDocuments.isEmpty && erasedAccounts.isEmpty && audits.isEmpty
      && jobs.isEmpty && consumption.isEmpty && consents.isEmpty
  }
}

/// A fact that is inserted or replaced.
package struct FactWrite: Sendable {
  package var signed: SignedFact
  package var target: LinkTarget
  package var hints: FactHints
  /// The target of the stored version; nil when the fact is not stored.
  package var storedTarget: LinkTarget?
  /// Nil for a fact with one version that was signed once.
  package var history: FactHistory?
  /// The payload of a ``FactSupplement``.
  package var supplement: [UInt8]?

  package init(
    signed: SignedFact, target: LinkTarget, hints: FactHints, storedTarget: LinkTarget?,
    history: FactHistory? = nil, supplement: [UInt8]? = nil
  ) {
    self.signed = signed
    self.target = target
    self.hints = hints
    self.storedTarget = storedTarget
    self.history = history
    self.supplement = supplement
  }
}

/// The history of a stored fact with its supplement, to be updated.
package struct HistoryWrite: Hashable, Sendable {
  /// The target of the stored fact.
  package var target: LinkTarget
  package var history: FactHistory
  /// The payload of a ``FactSupplement``.
  package var supplement: [UInt8]?
}

/// The changes of a fact's versions other than the standing one (R53).
package struct VersionsWrite: Sendable {
  /// The version that stands in the store, and no longer does: its payload is copied before the fact
  /// is replaced.
  package var former: StatementDigest?
  /// Versions of this transaction. Of a document's facts only the payload is kept: a version must not
  /// keep a whole receipt alive.
  package var added: [StatementDigest: SignedFact] = [:]
  /// Stored versions that are deleted, before the others are written.
  package var removed: Set<StatementDigest> = []

  /// Updates the versions to those of a history.
  ///
  /// - Parameters:
  ///   - before: the history before the change.
  ///   - signed: the statement that was added.
  ///   - standing: the former standing version, if it is not stored yet.
  mutating func update(
    from before: FactHistory, to after: FactHistory, adding statement: StatementDigest,
    _ signed: SignedFact, standing: SignedFact?
  ) {
    for version in before.others.subtracting(after.others) {
      if added.removeValue(forKey: version) != nil { continue }
      if former == version { former = nil } else { removed.insert(version) }
    }
    for version in after.others.subtracting(before.others) {
      if version == statement {
        added[version] = signed
      } else if let standing {
        added[version] = standing
      } else {
        former = version
      }
    }
  }
}

/// A link that is inserted or updated.
package struct LinkWrite: Hashable, Sendable {
  /// The revision of the row is stored unless ``changeOrdinal`` gives a new one.
  package var row: LinkRow
  /// The account of the stored row.
  package var storedAccount: AccountID?
  /// True when the row does not exist yet.
  package var isNew: Bool
  /// The feed entry that gives the new revision; nil: the revision does not change.
  package var changeOrdinal: Int?
  /// Stored only for a new row or with a new revision.
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

/// An account that is inserted or updated.
package struct AccountWrite: Hashable, Sendable {
  /// The revision of the row is stored unless ``changeOrdinal`` gives a new one.
  package var row: AccountRow
  /// True when the row does not exist yet.
  package var isNew: Bool
  /// The feed entry that gives the new revision; nil: the revision does not change.
  package var changeOrdinal: Int?
  /// Stored only for a new row or with a new revision.
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

/// A notification that is inserted.
package struct NotificationWrite: Sendable {
  package var notification: SignedNotification
  package var receivedAt: Milliseconds
  /// The first chain of its facts.
  package var chain: OriginalTransactionID?

  package init(
    notification: SignedNotification, receivedAt: Milliseconds, chain: OriginalTransactionID?
  ) {
    self.notification = notification
    self.receivedAt = receivedAt
    self.chain = chain
  }
}

/// A link event that is appended.
package struct LinkEventWrite: Hashable, Sendable {
  package var target: ScopedTarget
  package var event: LinkEvent

  package init(target: ScopedTarget, event: LinkEvent) {
    self.target = target
    self.event = event
  }
}

/// A feed entry that is appended.
package struct ChangeWrite: Hashable, Sendable {
  package var scope: AppScope
  /// Nil for events of a notification without a known customer.
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
  /// One less than the number of the first change.
  package let base: Int64

  package init(base: Int64) {
    self.base = base
  }

  package func sequence(_ ordinal: Int) -> Int64 { base + Int64(ordinal) }
}

/// A revision before the commit, when the sequence numbers are not known yet.
package enum LedgerRevision: Hashable, Sendable {
  case stored(Int64)
  /// The number of a change of this transaction, by its ordinal.
  case change(Int)

  package func number(_ numbering: ChangeNumbering) -> Int64 {
    switch self {
    case .stored(let revision): revision
    case .change(let ordinal): numbering.sequence(ordinal)
    }
  }
}
