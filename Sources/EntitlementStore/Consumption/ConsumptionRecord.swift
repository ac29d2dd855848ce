package import EntitlementDomain

/// What is stored about the consumption of one purchase: what the backend says of it, and the App
/// Store's request (R86).
package struct ConsumptionRecord: Hashable, Sendable {
  package let key: ConsumptionKey
  /// Given by the store; nil until it is stored.
  package var id: Int64?
  package var statement: ConsumptionStatement
  /// Nil while the App Store has not asked.
  package var request: ConsumptionRequest?

  package init(
    _ key: ConsumptionKey, id: Int64? = nil, statement: ConsumptionStatement = .init(),
    request: ConsumptionRequest? = nil
  ) {
    self.key = key
    self.id = id
    self.statement = statement
    self.request = request
  }
}

/// A purchase. It need not be known.
package struct ConsumptionKey: Hashable, Sendable {
  package let scope: AppScope
  package let transactionID: TransactionID

  package init(_ scope: AppScope, _ transactionID: TransactionID) {
    self.scope = scope
    self.transactionID = transactionID
  }

  /// The job that sends what the App Store asks for.
  package var job: AppStoreJobKey { AppStoreJobKey(scope, .consumption(transactionID)) }
  package var fact: ScopedFact {
    ScopedFact(scope, FactKey(kind: .transaction, identifier: transactionID.rawValue))
  }
}

/// A request of the App Store for information about a purchase (CONSUMPTION_REQUEST). There is one for
/// each purchase: a later one takes its place, or is the same (R88).
package struct ConsumptionRequest: Hashable, Sendable {
  /// Raw values are stored and the numbers on the wire.
  package enum State: Int, Hashable, Sendable, CaseIterable {
    case open = 1
    case sent = 2
    case notSent = 3
  }

  /// The first notification that asked.
  package var notificationUUID: NotificationUUID
  /// `consumptionRequestReason`; nil without one.
  package var reason: String?
  /// When the App Store signed it, by its clock.
  package var requestedAt: Milliseconds
  package var state: State
  /// Of an open one: what it waits for. Of one that was not sent: why.
  package var cause: ConsumptionCause?
  /// What was sent, or why the last call failed. At most 256 bytes; empty for none.
  package var detail: String
  /// Calls that were begun, since it was opened.
  package var attempts: Int
  /// The lease of the attempt that has begun a call and did not tell how it ended; nil for none. It
  /// stays after ``ConsumptionCause/outcomeUncertain``.
  package var sending: String?
  package var openedAt: Milliseconds
  package var changedAt: Milliseconds

  package init(
    notificationUUID: NotificationUUID, reason: String?, requestedAt: Milliseconds,
    state: State = .open, cause: ConsumptionCause? = nil, detail: String = "", attempts: Int = 0,
    sending: String? = nil, openedAt: Milliseconds, changedAt: Milliseconds
  ) {
    self.notificationUUID = notificationUUID
    self.reason = reason
    self.requestedAt = requestedAt
    self.state = state
    self.cause = cause
    self.detail = detail
    self.attempts = attempts
    self.sending = sending
    self.openedAt = openedAt
    self.changedAt = changedAt
  }

  /// Apple takes no information after 12 hours.
  package var deadline: Milliseconds {
    requestedAt.advanced(by: NotificationReview.consumptionDeadline)
  }
}

/// Whether a customer consents that the App Store is told about consumption.
package struct ConsumptionConsent: Hashable, Sendable {
  package var isGiven: Bool
  package var at: Milliseconds
  /// The caller that recorded it.
  package var author: String
  /// The person or tool for whom the author acted, and the reason, as free text of the request.
  package var onBehalfOf: String?
  package var note: String

  package init(
    isGiven: Bool, at: Milliseconds, author: String, onBehalfOf: String? = nil, note: String = ""
  ) {
    self.isGiven = isGiven
    self.at = at
    self.author = author
    self.onBehalfOf = onBehalfOf
    self.note = note
  }
}

