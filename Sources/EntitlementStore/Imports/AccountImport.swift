package import EntitlementDomain

/// Names an import of accounts: an app, and an id that the caller chooses. Each app has ids of its own.
package struct AccountImportName: Hashable, Sendable, CustomStringConvertible {
  /// The stored form: the app and the id, with a slash between them. No id contains one.
  package let rawValue: String

  /// In bytes, of an id.
  package static let maximumLength = 64

  package init(_ id: String, of app: BundleID) { rawValue = "\(app)/\(id)" }

  package init(rawValue: String) { self.rawValue = rawValue }

  package var id: String {
    String(
      rawValue[(rawValue.lastIndex(of: "/").map(rawValue.index(after:)) ?? rawValue.startIndex)...])
  }

  package var description: String { id }
}

/// One customer of an import of accounts (R89): an account, and any transaction of its purchases. The App
/// Store is asked for the whole history, which is linked to the account.
package struct AccountImportRow: Hashable, Sendable {
  /// Raw values are stored and the numbers on the wire.
  package enum State: Int, Hashable, Sendable, CaseIterable {
    /// It is to be done, or is being done.
    case waiting = 1
    /// What the App Store knows is stored and linked.
    case done = 2
    /// It was not accepted, or failed for good. ``AccountImportRow/reason`` says why.
    case failed = 3
    /// A row that is done, or an earlier one of the import, has the same account and transaction. Nothing
    /// is done for it.
    case duplicate = 4
    /// An operator cancelled it.
    case cancelled = 5
  }

  /// Why a row failed. Raw values are stored and the numbers on the wire.
  package enum Reason: Int, Hashable, Sendable, CaseIterable {
    /// A value of the row is not valid.
    case invalid = 1
    /// The catalog does not accept the environment, or the server has no key for it.
    case notServed = 2
    /// An earlier row has another account for the same transaction.
    case conflict = 3
    /// The App Store knows no such transaction.
    case unknownTransaction = 4
    /// A purchase belongs to another account, and stays there.
    case linkedElsewhere = 5
    /// The account has as many purchases as it may have (R68).
    case accountFull = 6
    /// A request bound the token to another account.
    case tokenElsewhere = 7
    /// The server does not accept what the App Store listed.
    case refused = 8
    /// The App Store lists no purchase.
    case nothingListed = 9
    /// The attempts failed too often.
    case givenUp = 10
  }

  /// Where an import names the row: the number of its line.
  package struct Place: Hashable, Sendable {
    package let name: AccountImportName
    package let number: Int64

    package init(_ name: AccountImportName, _ number: Int64) {
      self.name = name
      self.number = number
    }
  }

  package let place: Place
  package var scope: AppScope
  /// Whether the Sandbox is asked too when Production does not know the transaction.
  package var fallsBack: Bool
  package var account: AccountID
  /// Any transaction id of the customer, an original one, or that of an app transaction.
  package var transaction: TransactionID
  /// It is bound to the account (R71); nil: none.
  package var token: AppAccountToken?
  package var state: State
  /// Of a failed row.
  package var reason: Reason?
  /// In English, for people, at most 256 bytes. Of a waiting row: why the last attempt failed or waits.
  package var detail: String
  /// A waiting row is attempted at this moment or later. While it is leased: when the lease ends.
  package var dueAt: Milliseconds
  package var lease: String?
  /// Attempts that failed in a row. One whose lease ended counts.
  package var failures: Int
  /// Attempts in a row that the App Store refused.
  package var refusals: Int
  /// Where the next attempt continues.
  package var cursor: String
  package var changedAt: Milliseconds

  package init(
    place: Place, scope: AppScope, fallsBack: Bool = false, account: AccountID,
    transaction: TransactionID, token: AppAccountToken? = nil, state: State = .waiting,
    reason: Reason? = nil, detail: String = "", dueAt: Milliseconds, lease: String? = nil,
    failures: Int = 0, refusals: Int = 0, cursor: String = "", changedAt: Milliseconds
  ) {
    self.place = place
    self.scope = scope
    self.fallsBack = fallsBack
    self.account = account
    self.transaction = transaction
    // Tables have it where the app set none (R43).
    self.token = token?.ofCustomer
    self.state = state
    self.reason = reason
    self.detail = detail
    self.dueAt = dueAt
    self.lease = lease
    self.failures = failures
    self.refusals = refusals
    self.cursor = cursor
    self.changedAt = changedAt
  }

  /// Columns whose values may be unknown.
  ///
  /// - Throws: ``StoreError/Code/corrupt`` for an unknown state or reason.
  package static func stored(state: Int, reason: Int) throws(StoreError) -> (State, Reason?) {
    guard let state = State(rawValue: state), reason == 0 || Reason(rawValue: reason) != nil else {
      throw StoreError(.corrupt, "a stored row of an import has an unknown state or reason")
    }
    return (state, Reason(rawValue: reason))
  }
}

