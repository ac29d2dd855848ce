package import EntitlementDomain
package import Traces
package import Workers

/// Stores facts with their signed payloads, links, grants and the change feed.
///
/// Methods may be called from any thread. A write that has returned is durable: it survives a crash
/// of the process and of the machine.
package protocol EntitlementStore: Sendable {
  /// Merges the facts (R3, R5), links their chains (R42–R44), records the notification, reviews it
  /// (R47) and appends to the change feed. Atomic, and durable when it returns. Concurrent calls
  /// may share one transaction.
  ///
  /// A submission that changes nothing increases no revision. It appends only the events of a new
  /// notification to the feed.
  func commit(_ submission: Submission) async throws(StoreError) -> CommitReceipt

  /// Looks up customers, usually in one round trip. The results are in the order of the lookups. An
  /// unknown customer has revision 0 and no facts. See ``StoredCustomer`` for how a selector finds
  /// its customer. The results may come from different snapshots. A failed lookup does not fail the
  /// others.
  func customers(_ lookups: [CustomerLookup]) async -> [Result<StoredCustomer, StoreError>]

  /// The customer that `selector` finds, as in ``customers(_:)``, without the facts.
  func resolve(_ selector: CustomerSelector, in scope: AppScope) async throws(StoreError)
    -> ResolvedCustomer

  /// The bundle ids of the chain's signed transactions in an environment. A renewal info names no
  /// app and is bound to one of them.
  func bundleIDs(
    ofChain chain: OriginalTransactionID, environment: StoreEnvironment
  ) async throws(StoreError) -> [BundleID]

  /// At most `limit` accounts of a scope, in the order of their ids, after `after`.
  func accounts(in scope: AppScope, after: AccountID?, limit: Int) async throws(StoreError)
    -> [AccountSummary]

  /// At most `limit` changes of all scopes after a sequence number, in commit order; 0 starts at
  /// the first change that is stored. The feed has no gaps: a later commit never gets a lower
  /// number than a change that was returned.
  ///
  /// - Throws: ``StoreError/Code/cursorExpired`` when changes after `sequence` were trimmed.
  func changes(after sequence: Int64, limit: Int) async throws(StoreError) -> [Change]

  /// The current end of the feed. ``changes(after:limit:)`` after this position returns what is
  /// committed from now on, and perhaps some changes that were committed just before.
  func feedEnd() async throws(StoreError) -> Int64

  /// The commit time of a change, which identifies it; nil for the last change that was trimmed.
  ///
  /// - Throws: ``StoreError/Code/cursorExpired`` when changes after it were trimmed, and when it
  ///   does not exist, as in a database that was restored to an earlier moment.
  func commitTimeOfChange(_ sequence: Int64) async throws(StoreError) -> Milliseconds?

  /// The cursor of the current end of the feed, for a follower that starts with an empty cache.
  func followerCursor() async throws(StoreError) -> FollowerCursor

  /// The customers that any process changed since a cursor, in no order; a page if there are many.
  /// Unlike the feed, it includes every commit that has returned, without a wait for older
  /// transactions. A customer may be returned twice.
  ///
  /// - Throws: ``StoreError/Code/cursorExpired`` when changes were trimmed, or the database has
  ///   another history than the cursor.
  func changedCustomers(since cursor: FollowerCursor) async throws(StoreError) -> ChangedCustomers

  /// Yields when any process may have appended to the feed, and when announcements may have been
  /// lost. Pending announcements are coalesced. The stream ends when the store closes.
  func announcements() -> AsyncStream<Void>

  /// Deletes at most `limit` changes that were committed before a moment, the oldest first, with
  /// the rows of accounts whose deletion they record. It stops at the first change that has to
  /// stay. A change with a commit time after `now` was written by a node whose clock was ahead; the
  /// changes after it decide its age.
  ///
  /// - Returns: the number of deleted changes.
  func trimChanges(committedBefore moment: Milliseconds, now: Milliseconds, limit: Int)
    async throws(StoreError) -> Int

  /// The time by which the feed may be trimmed.
  ///
  /// - Parameters:
  ///   - clock: the present time by the clock of this node.
  ///   - elapsed: the time since the previous successful call, by a monotonic clock; zero at the first.
  ///   - retention: how long changes are kept.
  func trimmingTime(
    clock: Milliseconds, elapsed: Duration, retention: Duration
  ) async throws(StoreError) -> TrimmingTime

  /// Adds a grant (R32), and its account when it is not known, with an entry of the audit trail
  /// (R76). Idempotent: a grant with a known id is not changed.
  func addGrant(_ grant: Grant, by caller: AuditCaller) async throws(StoreError) -> GrantReceipt

  /// Withdraws a grant, with an entry of the audit trail (R76). Idempotent: a withdrawn grant is not
  /// changed.
  ///
  /// - Returns: nil when no grant of this scope has the id.
  func withdrawGrant(
    _ id: GrantID, in scope: AppScope, _ withdrawal: GrantWithdrawal, by caller: AuditCaller
  ) async throws(StoreError) -> GrantReceipt?

  /// All grants of an account, withdrawn ones included, oldest first, then by id.
  func grants(of account: AccountID, in scope: AppScope) async throws(StoreError) -> [Grant]

  /// Performs and audits an explicit change of links (R46). Atomic, and durable when it returns.
  func perform(_ request: LinkRequest) async throws(StoreError) -> LinkAnswer

  /// The links of an account, chains before app transactions, then in the order of their packed ids
  /// (``PackedIdentifier``), which is that of numbers with equally many digits. A merged account has
  /// the links of the account that it was merged into.
  func links(of account: AccountID, in scope: AppScope) async throws(StoreError) -> [LinkedTarget]

  /// At most `limit` tokens of an account, or the ambiguous tokens of a scope if `account` is nil
  /// (R71), in the order of the packed tokens, after `after`, which need not be stored. A merged
  /// account has the tokens of the account that it was merged into.
  func tokens(
    of account: AccountID?, in scope: AppScope, after: AppAccountToken?, limit: Int
  ) async throws(StoreError) -> [KnownToken]

  /// The history of a link, oldest first (R41).
  func linkHistory(of target: LinkTarget, in scope: AppScope) async throws(StoreError)
    -> [LinkEvent]

  /// All link events of an account, oldest first.
  func linkHistory(of account: AccountID, in scope: AppScope) async throws(StoreError)
    -> [TargetLinkEvent]

  /// Refused claims of some targets, and of an account and those that were merged into it (R91); oldest
  /// first.
  ///
  /// - Parameter account: nil: of the targets only.
  func refusedClaims(
    of targets: [LinkTarget], by account: AccountID?, in scope: AppScope
  ) async throws(StoreError) -> [RefusedClaim]

  /// At most `limit` unlinked chains, in the order of their packed ids, after `after`.
  func unlinkedChains(in scope: AppScope, after: OriginalTransactionID?, limit: Int)
    async throws(StoreError) -> [UnlinkedChain]

  /// The history of an account from one snapshot, without signed payloads; nil for an unknown
  /// account.
  func history(of account: AccountID, in scope: AppScope) async throws(StoreError)
    -> AccountHistory?

  /// Everything that is stored about an account, from one snapshot; nil for an unknown account.
  func export(_ account: AccountID, in scope: AppScope) async throws(StoreError) -> AccountExport?

  /// The standing version of a fact with its signed payload, which can be verified again; nil for
  /// an unknown fact.
  func signedFact(_ key: FactKey, in scope: AppScope) async throws(StoreError) -> SignedFact?

  /// A stored notification with its signed payload; nil for an unknown one.
  func notification(_ uuid: NotificationUUID) async throws(StoreError) -> SignedNotification?

  /// A page of the stored notifications, newest first: in the order of their commits, or by
  /// ``ReceivedRecord/receivedAt`` and then by UUID.
  func notifications(_ query: NotificationQuery) async throws(StoreError) -> NotificationPage

  /// A job of the App Store Server API (R79); nil for an unknown one.
  func job(_ reference: AppStoreJobReference) async throws(StoreError) -> AppStoreJob?

  /// A page of the jobs, in the order of their ids.
  func jobs(_ query: AppStoreJobQuery) async throws(StoreError) -> AppStoreJobPage

  /// Opens a job, or changes one. Atomic, and durable when it returns; a change that a peer asked for
  /// has an entry of the audit trail (R76). The job of the answer has its id.
  func change(_ request: AppStoreJobRequest) async throws(StoreError) -> AppStoreJobAnswer

  /// Leases jobs that are due to the caller, until it reports or the lease ends. No job is leased to
  /// two processes at a time. Of each app and environment those that wait longest come first, and all of
  /// them share the limit in turns; the answer has no order.
  func leaseJobs(_ request: AppStoreJobLease) async throws(StoreError) -> [AppStoreJob]

  /// How many jobs need attention.
  /// - Parameter scopes: those whose jobs are done here: the earliest due job is one of them.
  func jobCounts(doing scopes: [AppScope]) async throws(StoreError) -> AppStoreJobCounts

  /// What is stored about the consumption of a purchase (R86); nil when there is nothing.
  func consumption(_ key: ConsumptionKey) async throws(StoreError) -> ConsumptionRecord?

  /// A page of the App Store's consumption requests, in the order of the ids of their records.
  func consumptionRequests(_ query: ConsumptionQuery) async throws(StoreError) -> ConsumptionPage

  /// What is recorded of an account, or of the one that it was merged into; nil when there is nothing.
  func consumptionConsent(of account: AccountID, in scope: AppScope) async throws(StoreError)
    -> ConsumptionConsent?

  /// Records or decides what the App Store is told about consumption (R86–R88). Atomic, and durable
  /// when it returns.
  func change(_ change: ConsumptionChange) async throws(StoreError) -> ConsumptionAnswer

  /// How many consumption requests of these apps need attention. Nothing answers those of others.
  func consumptionCounts(doing scopes: [AppScope]) async throws(StoreError) -> ConsumptionCounts

  /// Writes an entry of the audit trail for a call that has no write of its own (R76). Durable when
  /// it returns. An account that is not known, or was deleted, is left out.
  func record(_ call: AuditCall) async throws(StoreError)

  /// At most `limit` entries of the audit trail after a place, in the order of the query.
  func auditEntries(_ query: AuditQuery) async throws(StoreError) -> [AuditEntry]

  /// At most `limit` seals after a number, in the order of their numbers.
  func auditSeals(after number: Int64, limit: Int) async throws(StoreError) -> [AuditSeal]

  /// Seals the chains that grew since the last seal, and removes entries that are older. One node of
  /// a database does it at a time: it has a lease.
  ///
  /// - Parameters:
  ///   - days: how long entries are kept; nil: for ever.
  ///   - now: of the process. A store with a clock of its own uses that one.
  /// - Returns: nil when there was nothing to seal, or another node has the lease.
  func sealAudit(keepingDays days: Int?, now: Milliseconds) async throws(StoreError) -> AuditSeal?

  /// Adds rows to an import of accounts (R89), which begins with its first row. A row whose number is
  /// stored is not changed. All rows are stored, or none.
  func add(_ batch: AccountImportBatch) async throws(StoreError) -> AccountImportAnswer

  /// Imports of accounts, in the order of their ids.
  func imports(_ query: AccountImportQuery) async throws(StoreError) -> [AccountImportSummary]

  /// Rows of an import; none if it is not known.
  func importRows(_ query: AccountImportRowQuery) async throws(StoreError) -> [AccountImportRow]

  /// Changes at most ``AccountImportLimits/changedRows`` rows.
  ///
  /// - Returns: how many were changed; nil for an import that is not known.
  func change(_ change: AccountImportChange) async throws(StoreError) -> Int?

  /// Rows of imports that name one of these accounts, in any state, at most `limit` for each.
  func importRows(naming accounts: [AccountID], in scope: AppScope, limit: Int)
    async throws(StoreError) -> [AccountImportRow]

  /// Deletes the rows of imports that name an account. Deleting a known account does so too (R46).
  func eraseImportRows(naming account: AccountID, in scope: AppScope) async throws(StoreError)

  /// Gives waiting rows that are due to one process.
  func leaseImportRows(_ request: AccountImportLease) async throws(StoreError)
    -> [AccountImportRow]

  /// Lets leases of rows end later. One that is lost stays lost.
  ///
  /// - Parameter held: the leases of the rows.
  func renewImportLeases(_ held: [AccountImportRow.Place: String], until: Milliseconds)
    async throws(StoreError)

  /// Ends the leases of jobs and of rows of imports whose processes are gone. A process calls it before it
  /// leases anything. An embedded store has one process, so that all leases are those of former ones. A store
  /// that processes share cannot tell, and does nothing.
  func endLeasesOfFormerProcesses(in scopes: [AppScope], at now: Milliseconds)
    async throws(StoreError)

  /// Stores how attempts ended. A report whose lease is lost changes nothing.
  func report(_ reports: [AccountImportReport]) async throws(StoreError)

  /// Waiting rows of all imports, counted up to a limit.
  func waitingImportRows(limit: Int) async throws(StoreError) -> Int

  /// Throws when the store cannot serve calls now.
  func checkHealth() async throws(StoreError)

  /// Waits for commits in flight and closes. Later calls throw ``StoreError/Code/closed``.
  func close() async
}