/// Records consent and facts about purchases, and decides about requests of the App Store.
package struct ConsumptionChange: Hashable, Sendable {
  package enum Change: Hashable, Sendable {
    /// Replaces what was recorded of an account, which is created if it is not known.
    case consent(AccountID, isGiven: Bool)
    /// Replaces what the backend says of a purchase. An open request that waits for it goes on.
    case statement(TransactionID, ConsumptionStatement)
    /// By the holder of a lease: decides, and marks the request before a call (R88). A request that has
    /// ended is not changed.
    case begin(TransactionID, lease: String)
    /// By the holder of a lease: how the call ended.
    case end(TransactionID, lease: String, ConsumptionOutcome)
    /// By hand: opens a request that was not sent, if nothing stands against it.
    case reopen(TransactionID, isDryRun: Bool)
  }

  package var scope: AppScope
  package var change: Change
  /// By the clock of the App Store's moments.
  package var at: Milliseconds
  /// By the clock of jobs.
  package var jobsAt: Milliseconds
  package var catalog: Catalog
  package var caller: AuditCaller
  package var onBehalfOf: String?
  package var reason: String

  package init(
    _ change: Change, in scope: AppScope, at: Milliseconds, jobsAt: Milliseconds,
    catalog: Catalog = Catalog(), caller: AuditCaller = .server, onBehalfOf: String? = nil,
    reason: String = ""
  ) {
    self.scope = scope
    self.change = change
    self.at = at
    self.jobsAt = jobsAt
    self.catalog = catalog
    self.caller = caller
    self.onBehalfOf = onBehalfOf
    self.reason = reason
  }
}

/// How a call ended that should tell the App Store about consumption (R88).
package enum ConsumptionOutcome: Hashable, Sendable {
  case sent(ConsumptionInformation)
  /// Nothing was changed at Apple; it may be repeated. The reason is one line.
  case failed(String)
  /// Apple refused it for good.
  case refused(String)
  /// It is not known whether Apple has it.
  case uncertain(String)
}

/// The answer to a ``ConsumptionChange``.
package enum ConsumptionAnswer: Hashable, Sendable {
  /// The consent of the account after the change.
  case consent(ConsumptionConsent, isChanged: Bool)
  /// The record after the change.
  case record(ConsumptionRecord, isChanged: Bool)
  /// What `begin` decided. Only `send` allows a call.
  case decision(ConsumptionDecision, ConsumptionRecord)
  /// `reopen` did nothing for this cause.
  case refused(ConsumptionCause, ConsumptionRecord)
  /// There is no request.
  case unknown
  /// Another process has the lease, or has made the call since; or the call was begun before.
  case leaseLost
}

/// Which requests to list, in the order of the ids of their records.
package struct ConsumptionQuery: Hashable, Sendable {
  package var bundleID: BundleID?
  package var environment: StoreEnvironment?
  package var state: ConsumptionRequest.State?
  /// Only with a higher id.
  package var after: Int64
  /// Of the requests in the page.
  package var limit: Int
  /// How many stored records a page looks through, since a filter may fit few of many.
  package var scanLimit: Int

  package static let defaultScanLimit = 10_000

  package init(
    bundleID: BundleID? = nil, environment: StoreEnvironment? = nil,
    state: ConsumptionRequest.State? = nil, after: Int64 = 0, limit: Int,
    scanLimit: Int = defaultScanLimit
  ) {
    self.bundleID = bundleID
    self.environment = environment
    self.state = state
    self.after = after
    self.limit = limit
    self.scanLimit = scanLimit
  }

  package func selects(_ record: ConsumptionRecord) -> Bool {
    guard let request = record.request else { return false }
    let scope = record.key.scope
    return (bundleID == nil || scope.bundleID == bundleID)
      && (environment == nil || scope.environment == environment)
      && (state == nil || request.state == state)
  }
}

/// Some of the requests that a query selects.
package struct ConsumptionPage: Hashable, Sendable {
  /// There may be none before the end too.
  package var records: [ConsumptionRecord]
  /// The id after which the next page begins; nil at the end.
  package var next: Int64?

  package init(records: [ConsumptionRecord], next: Int64?) {
    self.records = records
    self.next = next
  }
}

/// How many requests need attention.
package struct ConsumptionCounts: Hashable, Sendable {
  /// More are not counted: a metric is asked for again and again.
  package static let limit = 10_000

  /// Open requests that are answered here, at most ``limit``. Those of other apps wait for a key.
  package var open: Int
  /// The deadline of the one that is nearest to it; nil without one.
  package var earliestDeadline: Milliseconds?

  package init(open: Int = 0, earliestDeadline: Milliseconds? = nil) {
    self.open = open
    self.earliestDeadline = earliestDeadline
  }
}
