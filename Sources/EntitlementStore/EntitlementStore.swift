package import EntitlementDomain

/// Keeps facts with what Apple signed, who owns which chain, and the feed of changes.
///
/// Every method may be called from any thread. An answered write is durable: it survives a crash
/// of the process and of the machine.
package protocol EntitlementStore: Sendable {
  /// Merges the facts (R3, R5), links their chains (R42–R44), records the notification, reviews it
  /// (R47) and appends to the change feed: all of it or nothing, durable when this returns.
  /// Concurrent calls may share one commit.
  ///
  /// A submission that changes nothing bumps no revision. It appends to the feed only the events of
  /// a notification that was not known.
  func commit(_ submission: Submission) async throws(StoreError) -> CommitReceipt

  /// Everything that is known of each customer that is asked for, in their order and in one round trip
  /// as a rule; revision 0 and no facts where nothing is known. See ``StoredCustomer`` for how a
  /// selector finds its customer. The answers may be of different moments. A failure of one lookup
  /// does not fail the others.
  func customers(_ lookups: [CustomerLookup]) async -> [Result<StoredCustomer, StoreError>]

  /// Whom `selector` finds, as ``customers(_:)``, without the facts.
  func resolve(_ selector: CustomerSelector, in scope: AppScope) async throws(StoreError)
    -> ResolvedCustomer

  /// The bundle ids under which transactions of this chain that Apple signed are known in an
  /// environment: what a renewal info without an app of its own can be bound to.
  func bundleIDs(
    ofChain chain: OriginalTransactionID, environment: StoreEnvironment
  ) async throws(StoreError) -> [BundleID]

  /// Accounts of one scope in the order of their ids, after `after`; at most `limit` of them.
  func accounts(in scope: AppScope, after: AccountID?, limit: Int) async throws(StoreError)
    -> [AccountSummary]

  /// Changes of all scopes in commit order, after a sequence number (0: from the first that is
  /// kept); at most `limit` of them. None that is committed later will have a lower number than one
  /// that was answered: the feed has no gaps.
  ///
  /// - Throws: ``StoreError/Code/cursorExpired`` when changes after `sequence` were trimmed.
  func changes(after sequence: Int64, limit: Int) async throws(StoreError) -> [Change]

  /// Where the feed ends now: ``changes(after:limit:)`` after this position gives what is committed
  /// from now on, and perhaps a little of what was committed before.
  func feedEnd() async throws(StoreError) -> Int64

  /// When a change that was read was committed, so that the feed can be read on after it; nil for the
  /// last one that was trimmed.
  ///
  /// - Throws: ``StoreError/Code/cursorExpired`` when changes after it were trimmed, and when there is
  ///   no such change, as in a database that goes on from an earlier moment.
  func momentOfChange(_ sequence: Int64) async throws(StoreError) -> Milliseconds?

  /// For somebody who holds nothing, and begins now to ask who changed.
  func followerCursor() async throws(StoreError) -> FollowerCursor

  /// Who changed since a cursor was made, in no order, by any process: a part of them where there are
  /// many. Unlike the feed it tells at once of every commit that was answered, and may tell of one
  /// twice.
  ///
  /// - Throws: ``StoreError/Code/cursorExpired`` when it cannot be told: changes were trimmed, or the
  ///   database has another history than the one that the cursor is of.
  func changedCustomers(since cursor: FollowerCursor) async throws(StoreError) -> ChangedCustomers

  /// A value whenever the feed may have grown, by any process, and whenever announcements may have
  /// been lost; unread ones join. Ends when the store closes.
  func announcements() -> AsyncStream<Void>

  /// Deletes changes that were committed before a moment, the oldest first, and accounts whose
  /// deletion they told; at most `limit` of them. Nothing behind one that has to stay goes. A change
  /// whose moment has not come yet was written by a clock that was ahead: how old it is, those
  /// behind it tell.
  ///
  /// - Returns: how many it deleted.
  func trimChanges(committedBefore moment: Milliseconds, now: Milliseconds, limit: Int)
    async throws(StoreError) -> Int

  /// Keeps a grant (R32), and makes its account where nothing was known of it. Idempotent: of a
  /// grant whose id is known, what is kept stands.
  func addGrant(_ grant: Grant) async throws(StoreError) -> GrantReceipt

  /// Ends a grant before its time; one that was withdrawn before stays as it is.
  ///
  /// - Returns: nil when no grant of this scope has the id.
  func withdrawGrant(_ id: GrantID, in scope: AppScope, _ withdrawal: GrantWithdrawal)
    async throws(StoreError) -> GrantReceipt?

  /// Every grant of an account, withdrawn ones included, oldest first, then by id.
  func grants(of account: AccountID, in scope: AppScope) async throws(StoreError) -> [Grant]

  /// Does what somebody asked for by name, and audits it (R46): all of it or nothing, durable when
  /// this returns.
  func perform(_ request: LinkRequest) async throws(StoreError) -> LinkAnswer

  /// What an account owns: chains before app transactions, then by id. An account that was merged
  /// is the one that it was merged into.
  func links(of account: AccountID, in scope: AppScope) async throws(StoreError) -> [LinkedTarget]

  /// The history of a link, oldest first (R41).
  func linkHistory(of target: LinkTarget, in scope: AppScope) async throws(StoreError)
    -> [LinkEvent]

  /// Every step that gave an account something or took it, oldest first.
  func linkHistory(of account: AccountID, in scope: AppScope) async throws(StoreError)
    -> [TargetLinkEvent]

  /// Chains that no account has, in the order of their ids, after `after`; at most `limit` of them.
  func unlinkedChains(in scope: AppScope, after: OriginalTransactionID?, limit: Int)
    async throws(StoreError) -> [UnlinkedChain]

  /// What happened to an account, on one snapshot, without what Apple signed; nil when nothing is
  /// known of it.
  func history(of account: AccountID, in scope: AppScope) async throws(StoreError)
    -> AccountHistory?

  /// All that is known of an account, on one snapshot; nil when nothing is.
  func export(_ account: AccountID, in scope: AppScope) async throws(StoreError) -> AccountExport?

  /// The standing version of a fact with what Apple signed, so that it can be proved again; nil
  /// when it is not known.
  func signedFact(_ key: FactKey, in scope: AppScope) async throws(StoreError) -> SignedFact?

  /// A recorded notification with what Apple signed; nil when it is not known.
  func notification(_ uuid: NotificationUUID) async throws(StoreError) -> SignedNotification?

  /// Throws when the store cannot answer now.
  func checkHealth() async throws(StoreError)

  /// Finishes commits under way and closes. Later calls throw ``StoreError/Code/closed``.
  func close() async
}