extension EntitlementStore {
  /// As ``customers(_:)`` for one customer.
  package func customer(
    _ selector: CustomerSelector, in scope: AppScope, _ freshness: StoreFreshness = .primary,
    includesVersions: Bool = false
  ) async throws(StoreError) -> StoredCustomer {
    let lookup = CustomerLookup(
      selector, in: scope, freshness, includesVersions: includesVersions)
    return try await customers([lookup])[0].get()
  }

  /// What ``CustomerRecord/known(at:_:)`` needs for the state of a customer at a moment (R54).
  ///
  /// - Parameter moment: nil: now.
  package func record(
    of selector: CustomerSelector, in scope: AppScope, at moment: Milliseconds?,
    _ knowledge: Knowledge
  ) async throws(StoreError) -> CustomerRecord {
    let includesVersions = knowledge == .signedByThen && moment != nil
    return try await customer(selector, in: scope, includesVersions: includesVersions).record
  }

  /// As ``addGrant(_:by:)`` for a grant that no peer asked for.
  package func addGrant(_ grant: Grant) async throws(StoreError) -> GrantReceipt {
    try await addGrant(grant, by: .server)
  }

  /// As ``withdrawGrant(_:in:_:by:)`` for a withdrawal that no peer asked for.
  package func withdrawGrant(_ id: GrantID, in scope: AppScope, _ withdrawal: GrantWithdrawal)
    async throws(StoreError) -> GrantReceipt?
  {
    try await withdrawGrant(id, in: scope, withdrawal, by: .server)
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

  /// As ``trimChanges(committedBefore:now:limit:)``, without a check for clocks that were ahead.
  package func trimChanges(committedBefore moment: Milliseconds, limit: Int)
    async throws(StoreError) -> Int
  {
    try await trimChanges(committedBefore: moment, now: Milliseconds(.max), limit: limit)
  }
}

extension EntitlementStore {
  /// The refused claims of an account, and of its purchases (R91).
  package func refusedClaims(
    concerning account: AccountID, in scope: AppScope
  ) async throws(StoreError) -> [RefusedClaim] {
    var account = account
    if case .account(_, let owner)? = try await resolve(.account(account), in: scope).subject {
      account = owner
    }
    let targets = try await links(of: account, in: scope).map(\.target)
    return try await refusedClaims(of: targets, by: account, in: scope)
  }
}

extension CustomerRecord {
  /// The facts and grants for the state at a moment (R54).
  ///
  /// - Parameter moment: nil: now.
  package func known(at moment: Milliseconds?, _ knowledge: Knowledge) -> CustomerRecord {
    guard knowledge == .signedByThen, let moment else { return self }
    return signed(by: moment)
  }
}

/// One customer to look up in a store.
package struct CustomerLookup: Sendable {
  package var selector: CustomerSelector
  package var scope: AppScope
  package var freshness: StoreFreshness
  /// Whether the record has the versions of its facts, for a state of the past (R54).
  package var includesVersions: Bool
  /// Whether the store may leave out the facts of a large customer, so that the other customers of
  /// the call do not wait for them: see ``StoredCustomer/isLeftOut``.
  package var mayLeaveOut = false
  /// The source whose turn the decoding of a large customer waits for (``EvaluationPool``).
  package var source: WorkSource
  /// Called on any thread. Once it returns true, the answer is of no use.
  package var isCancelled: @Sendable () -> Bool
  /// Those of the traced calls that wait for it: see ``TracedStore``.
  package var spans: [CallSpan] = []

  package init(
    _ selector: CustomerSelector, in scope: AppScope, _ freshness: StoreFreshness,
    includesVersions: Bool = false, of source: WorkSource = .server,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) {
    self.selector = selector
    self.scope = scope
    self.freshness = freshness
    self.includesVersions = includesVersions
    self.source = source
    self.isCancelled = isCancelled
  }
}

/// How fresh an answer of a store must be.
package enum StoreFreshness: Hashable, Sendable {
  /// The answer includes every commit that returned before the call.
  case primary
  /// The answer includes every change up to this position of the feed. A replica that has replayed
  /// it may answer; otherwise the primary does.
  case includes(position: Int64)
}

/// The facts of one call, to be committed together.
package struct Submission: Sendable {
  package var facts: [SignedFact]
  /// The account that the submission names (R42, R44); nil for none.
  package var accountID: AccountID?
  /// The anonymous account that is merged into `accountID` (R75); nil for none.
  package var anonymousAccountID: AccountID?
  package var notification: SignedNotification?
  package var receivedAt: Milliseconds
  /// The time of jobs that its notification opens (R79), by the system's clock; nil: ``receivedAt``.
  package var jobsAt: Milliseconds?
  /// The catalog for the decision on claims (R44) and the review of notifications (R47).
  package var catalog: Catalog
  /// The caller of the submission, for the steps of links (R46); nil: not known.
  package var caller: AuditCaller?
  /// The caller of an import by an operator, which is audited if it changes something (R76); nil for
  /// what needs no decision: a signed submission.
  package var importedBy: AuditCaller?
  /// The person or tool for whom the caller of an import acts; nil when none was named.
  package var onBehalfOf: String?
  /// Whether the account gets purchases without an owner only, and a purchase of another account
  /// teaches nothing about it: that of an import of accounts (R90).
  package var takesNothing: Bool

  package init(
    facts: [SignedFact], accountID: AccountID? = nil, anonymousAccountID: AccountID? = nil,
    notification: SignedNotification? = nil, receivedAt: Milliseconds,
    jobsAt: Milliseconds? = nil, catalog: Catalog = Catalog(), caller: AuditCaller? = nil,
    importedBy: AuditCaller? = nil,
    onBehalfOf: String? = nil, takesNothing: Bool = false
  ) {
    self.facts = facts
    self.accountID = accountID
    self.anonymousAccountID = anonymousAccountID
    self.notification = notification
    self.receivedAt = receivedAt
    self.jobsAt = jobsAt
    self.catalog = catalog
    self.caller = caller
    self.importedBy = importedBy
    self.onBehalfOf = onBehalfOf
    self.takesNothing = takesNothing
  }
}

/// The outcome of a committed submission.
package struct CommitReceipt: Hashable, Sendable {
  /// One for each fact of the submission, in order.
  package var dispositions: [FactDisposition]
  /// One for each fact of the submission, in order.
  package var links: [LinkOutcome]
  /// The customers of the submission, each once, with their revisions after it, changed or not. A
  /// submission that names an account gets no other account: neither the owner that keeps a claimed
  /// chain, nor the one that loses it (R44).
  package var customers: [CustomerRevision]
  /// All customers whose facts or links changed. Their cached answers are out of date. The list
  /// includes former owners and owners that keep a claimed chain, so it must not be sent to the
  /// caller.
  package var changed: [CustomerSubject]
  /// The sequence number of the latest change of the submission, of any customer. Without a change,
  /// the latest revision of ``customers``, or 0. A read that includes it reflects the submission.
  package var latest: Int64
  /// True when the submission's notification was known already.
  package var notificationWasKnown: Bool
  /// The events of the notification; empty when it was known.
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

/// What the store did with a fact. Raw values are those of the protocol.
package enum FactDisposition: Int, Hashable, Sendable, CaseIterable {
  /// The fact is new.
  case added = 1
  /// A newer version of a known fact, which stands now.
  case replaced = 2
  /// The same version was known.
  case duplicate = 3
  /// Another version was known and stands. This one is kept as a version of the past (R53), and may
  /// complete the other one (R92).
  case superseded = 4
}

/// The effect of a submission on the owner of a chain or app transaction (R42, R44). All facts of
/// one chain have the same outcome. Raw values are those of the protocol.
package enum LinkOutcome: Int, Hashable, Sendable, CaseIterable {
  /// No account is known for it.
  case unlinked = 1
  /// It has the same account as before.
  case unchanged = 2
  /// It had no account, and has one now.
  case linked = 3
  /// It moved from another account to the one that the submission named.
  case transferred = 4
  /// It belongs to another account and stays there, by the link policy of the app or because the
  /// claim is unsigned.
  case alreadyLinked = 5
  /// It belongs to another account and stays there, as the claiming account has reached its claims
  /// per day.
  case claimLimited = 6
  /// The account that would get it has as many chains as it may have (R68). It stays where it was.
  case accountFull = 7
  /// It moved back to the account that the submission named, which a claim had taken it from (R93).
  case reclaimed = 8
  /// It belongs to another account and stays there, as claims have moved it as often as they may (R93).
  case disputed = 9
}

/// The outcome of adding or withdrawing a grant.
package struct GrantReceipt: Hashable, Sendable {
  /// The grant as stored.
  package var grant: Grant
  /// The account; its revision is the number of the change.
  package var customer: CustomerRevision
  /// False when nothing had to be changed.
  package var isChanged: Bool

  package init(grant: Grant, customer: CustomerRevision, isChanged: Bool) {
    self.grant = grant
    self.customer = customer
    self.isChanged = isChanged
  }
}

/// A customer: an account, or an unlinked chain.
package enum CustomerSubject: Hashable, Sendable {
  case account(AppScope, AccountID)
  case unlinkedChain(AppScope, OriginalTransactionID)
}

/// A customer with its revision.
package struct CustomerRevision: Hashable, Sendable {
  package var subject: CustomerSubject
  package var revision: Int64

  package init(subject: CustomerSubject, revision: Int64) {
    self.subject = subject
    self.revision = revision
  }
}

/// A customer as stored. A selector finds it as follows.
///
/// | selector | customer |
/// |---|---|
/// | account | that account, or the one that it was merged into: all facts of its chains and app transactions |
/// | original transaction | the account that the chain is linked to, else the chain alone |
/// | transaction | as for the chain of the transaction's standing version (R7); where no such transaction is known, as for the chain with this id |
/// | app transaction | the account linked to it or to one of its chains, else all its unlinked chains and its app transaction; if it is ambiguous, only the latter |
/// | app account token | the account that the token is known for, else the account of the first chain that carries it, else all unlinked chains that carry it; if it is ambiguous, only the latter; only signed facts carry one |
package struct StoredCustomer: Hashable, Sendable {
  package var record: CustomerRecord
  /// The subject whose changes invalidate the answer; nil when the answer depends on several
  /// subjects or on none, and must not be cached.
  package var subject: CustomerSubject?
  /// True for a large customer whose facts were not read, because ``CustomerLookup/mayLeaveOut``
  /// allows it. Nothing else of the value is valid then.
  package var isLeftOut = false

  package init(record: CustomerRecord, subject: CustomerSubject?) {
    self.record = record
    self.subject = subject
  }
}

/// An entry of the list of accounts.
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

/// An entry of the change feed. Sequence numbers increase in commit order. The revision of a
/// customer is the sequence number of the latest change of its facts, links or grants.
package struct Change: Hashable, Sendable {
  package var sequence: Int64
  package var scope: AppScope
  /// Nil for events of a notification without a known customer.
  package var subject: CustomerSubject?
  package var kinds: ChangeKinds
  /// Events of a notification, in the order of its review.
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

/// The kinds of a change. Raw values are stored, so they keep their meaning.
package struct ChangeKinds: OptionSet, Hashable, Sendable {
  package let rawValue: Int
  package init(rawValue: Int) { self.rawValue = rawValue }

  package static let facts = ChangeKinds(rawValue: 1)
  /// A chain or app transaction was linked to this account.
  package static let linked = ChangeKinds(rawValue: 2)
  /// For an account: a chain or app transaction was unlinked from it, or a token or app transaction id
  /// finds it no longer. For a chain: it was linked to an account, or lost its account.
  package static let unlinked = ChangeKinds(rawValue: 4)
  /// A grant was added or withdrawn.
  package static let grants = ChangeKinds(rawValue: 8)
  /// A notification had events. Alone, it does not increase the revision.
  package static let events = ChangeKinds(rawValue: 16)
  /// The account was merged into another one, or another one into it.
  package static let merged = ChangeKinds(rawValue: 32)
  /// The account was deleted.
  package static let deleted = ChangeKinds(rawValue: 64)

  /// Whether such a change increases the revision and invalidates cached answers.
  package var increasesRevision: Bool { !subtracting(.events).isEmpty }
}
