package import EntitlementDomain

/// A chain or app transaction of an account.
package struct LinkedTarget: Hashable, Sendable {
  package var target: LinkTarget
  /// True when the account was named with unsigned facts only.
  package var isUnsigned: Bool
  /// True when it was presented for two accounts. It then links nothing else (R70).
  package var isContested: Bool
  /// When the target was linked to this account.
  package var since: Milliseconds
  package var reason: LinkReason

  package init(
    target: LinkTarget, isUnsigned: Bool, isContested: Bool = false, since: Milliseconds,
    reason: LinkReason
  ) {
    self.target = target
    self.isUnsigned = isUnsigned
    self.isContested = isContested
    self.since = since
    self.reason = reason
  }
}

/// A token with what is known of it (R71).
package struct KnownToken: Hashable, Sendable {
  package var token: AppAccountToken
  package var row: TokenRow

  package init(_ token: AppAccountToken, _ row: TokenRow) {
    self.token = token
    self.row = row
  }
}

/// An event in the history of a link (R41, R46).
package struct LinkEvent: Hashable, Sendable {
  /// Nil when the target was unlinked before, or the account was deleted since.
  package var from: AccountID?
  /// Nil when the target is unlinked from then on, or the account was deleted since.
  package var to: AccountID?
  /// True when `from`, or `to`, is nil because the account was deleted since.
  package var isFromErased: Bool
  package var isToErased: Bool
  package var reason: LinkReason
  /// The caller whose request or submission caused it; nil when the write names none.
  package var author: LinkAuthor?
  /// The 16 bytes of the id of the call's trace, if it was traced.
  package var traceID: [UInt8]?
  /// The person or tool for whom the author acted, as free text of the request.
  package var onBehalfOf: String?
  /// The reason of an explicit request, as free text; nil for the effect of a submission.
  package var note: String?
  package var at: Milliseconds

  package init(
    from: AccountID?, to: AccountID?, isFromErased: Bool = false, isToErased: Bool = false,
    reason: LinkReason, author: LinkAuthor? = nil, traceID: [UInt8]? = nil,
    onBehalfOf: String? = nil, note: String? = nil, at: Milliseconds
  ) {
    self.from = from
    self.to = to
    self.isFromErased = isFromErased
    self.isToErased = isToErased
    self.reason = reason
    self.author = author
    self.traceID = traceID
    self.onBehalfOf = onBehalfOf
    self.note = note
    self.at = at
  }
}

/// A link event with its target.
package struct TargetLinkEvent: Hashable, Sendable {
  package var target: LinkTarget
  package var event: LinkEvent

  package init(target: LinkTarget, event: LinkEvent) {
    self.target = target
    self.event = event
  }
}

/// A chain without an account.
package struct UnlinkedChain: Hashable, Sendable {
  package var chain: OriginalTransactionID
  package var revision: Int64
  /// The commit time of the change that gave the revision.
  package var changedAt: Milliseconds

  package init(chain: OriginalTransactionID, revision: Int64, changedAt: Milliseconds) {
    self.chain = chain
    self.revision = revision
    self.changedAt = changedAt
  }
}

/// The customer that a selector finds.
package struct ResolvedCustomer: Hashable, Sendable {
  /// The account, or the only unlinked chain; nil when no customer is known, or several unlinked
  /// chains are.
  package var subject: CustomerSubject?
  package var revision: Int64

  package init(subject: CustomerSubject?, revision: Int64) {
    self.subject = subject
    self.revision = revision
  }
}

