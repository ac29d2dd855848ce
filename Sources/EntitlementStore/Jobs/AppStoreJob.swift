package import EntitlementDomain

/// Work with the App Store Server API that is done in the end, whatever fails meanwhile (R79). There is
/// one for each ``AppStoreJobKey``: what asks for work that is to be done already opens no second one.
package struct AppStoreJob: Hashable, Sendable {
  /// Raw values are stored and the numbers on the wire.
  package enum State: Int, Hashable, Sendable, CaseIterable {
    /// It is to be done, or is being done.
    case open = 1
    case done = 2
    /// It failed too often. The feed has an event (`JOB_GIVEN_UP`).
    case givenUp = 3
    /// An operator cancelled it.
    case cancelled = 4
  }

  /// How long a refetch waits for what may be on its way: notifications arrive in any order, and the
  /// missing one often a moment later. In milliseconds.
  package static let settlingTime = 10 * Milliseconds.secondsLength

  package let key: AppStoreJobKey
  /// Given by the store; nil until it is stored.
  package var id: Int64?
  package var state: State
  /// Increases each time the job is opened, also while it is open: what arrives during an attempt is
  /// not covered by that attempt.
  package var opening: Int64
  /// Why the purchases are fetched, since it was opened; empty for a reconciliation.
  package var reasons: Set<RefetchReason>
  package var openedAt: Milliseconds
  /// When its state or its last attempt ended.
  package var changedAt: Milliseconds
  /// An open job is attempted at this moment or later. While it is leased: when the lease ends.
  package var dueAt: Milliseconds
  /// The text that its holder made for the lease; nil when it is not leased.
  package var lease: String?
  /// Attempts that failed since it was opened or retried, or has advanced. One whose lease ended counts.
  package var failures: Int
  /// Attempts since it was opened or retried that the App Store answered without clearing the reasons.
  package var unexplained: Int
  /// Why the last attempt failed or waits, in one line of at most 256 bytes; empty when it did not.
  package var lastFailure: String
  /// A reconciliation asks for the notifications from this moment on; nil for a refetch.
  package var since: Milliseconds?
  /// By the last reconciliation that is done, the App Store's notifications until then were asked for.
  package var completeUntil: Milliseconds?
  /// Where the next attempt continues. Only what does the work knows its meaning. A refetch keeps it
  /// when it is done: Apple then lists what is new only.
  package var cursor: String
  /// Since it was opened.
  package var progress: AppStoreJobProgress

  /// A job that is opened for the first time.
  package init(
    key: AppStoreJobKey, reasons: Set<RefetchReason> = [], since: Milliseconds? = nil,
    openedAt: Milliseconds, dueAt: Milliseconds
  ) {
    self.key = key
    state = .open
    opening = 1
    self.reasons = reasons
    self.openedAt = openedAt
    changedAt = openedAt
    self.dueAt = dueAt
    failures = 0
    unexplained = 0
    lastFailure = ""
    self.since = since
    cursor = ""
    progress = AppStoreJobProgress()
  }

  /// A job as stored.
  package init(
    key: AppStoreJobKey, id: Int64, state: State, opening: Int64, reasons: Set<RefetchReason>,
    openedAt: Milliseconds, changedAt: Milliseconds, dueAt: Milliseconds, lease: String?,
    failures: Int, unexplained: Int, lastFailure: String, since: Milliseconds?,
    completeUntil: Milliseconds?, cursor: String, progress: AppStoreJobProgress
  ) {
    self.key = key
    self.id = id
    self.state = state
    self.opening = opening
    self.reasons = reasons
    self.openedAt = openedAt
    self.changedAt = changedAt
    self.dueAt = dueAt
    self.lease = lease
    self.failures = failures
    self.unexplained = unexplained
    self.lastFailure = lastFailure
    self.since = since
    self.completeUntil = completeUntil
    self.cursor = cursor
    self.progress = progress
  }
}