extension EntitlementStore {
  /// As ``customers(_:)`` for one customer.
  package func customer(
    _ selector: CustomerSelector, in scope: AppScope, _ freshness: StoreFreshness = .primary
  ) async throws(StoreError) -> StoredCustomer {
    try await customers([CustomerLookup(selector, in: scope, freshness)])[0].get()
  }

  /// As ``customers(_:)``; throws the first failure.
  package func customers(
    _ selectors: [CustomerSelector], in scope: AppScope, _ freshness: StoreFreshness
  ) async throws(StoreError) -> [StoredCustomer] {
    var customers: [StoredCustomer] = []
    for result in await self.customers(
      selectors.map { CustomerLookup($0, in: scope, freshness) })
    {
      customers.append(try result.get())
    }
    return customers
  }

  /// As ``trimChanges(committedBefore:now:limit:)`` where every clock was right.
  package func trimChanges(committedBefore moment: Milliseconds, limit: Int)
    async throws(StoreError) -> Int
  {
    try await trimChanges(committedBefore: moment, now: Milliseconds(.max), limit: limit)
  }
}

/// One customer to look up in a store.
package struct CustomerLookup: Hashable, Sendable {
  package var selector: CustomerSelector
  package var scope: AppScope
  package var freshness: StoreFreshness

  package init(_ selector: CustomerSelector, in scope: AppScope, _ freshness: StoreFreshness) {
    self.selector = selector
    self.scope = scope
    self.freshness = freshness
  }
}