/// Rows that are added to an import. All of one call are stored in one transaction.
package struct AccountImportBatch: Hashable, Sendable {
  package var name: AccountImportName
  /// In the order of their numbers, each once. The states are ``AccountImportRow/State/waiting`` and, for
  /// a row that was not accepted, ``AccountImportRow/State/failed``.
  package var rows: [AccountImportRow]
  package var at: Milliseconds
  /// Who began it, as the server knows the caller.
  package var author: String
  /// Nothing is stored.
  package var isDryRun: Bool

  package init(
    name: AccountImportName, rows: [AccountImportRow], at: Milliseconds, author: String,
    isDryRun: Bool = false
  ) {
    self.name = name
    self.rows = rows
    self.at = at
    self.author = author
    self.isDryRun = isDryRun
  }
}

/// The answer to an ``AccountImportBatch``.
package enum AccountImportAnswer: Hashable, Sendable {
  /// One for each row, in order.
  case rows([Outcome])
  /// The row with this number is stored with other values. Nothing was stored.
  case differs(Int64)
  /// The rows of all imports would be more than ``AccountImportLimits/rows``. Nothing was stored.
  case full

  package struct Outcome: Hashable, Sendable {
    /// As stored now, or before.
    package var row: AccountImportRow
    /// It was stored before.
    package var wasKnown: Bool

    package init(row: AccountImportRow, wasKnown: Bool) {
      self.row = row
      self.wasKnown = wasKnown
    }
  }
}

/// Limits of imports of accounts.
package enum AccountImportLimits {
  /// Rows of all imports that are stored, waiting and ended ones. Reports are kept until an operator
  /// deletes them; a row takes some 300 bytes.
  package static let rows: Int64 = 2_000_000
  /// Rows in one batch.
  package static let batch = 500
  /// Rows that one call of ``EntitlementStore/change(_:)-imports`` changes. It bounds how long other
  /// writes wait.
  package static let changedRows = 2_000
}

/// An import, with how far it is.
package struct AccountImportSummary: Hashable, Sendable {
  package struct Count: Hashable, Sendable {
    package var state: AccountImportRow.State
    package var reason: AccountImportRow.Reason?
    package var count: Int64

    package init(
      state: AccountImportRow.State, reason: AccountImportRow.Reason?, count: Int64
    ) {
      self.state = state
      self.reason = reason
      self.count = count
    }
  }

  /// Given by the store, in the order of their beginnings.
  package var id: Int64
  package var name: AccountImportName
  /// Of all its rows.
  package var bundleID: BundleID
  package var author: String
  package var beganAt: Milliseconds
  /// The number of the last stored row.
  package var lastRow: Int64
  /// By state and reason, without those that are zero.
  package var counts: [Count]

  package init(
    id: Int64, name: AccountImportName, bundleID: BundleID, author: String,
    beganAt: Milliseconds, lastRow: Int64, counts: [Count] = []
  ) {
    self.id = id
    self.name = name
    self.bundleID = bundleID
    self.author = author
    self.beganAt = beganAt
    self.lastRow = lastRow
    self.counts = counts
  }

  package func count(_ state: AccountImportRow.State) -> Int64 {
    counts.reduce(0) { $0 + ($1.state == state ? $1.count : 0) }
  }
}

/// Which imports to read, in the order of their ids.
package enum AccountImportQuery: Hashable, Sendable {
  case named(AccountImportName)
  /// Without its counts, which take longer the more rows there are.
  case header(AccountImportName)
  /// Without their counts.
  case after(Int64, limit: Int)
}

/// Rows of an import in one state, in the order of their numbers.
package struct AccountImportRowQuery: Hashable, Sendable {
  package var name: AccountImportName
  package var state: AccountImportRow.State
  /// Only rows of these.
  package var scopes: [AppScope]
  package var after: Int64
  package var limit: Int

  package init(
    name: AccountImportName, state: AccountImportRow.State, scopes: [AppScope],
    after: Int64 = 0, limit: Int
  ) {
    self.name = name
    self.state = state
    self.scopes = scopes
    self.after = after
    self.limit = limit
  }
}

/// A change of an import by an operator. Each call changes at most
/// ``AccountImportLimits/changedRows`` rows, and is repeated until it changes none.
package struct AccountImportChange: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    /// Waiting rows become cancelled ones. What is being done for one is lost, and may be stored.
    case cancel
    /// Failed and cancelled rows wait again. Invalid rows do not. A conflict does not while the row of the
    /// other account waits or is cancelled.
    case retry
    /// All rows are deleted, whatever their scopes, and then the import.
    case delete
  }

  package var name: AccountImportName
  package var kind: Kind
  /// Only rows of these are cancelled and wait again.
  package var scopes: [AppScope]
  package var at: Milliseconds

  package init(name: AccountImportName, kind: Kind, scopes: [AppScope], at: Milliseconds) {
    self.name = name
    self.kind = kind
    self.scopes = scopes
    self.at = at
  }
}