/// What a job is about.
package struct AppStoreJobKey: Hashable, Sendable {
  package enum Subject: Hashable, Sendable {
    /// Fetches what the App Store knows of the customer of a chain.
    case refetch(OriginalTransactionID)
    /// Fetches the notifications of an app, so that those that did not arrive are stored.
    case reconciliation
    /// Tells the App Store about the consumption of a purchase (R86).
    case consumption(TransactionID)
  }

  package let scope: AppScope
  package let subject: Subject

  package init(_ scope: AppScope, _ subject: Subject) {
    self.scope = scope
    self.subject = subject
  }

  /// Nil for all but a refetch.
  package var chain: OriginalTransactionID? {
    if case .refetch(let chain) = subject { chain } else { nil }
  }

  /// Nil for all but consumption.
  package var transactionID: TransactionID? {
    if case .consumption(let transaction) = subject { transaction } else { nil }
  }

  /// The id of what the job is about, as stored; empty for a reconciliation.
  package var storedSubject: String {
    chain?.rawValue ?? transactionID?.rawValue ?? ""
  }

  package var kind: AppStoreJobKind {
    switch subject {
    case .refetch: .refetch
    case .reconciliation: .reconciliation
    case .consumption: .consumption
    }
  }
}

/// Raw values are stored and the numbers on the wire.
package enum AppStoreJobKind: Int, Hashable, Sendable, CaseIterable {
  case refetch = 1
  case reconciliation = 2
  case consumption = 3
}

/// How to find a job.
package enum AppStoreJobReference: Hashable, Sendable {
  case key(AppStoreJobKey)
  /// By ``AppStoreJob/id``.
  case id(Int64)
}

/// What a job has done.
package struct AppStoreJobProgress: Hashable, Sendable {
  /// Calls of the App Store Server API, without those that Apple refused.
  package var calls: Int64
  /// Signed payloads that came back.
  package var payloads: Int64
  /// Those that were not stored before.
  package var added: Int64
  /// Those that the verification refused, or that the server does not accept.
  package var refused: Int64

  package init(calls: Int64 = 0, payloads: Int64 = 0, added: Int64 = 0, refused: Int64 = 0) {
    self.calls = calls
    self.payloads = payloads
    self.added = added
    self.refused = refused
  }

  package static func += (sum: inout Self, other: Self) {
    sum.calls += other.calls
    sum.payloads += other.payloads
    sum.added += other.added
    sum.refused += other.refused
  }
}

/// A change of a job, by an operator or by what does the work.
package struct AppStoreJobRequest: Hashable, Sendable {
  package enum Change: Hashable, Sendable {
    /// Asks for a job to be done. An open one is done again when it has ended, from the earlier of
    /// both moments on.
    case open(AppStoreJobKey, since: Milliseconds?)
    /// As `open`; an open job is not changed.
    case schedule(AppStoreJobKey, since: Milliseconds?)
    /// Does a job again that has ended or been given up, from the beginning of all lists; an open one
    /// without the rest of its wait.
    case retry(AppStoreJobReference)
    /// An open job is not done any more. What asks for it later opens it again.
    case cancel(AppStoreJobReference)
    case report(AppStoreJobReport)
  }

  package var change: Change
  /// By the system's clock, as all moments of jobs but ``AppStoreJob/since`` and
  /// ``AppStoreJob/completeUntil``.
  package var at: Milliseconds
  package var caller: AuditCaller
  package var onBehalfOf: String?
  /// The reason, as free text of the caller.
  package var reason: String

  package init(
    _ change: Change, at: Milliseconds, caller: AuditCaller = .server, onBehalfOf: String? = nil,
    reason: String = ""
  ) {
    self.change = change
    self.at = at
    self.caller = caller
    self.onBehalfOf = onBehalfOf
    self.reason = reason
  }
}