/// How new an answer of a store must be.
package enum StoreFreshness: Hashable, Sendable {
  /// Every commit that was answered before the call is in it.
  case primary
  /// Every change up to this position of the feed is in it: a copy of the database may answer that
  /// has come so far. One that has not is passed over for the primary.
  case includes(position: Int64)
}

/// What one call hands to the store.
package struct Submission: Sendable {
  package var facts: [SignedFact]
  /// The account that the submission names (R42, R44); nil when it names none.
  package var accountID: AccountID?
  package var notification: SignedNotification?
  package var receivedAt: Milliseconds
  /// Under which claims are judged (R44) and notifications reviewed (R47).
  package var catalog: Catalog

  package init(
    facts: [SignedFact], accountID: AccountID? = nil, notification: SignedNotification? = nil,
    receivedAt: Milliseconds, catalog: Catalog = Catalog()
  ) {
    self.facts = facts
    self.accountID = accountID
    self.notification = notification
    self.receivedAt = receivedAt
    self.catalog = catalog
  }
}

/// What the store did with a submission.
package struct CommitReceipt: Hashable, Sendable {
  /// One for each fact of the submission, in its order.
  package var dispositions: [FactDisposition]
  /// One for each fact of the submission, in its order.
  package var links: [LinkOutcome]
  /// The customers that the submission concerns, each once, with their revision after it, whether
  /// it changed them or not. A submission that names an account is told of no other one: neither of
  /// whoever keeps what it claims, nor of whoever loses it (R44).
  package var customers: [CustomerRevision]
  /// Everybody whose facts or links changed: answers held for them are out of date. Former owners
  /// and those who keep what was claimed are among them: never for whoever submits.
  package var changed: [CustomerSubject]
  /// The sequence number of the latest change that the submission made, whoever it concerns; where
  /// it made none, that of the customers told of, 0 without any. What is read at it or beyond shows
  /// all that was written.
  package var latest: Int64
  /// True when the submission's notification was known already.
  package var notificationWasKnown: Bool
  /// What the notification asks somebody to do or to know; empty when it was known.
  package var events: [FeedEvent]

  package init(
    dispositions: [FactDisposition], links: [LinkOutcome], customers: [CustomerRevision],
    changed: [CustomerSubject], latest: Int64, notificationWasKnown: Bool,
    events: [FeedEvent] = []
  ) {
    self.dispositions = dispositions
    self.links = links
    self.customers = customers
    self.changed = changed
    self.latest = latest
    self.notificationWasKnown = notificationWasKnown
    self.events = events
  }
}

/// Raw values are those of the wire.
package enum FactDisposition: Int, Hashable, Sendable, CaseIterable {
  /// A fact not known before.
  case added = 1
  /// A newer version of a known fact: it stands now.
  case replaced = 2
  /// This very statement was known.
  case duplicate = 3
  /// A newer version was known: it stands, this one is not kept.
  case superseded = 4
}

/// What a submission meant for the owner of a fact's chain, or of its app transaction (R42, R44):
/// the same for all its facts of one chain. Raw values are those of the wire.
package enum LinkOutcome: Int, Hashable, Sendable, CaseIterable {
  /// Nobody's: no account is known for it.
  case unlinked = 1
  /// Its account is the one that it had before.
  case unchanged = 2
  /// It had no account, and has one now.
  case linked = 3
  /// It left another account for the one that the submission named.
  case transferred = 4
  /// It belongs to another account, and stays there: by the app's policy, or because nobody signed
  /// what claims it.
  case alreadyLinked = 5
  /// It belongs to another account, and stays there for now: who claims it has claimed as much as
  /// one may in a day.
  case claimLimited = 6
}