/// Asks for waiting rows to be done by one process. A row whose lease has ended gets one more failure.
package struct AccountImportLease: Hashable, Sendable {
  /// Rows of these that are due, those that wait longest first in each. The scopes take turns.
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

/// What the holder of a lease tells of one row.
package struct AccountImportReport: Hashable, Sendable {
  package enum Outcome: Hashable, Sendable {
    case done
    case failed(AccountImportRow.Reason, String)
    /// It goes on from then on. The detail is empty to keep the former one.
    case waits(until: Milliseconds, detail: String, failures: Int, refusals: Int)
  }

  package var place: AccountImportRow.Place
  package var lease: String
  package var outcome: Outcome
  package var cursor: String
  package var at: Milliseconds

  package init(
    of row: AccountImportRow, lease: String, _ outcome: Outcome, cursor: String = "",
    at: Milliseconds
  ) {
    place = row.place
    self.lease = lease
    self.outcome = outcome
    self.cursor = cursor
    self.at = at
  }

  /// The columns that it sets.
  package var state: AccountImportRow.State {
    switch outcome {
    case .done: .done
    case .failed: .failed
    case .waits: .waiting
    }
  }

  package var reason: AccountImportRow.Reason? {
    if case .failed(let reason, _) = outcome { reason } else { nil }
  }

  /// Nil: the former one stays.
  package var detail: String? {
    switch outcome {
    case .done: ""
    case .failed(_, let detail): detail.bounded(toBytes: 256)
    case .waits(_, let detail, _, _): detail.isEmpty ? nil : detail.bounded(toBytes: 256)
    }
  }

  /// Nil when it does not wait.
  package var wait: (until: Milliseconds, failures: Int, refusals: Int)? {
    if case .waits(let until, _, let failures, let refusals) = outcome {
      (until, failures, refusals)
    } else {
      nil
    }
  }
}

/// Decides what becomes of the rows of a batch. Both stores call it within the transaction that stores
/// them, so that no row is done twice.
package struct AccountImportDecision {
  /// What two rows that would do the same work share.
  private struct Work: Hashable {
    let scope: AppScope
    let transaction: TransactionID
  }

  /// The stored rows of the import with these numbers.
  private let known: [Int64: AccountImportRow]
  /// Waiting and done rows, those of the batch too.
  private var work: [Work: [AccountImportRow]] = [:]

  /// - Parameters:
  ///   - known: stored rows of the import, among them all with the numbers of the batch.
  ///   - twins: stored rows of any import that are waiting or done, among them all with the
  ///     transactions of the batch.
  package init(known: [AccountImportRow], twins: [AccountImportRow]) {
    self.known = Dictionary(known.map { ($0.place.number, $0) }) { first, _ in first }
    for twin in twins { note(twin) }
  }

  /// Decides on the rows of the batch.
  package mutating func answer(to rows: [AccountImportRow]) -> AccountImportAnswer {
    var outcomes: [AccountImportAnswer.Outcome] = []
    for row in rows {
      if let stored = known[row.place.number] {
        guard stored.isOf(row) else { return .differs(row.place.number) }
        outcomes.append(AccountImportAnswer.Outcome(row: stored, wasKnown: true))
      } else {
        outcomes.append(AccountImportAnswer.Outcome(row: decided(row), wasKnown: false))
      }
    }
    return .rows(outcomes)
  }

  private mutating func decided(_ row: AccountImportRow) -> AccountImportRow {
    guard row.state == .waiting else { return row }
    var row = row
    let twins = work[Work(scope: row.scope, transaction: row.transaction)] ?? []
    // What is done shows whether the link rules give it to another account.
    if let twin = twins.first(where: { $0.state == .waiting && $0.account != row.account }) {
      row.state = .failed
      row.reason = .conflict
      row.detail = "\(Self.place(of: twin)) has another account for this transaction"
    } else if let twin = twins.first(where: { $0.covers(row) }) {
      row.state = .duplicate
      row.detail = "as \(Self.place(of: twin))"
    } else {
      note(row)
    }
    return row
  }

  private mutating func note(_ row: AccountImportRow) {
    work[Work(scope: row.scope, transaction: row.transaction), default: []].append(row)
  }

  private static func place(of row: AccountImportRow) -> String {
    "row \(row.place.number) of import \(row.place.name)"
  }
}

extension AccountImportRow {
  /// Whether a row that is sent has the values of this stored one. The environment in which a row
  /// begins that is looked for in both depends on the keys of the server.
  fileprivate func isOf(_ sent: AccountImportRow) -> Bool {
    let isSameScope =
      scope == sent.scope
      || (fallsBack || sent.fallsBack) && scope.bundleID == sent.scope.bundleID
    return isSameScope && account == sent.account && transaction == sent.transaction
      && token == sent.token
  }

  /// Whether nothing is left to do for a row with the same scope and transaction. While this one waits,
  /// its import may be cancelled: then only that import's rows rest on it.
  fileprivate func covers(_ row: AccountImportRow) -> Bool {
    account == row.account && (row.token == nil || token == row.token)
      && (state == .done || place.name == row.place.name)
  }
}

extension AccountImportRow {
  /// The row after it was leased.
  package func leased(by request: AccountImportLease) -> AccountImportRow {
    var row = self
    if row.lease != nil {
      row.failures += 1
      row.detail = "the lease ended without a report"
    }
    row.lease = request.lease
    row.dueAt = request.until
    return row
  }
}