/// What the holder of a lease tells.
package struct AppStoreJobReport: Hashable, Sendable {
  package enum Outcome: Hashable, Sendable {
    /// It goes on, and has the lease until then.
    case working(until: Milliseconds)
    /// It ends here for now, without a failure, and goes on from then on. The reason is empty when only
    /// other jobs go first: then the last failure is kept.
    case paused(until: Milliseconds, reason: String)
    /// The job is done, unless it was opened again meanwhile.
    case done(completeUntil: Milliseconds?)
    /// The next attempt is at `retryAt`.
    case failed(String, retryAt: Milliseconds, isUnexplained: Bool)
    /// It failed for good.
    case givenUp(String)
  }

  package let key: AppStoreJobKey
  package let lease: String
  /// ``AppStoreJob/opening`` when the lease began.
  package let opening: Int64
  package var outcome: Outcome
  /// Replaces the stored one, unless a reconciliation was opened again meanwhile.
  package var cursor: String
  /// Since the previous report of this lease.
  package var progress: AppStoreJobProgress

  package init(
    of job: AppStoreJob, lease: String, _ outcome: Outcome, cursor: String,
    progress: AppStoreJobProgress = AppStoreJobProgress()
  ) {
    key = job.key
    self.lease = lease
    opening = job.opening
    self.outcome = outcome
    self.cursor = cursor
    self.progress = progress
  }
}

/// The answer to an ``AppStoreJobRequest``.
package enum AppStoreJobAnswer: Hashable, Sendable {
  /// The job after the request. `isChanged` is false when nothing had to be changed.
  case done(AppStoreJob, isChanged: Bool)
  /// There is no such job.
  case unknown
  /// The job was cancelled, or another process has leased it. The holder stops.
  case leaseLost
}

/// Which jobs to list, in the order of their ids.
package struct AppStoreJobQuery: Hashable, Sendable {
  package var bundleID: BundleID?
  package var environment: StoreEnvironment?
  package var state: AppStoreJob.State?
  package var kind: AppStoreJobKind?
  package var chain: OriginalTransactionID?
  /// Only with a higher id.
  package var after: Int64
  /// Of the jobs in the page.
  package var limit: Int
  /// How many stored jobs a page looks through, since a filter may fit few of many.
  package var scanLimit: Int

  package static let defaultScanLimit = 10_000

  package init(
    bundleID: BundleID? = nil, environment: StoreEnvironment? = nil,
    state: AppStoreJob.State? = nil, kind: AppStoreJobKind? = nil,
    chain: OriginalTransactionID? = nil, after: Int64 = 0, limit: Int,
    scanLimit: Int = defaultScanLimit
  ) {
    self.bundleID = bundleID
    self.environment = environment
    self.state = state
    self.kind = kind
    self.chain = chain
    self.after = after
    self.limit = limit
    self.scanLimit = scanLimit
  }
}

/// Some of the jobs that a query selects.
package struct AppStoreJobPage: Hashable, Sendable {
  /// There may be none before the end too.
  package var jobs: [AppStoreJob]
  /// The id after which the next page begins; nil at the end.
  package var next: Int64?

  package init(jobs: [AppStoreJob], next: Int64?) {
    self.jobs = jobs
    self.next = next
  }
}

/// Asks for jobs to be done by one process. A job whose lease has ended gets one more failure: what it
/// does may be what ends its processes.
package struct AppStoreJobLease: Hashable, Sendable {
  /// Open jobs of these that are due, those that wait longest first in each.
  package var scopes: [AppScope]
  package var now: Milliseconds
  /// Another process may lease them from then on.
  package var until: Milliseconds
  /// Names the lease; another text each time.
  package var lease: String
  package var limit: Int

  package init(
    scopes: [AppScope], now: Milliseconds, until: Milliseconds, lease: String, limit: Int
  ) {
    self.scopes = scopes
    self.now = now
    self.until = until
    self.lease = lease
    self.limit = limit
  }
}

/// How many jobs need attention.
package struct AppStoreJobCounts: Hashable, Sendable {
  /// More are not counted: a metric is asked for again and again.
  package static let limit = 10_000

  /// Open jobs, at most ``limit``.
  package var open: Int
  /// Jobs that were given up, at most ``limit``.
  package var givenUp: Int
  /// The earliest moment at which an open job is due that is done here; nil without one. Jobs of other
  /// apps wait for a key.
  package var earliestDue: Milliseconds?

  package init(open: Int = 0, givenUp: Int = 0, earliestDue: Milliseconds? = nil) {
    self.open = open
    self.givenUp = givenUp
    self.earliestDue = earliestDue
  }
}