/// The history of an account, without signed payloads.
package struct AccountHistory: Hashable, Sendable {
  package var accountID: AccountID
  /// All link events of the account, oldest first.
  package var linkEvents: [TargetLinkEvent]
  /// Withdrawn ones included, oldest first.
  package var grants: [Grant]
  /// Notifications with facts of the account's chains, oldest first.
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

/// A notification without its signed payload.
package struct ReceivedRecord: Hashable, Sendable {
  package var record: NotificationRecord
  package var receivedAt: Milliseconds

  package init(record: NotificationRecord, receivedAt: Milliseconds) {
    self.record = record
    self.receivedAt = receivedAt
  }
}

/// Everything that is stored about an account (R46).
package struct AccountExport: Hashable, Sendable {
  package var accountID: AccountID
  package var revision: Int64
  /// The commit time of the latest change; nil when there is none.
  package var changedAt: Milliseconds?
  /// Accounts that were merged into it.
  package var merged: [AccountID]
  /// In the order of the tokens.
  package var tokens: [KnownToken]
  package var links: [LinkedTarget]
  /// All link events of the account, oldest first.
  package var linkEvents: [TargetLinkEvent]
  /// The standing facts of the account's links. Facts of one document share its bytes, as a
  /// document may have four mebibytes and thousands of facts.
  package var facts: [SignedFact]
  /// The versions of the facts that have several versions or signing moments (R53).
  package var versions: [ExportedVersion]
  package var grants: [Grant]
  /// Notifications with facts of the account's chains, oldest first.
  package var notifications: [ReceivedNotification]
  /// Nil when nothing is recorded (R86).
  package var consent: ConsumptionConsent?

  package init(
    accountID: AccountID, revision: Int64 = 0, changedAt: Milliseconds? = nil,
    merged: [AccountID] = [], tokens: [KnownToken] = [], links: [LinkedTarget] = [],
    linkEvents: [TargetLinkEvent] = [], facts: [SignedFact] = [],
    versions: [ExportedVersion] = [], grants: [Grant] = [],
    notifications: [ReceivedNotification] = [], consent: ConsumptionConsent? = nil
  ) {
    self.accountID = accountID
    self.revision = revision
    self.changedAt = changedAt
    self.merged = merged
    self.tokens = tokens
    self.links = links
    self.linkEvents = linkEvents
    self.facts = facts
    self.versions = versions
    self.grants = grants
    self.notifications = notifications
    self.consent = consent
  }
}

/// A version of a fact, with the moments at which it was signed.
package struct ExportedVersion: Hashable, Sendable {
  package var fact: FactKey
  package var moments: SigningMoments
  /// The stored payload; nil for the standing version, whose payload is that of the fact. A version
  /// that came out of a document has an empty document as proof.
  package var signed: SignedPayload?
  /// Nil for the standing version.
  package var authority: FactAuthority?

  package init(
    fact: FactKey, moments: SigningMoments, signed: SignedPayload? = nil,
    authority: FactAuthority? = nil
  ) {
    self.fact = fact
    self.moments = moments
    self.signed = signed
    self.authority = authority
  }
}

extension [ExportedVersion] {
  /// The versions of some facts, in the order of the facts; of each, the earliest first.
  ///
  /// - Parameters:
  ///   - histories: the stored histories, in the order of the facts.
  ///   - payloads: the stored payloads of the versions that do not stand.
  /// - Throws: ``StoreError/Code/corrupt`` when a payload is not stored.
  package init(
    histories: [(fact: FactKey, history: FactHistory)],
    payloads: [FactKey: [StatementDigest: (authority: FactAuthority, signed: SignedPayload)]]
  ) throws(StoreError) {
    self = []
    for (fact, history) in histories {
      let ordered = history.versions.sorted {
        ($0.value.first, $0.key) < ($1.value.first, $1.key)
      }
      for (statement, moments) in ordered {
        if statement == history.standing {
          append(ExportedVersion(fact: fact, moments: moments))
          continue
        }
        guard let stored = payloads[fact]?[statement] else {
          throw StoreError(.corrupt, "a version of a stored fact is not stored")
        }
        append(
          ExportedVersion(
            fact: fact, moments: moments, signed: stored.signed, authority: stored.authority))
      }
    }
  }
}

/// A notification with its signed payload.
package struct ReceivedNotification: Hashable, Sendable {
  package var notification: SignedNotification
  package var receivedAt: Milliseconds

  package init(notification: SignedNotification, receivedAt: Milliseconds) {
    self.notification = notification
    self.receivedAt = receivedAt
  }
}