/// What the store did with a grant.
package struct GrantReceipt: Hashable, Sendable {
  /// As it is kept.
  package var grant: Grant
  /// With the sequence number of the change, which is the only one.
  package var customer: CustomerRevision
  /// False when it stood so before.
  package var isChanged: Bool

  package init(grant: Grant, customer: CustomerRevision, isChanged: Bool) {
    self.grant = grant
    self.customer = customer
    self.isChanged = isChanged
  }
}

/// Whose state something concerns: an account, or a chain that no account has claimed.
package enum CustomerSubject: Hashable, Sendable {
  case account(AppScope, AccountID)
  case unlinkedChain(AppScope, OriginalTransactionID)
}

package struct CustomerRevision: Hashable, Sendable {
  package var subject: CustomerSubject
  package var revision: Int64

  package init(subject: CustomerSubject, revision: Int64) {
    self.subject = subject
    self.revision = revision
  }
}

/// The answer to a selector.
///
/// | selector | customer |
/// |---|---|
/// | account | that account, or the one that it was merged into: all facts of its chains and app transactions |
/// | original transaction | the account that the chain is linked to, else the chain alone |
/// | transaction | as for the chain of the transaction's standing version (R7) |
/// | app transaction | the account linked to it or to one of its chains, else all its unlinked chains and its app transaction |
/// | app account token | the account that the token is known for, else the account of the first chain that carries it, else all unlinked chains that do; only what Apple signed carries one |
package struct StoredCustomer: Hashable, Sendable {
  package var record: CustomerRecord
  /// The one subject that the answer depends on beside facts not seen yet; nil when it depends on
  /// more than one, or on none, and must not be held in memory.
  package var subject: CustomerSubject?

  package init(record: CustomerRecord, subject: CustomerSubject?) {
    self.record = record
    self.subject = subject
  }
}

package struct AccountSummary: Hashable, Sendable {
  package var accountID: AccountID
  package var revision: Int64
  package var chainCount: Int
  package var updatedAt: Milliseconds

  package init(
    accountID: AccountID, revision: Int64, chainCount: Int, updatedAt: Milliseconds
  ) {
    self.accountID = accountID
    self.revision = revision
    self.chainCount = chainCount
    self.updatedAt = updatedAt
  }
}

/// One entry of the change feed. Sequence numbers grow in commit order; the revision of a customer
/// is the sequence number of the latest change of its facts, links or grants.
package struct Change: Hashable, Sendable {
  package var sequence: Int64
  package var scope: AppScope
  /// Nil for events that concern no customer that is known.
  package var subject: CustomerSubject?
  package var kinds: ChangeKinds
  /// Of a notification, in the order in which they were found.
  package var events: [FeedEvent]
  package var committedAt: Milliseconds

  package init(
    sequence: Int64, scope: AppScope, subject: CustomerSubject?, kinds: ChangeKinds,
    events: [FeedEvent] = [], committedAt: Milliseconds
  ) {
    self.sequence = sequence
    self.scope = scope
    self.subject = subject
    self.kinds = kinds
    self.events = events
    self.committedAt = committedAt
  }
}

/// Raw values are stored: they keep their meaning.
package struct ChangeKinds: OptionSet, Hashable, Sendable {
  package let rawValue: Int
  package init(rawValue: Int) { self.rawValue = rawValue }

  package static let facts = ChangeKinds(rawValue: 1)
  /// A chain or app transaction was linked to this account.
  package static let linked = ChangeKinds(rawValue: 2)
  /// A chain or app transaction left this account; or this chain, which had none, got an account,
  /// or lost the one that it had.
  package static let unlinked = ChangeKinds(rawValue: 4)
  /// A grant was given or withdrawn.
  package static let grants = ChangeKinds(rawValue: 8)
  /// A notification brought events. Alone, it moves no revision.
  package static let events = ChangeKinds(rawValue: 16)
  /// The account was merged into another, or another into it.
  package static let merged = ChangeKinds(rawValue: 32)
  /// The account was deleted.
  package static let deleted = ChangeKinds(rawValue: 64)

  /// Whether such a change makes answers out of date.
  package var movesRevision: Bool { !subtracting(.events).isEmpty }
}
