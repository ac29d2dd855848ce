import AppStoreServerAPI
import EntitlementDomain
import EntitlementService
import EntitlementStore
import Logging
import NIOCore
import Verification
import Workers

/// One attempt at a row of an import of accounts (R89, R90), by the holder of its lease. Repeating it
/// changes nothing that an earlier one has stored.
struct ImportAttempt {
  private let row: AccountImportRow
  private let lease: String
  private let recovery: AppStoreRecovery
  /// When the attempt began, by ``ServiceTimer``.
  private let began: Duration
  /// What is stored already.
  private var cursor: Cursor
  /// Why the row fails although the rest of its history is stored and linked.
  private var trouble: Trouble?

  /// What was met in the history. It ends the row when all of the history was read.
  private struct Trouble {
    let reason: AccountImportRow.Reason
    /// One line of at most 256 bytes.
    let detail: String

    init(_ reason: AccountImportRow.Reason, _ detail: String) {
      self.reason = reason
      self.detail = String(detail.map { $0.isNewline ? " " : $0 }).bounded(toBytes: 256)
    }

    /// - Parameter text: as ``text``.
    init?(_ text: Substring) {
      let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
      guard parts.count == 2, let number = Int(parts[0]),
        let reason = AccountImportRow.Reason(rawValue: number)
      else { return nil }
      self.init(reason, String(parts[1]))
    }

    var text: String { "\(reason.rawValue) \(detail)" }
  }

  /// The last page of the history that is stored, of a row whose attempt ended before the last one.
  private struct Cursor {
    var environment: StoreEnvironment
    var revision: String
    /// Of the pages up to that one.
    var trouble: Trouble?

    /// - Parameter text: empty, or lines: the environment, the revision, and the trouble if there is any.
    init?(_ text: String) {
      let parts = text.split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false)
      guard parts.count >= 2, let environment = StoreEnvironment(rawValue: String(parts[0])) else {
        return nil
      }
      self.init(environment, String(parts[1]), parts.count > 2 ? Trouble(parts[2]) : nil)
    }

    init(_ environment: StoreEnvironment, _ revision: String, _ trouble: Trouble? = nil) {
      self.environment = environment
      self.revision = revision
      self.trouble = trouble
    }

    var text: String {
      if revision.isEmpty { return "" }
      let trouble = trouble.map { "\n\($0.text)" } ?? ""
      return "\(environment.rawValue)\n\(revision)\(trouble)"
    }
  }

  /// Why an attempt ended before the row was done.
  private enum Fault: Error {
    case attempt(AttemptFault)
    /// It cannot be done.
    case row(AccountImportRow.Reason, String)
    /// Neither environment knows the transaction.
    case absent
  }

  init(_ row: AccountImportRow, lease: String, of recovery: AppStoreRecovery) {
    self.row = row
    self.lease = lease
    self.recovery = recovery
    began = recovery.timer.now()
    cursor = Cursor(row.cursor) ?? Cursor(row.scope.environment, "")
    trouble = cursor.trouble
  }

  /// Makes the attempt.
  consuming func report() async -> AccountImportReport {
    let outcome: AccountImportReport.Outcome
    // Its last processes may have ended because of it.
    if row.failures >= recovery.limits.failures {
      outcome = .failed(.givenUp, row.detail)
    } else {
      do throws(Fault) {
        try await fetch()
        outcome = .done
      } catch {
        outcome = self.outcome(of: error)
      }
    }
    if case .failed(let reason, let detail) = outcome {
      recovery.logger.info(
        "a row of an import failed",
        metadata: [
          "import": "\(row.place.name)", "row": .stringConvertible(row.place.number),
          "cause": "\(reason)",
          "reason": "\(detail)",
        ])
    }
    return AccountImportReport(
      of: row, lease: lease, outcome, cursor: cursor.text, at: recovery.jobClock.now())
  }

  // MARK: Steps

  /// Stores and links all that the App Store lists of the customer, and binds the token.
  private mutating func fetch() async throws(Fault) {
    var (scope, page) = try await firstPage()
    var isEmpty = cursor.revision.isEmpty && page.signedTransactions.isEmpty
    var seen: Set<String> = []
    while page.hasMore {
      try await submit(page.signedTransactions, in: scope)
      guard seen.insert(page.revision).inserted else {
        throw .attempt(.unexplained(JobAttempt.endlessPages))
      }
      cursor = Cursor(scope.environment, page.revision, trouble)
      guard recovery.timer.now() - began < recovery.limits.importTime / 2 else {
        throw .attempt(.turnIsOver)
      }
      page = try await ask { [cursor, row] (client, deadline) async throws(AppStoreServerError) in
        try await client.history(
          of: row.transaction, in: scope, from: cursor.revision, deadline: deadline)
      }
      isEmpty = isEmpty && page.signedTransactions.isEmpty
    }
    // What most customers have is one page. It is stored in one commit with the renewal infos.
    let statuses = try await statuses(in: scope)
    if isEmpty, statuses.isEmpty {
      throw .row(.nothingListed, "the App Store lists no purchase of the customer")
    }
    try await submit(page.signedTransactions + statuses, in: scope)
    if let trouble { throw .row(trouble.reason, trouble.detail) }
    if let token = row.token { try await bind(token, in: scope) }
  }

  /// The first page that is not stored yet, of the environment that knows the transaction.
  private mutating func firstPage() async throws(Fault) -> (AppScope, HistoryPage) {
    if !cursor.revision.isEmpty {
      let scope = AppScope(bundleID: row.scope.bundleID, environment: cursor.environment)
      do throws(Fault) {
        let page = try await ask {
          [cursor, row] (client, deadline) async throws(AppStoreServerError) in
          try await client.history(
            of: row.transaction, in: scope, from: cursor.revision, deadline: deadline)
        }
        return (scope, page)
      } catch {
        // A stored revision that is no longer known: all is listed again.
        guard case .attempt(.appStore(let failure)) = error,
          failure.errorCode == .invalidRevision
        else { throw error }
        cursor = Cursor(row.scope.environment, "")
        trouble = nil
      }
    }
    let found: (app: AppScope, value: HistoryPage)?
    do throws(Fault) {
      found = try await ask { [row] (client, deadline) async throws(AppStoreServerError) in
        guard row.fallsBack else {
          return (
            row.scope,
            try await client.history(of: row.transaction, in: row.scope, deadline: deadline)
          )
        }
        return try await client.inEitherEnvironment(of: row.scope.bundleID) {
          (app) async throws(AppStoreServerError) in
          try await client.history(of: row.transaction, in: app, deadline: deadline)
        }
      }
    } catch {
      if case .attempt(.appStore(let failure)) = error,
        failure.errorCode == .transactionIDNotFound
      {
        throw .absent
      }
      throw error
    }
    guard let found else { throw .absent }
    return (found.app, found.value)
  }

  /// The renewal infos of the customer's subscriptions, each with its latest transaction.
  private func statuses(in scope: AppScope) async throws(Fault) -> [String] {
    do throws(Fault) {
      let statuses = try await ask { [row] (client, deadline) async throws(AppStoreServerError) in
        try await client.subscriptionStatuses(of: row.transaction, in: scope, deadline: deadline)
      }
      return statuses.signedPayloads
    } catch {
      // The customer has no subscription.
      if case .attempt(.appStore(let failure)) = error,
        failure.errorCode == .transactionIDNotFound
      {
        return []
      }
      throw error
    }
  }

  private func ask<Answer>(
    _ call: (AppStoreServerClient, NIODeadline) async throws(AppStoreServerError) -> Answer
  ) async throws(Fault) -> Answer {
    let left = recovery.limits.importTime - (recovery.timer.now() - began)
    guard left > .zero else { throw .attempt(.timeIsUp) }
    do throws(AppStoreServerError) {
      return try await call(recovery.client, .now() + TimeAmount(left))
    } catch {
      throw .attempt(.appStore(error))
    }
  }

  private mutating func submit(_ payloads: [String], in scope: AppScope) async throws(Fault) {
    var rest = payloads[...]
    while !rest.isEmpty {
      let batch = rest.prefix(recovery.limits.batch)
      rest = rest.dropFirst(batch.count)
      let result: SubmissionResult
      do throws(ServiceError) {
        result = try await recovery.submissions.submit(
          TransactionSubmission(
            signedPayloads: batch.map { Array($0.utf8) }, bundleID: scope.bundleID,
            accountID: row.account, takesNothing: true, priority: .bulk,
            permits: { $0 == scope }))
      } catch {
        throw .attempt(.service(error))
      }
      for item in result.items { try check(item) }
    }
  }

  private mutating func check(_ item: ItemResult) throws(Fault) {
    switch item.verdict {
    case .ok: break
    case .retryable: throw .attempt(.undecided)
    default: note(.refused, "\(item.verdict.name): \(item.detail ?? "")")
    }
    switch item.link {
    case .unchanged, .linked, .transferred, .reclaimed, nil: break
    case .alreadyLinked, .claimLimited, .disputed:
      note(.linkedElsewhere, "a purchase belongs to another account")
    case .accountFull:
      note(.accountFull, "the account has as many purchases as the app allows")
    case .unlinked: note(.refused, "a purchase was stored, and not linked")
    }
  }

  /// The first one is told; what an operator can mend by links, before what is refused.
  private mutating func note(_ reason: AccountImportRow.Reason, _ detail: String) {
    if let trouble, trouble.reason != .refused || reason == .refused { return }
    trouble = Trouble(reason, detail)
  }

  private func bind(_ token: AppAccountToken, in scope: AppScope) async throws(Fault) {
    do throws(ServiceError) {
      _ = try await recovery.links.perform(
        .bindToken(token, to: row.account), in: scope,
        ChangeAudit(reason: "row \(row.place.number) of import \(row.place.name)", caller: .server),
        keepsBoundTokens: true)
    } catch {
      if case .alreadyExists = error.code {
        throw .row(.tokenElsewhere, "the token is bound to another account")
      }
      throw .attempt(.service(error))
    }
  }

  // MARK: Outcomes

  private func outcome(of fault: Fault) -> AccountImportReport.Outcome {
    switch fault {
    case .row(let reason, let detail): return .failed(reason, detail)
    case .absent:
      return refused(.unknownTransaction, "the App Store does not know the transaction")
    case .attempt(let fault):
      switch fault.setback(recovery.limits) {
      case .lost, .turnIsOver: return waits(until: recovery.jobClock.now(), "")
      case .waits(let reason, let wait, let moment):
        // All rows of the app would meet the same.
        let end = recovery.end(of: wait, until: moment)
        recovery.pauseImports(of: row.scope, until: end)
        return waits(until: end, reason)
      case .unexplained(let reason): return refused(.refused, reason)
      case .failed(let reason): return failed(reason)
      }
    }
  }

  private func waits(
    until moment: Milliseconds, _ detail: String
  ) -> AccountImportReport.Outcome {
    .waits(until: moment, detail: detail, failures: row.failures, refusals: row.refusals)
  }

  /// The App Store may know more later.
  private func refused(
    _ reason: AccountImportRow.Reason, _ detail: String
  ) -> AccountImportReport.Outcome {
    let waits = recovery.limits.importWaits
    guard row.refusals < waits.count else { return .failed(reason, detail) }
    return .waits(
      until: recovery.jobClock.now().advanced(
        by: waits[row.refusals] * Double.random(in: 1...1.25)),
      detail: detail, failures: 0, refusals: row.refusals + 1)
  }

  private func failed(_ detail: String) -> AccountImportReport.Outcome {
    let failures = row.failures + 1
    guard failures < recovery.limits.failures else { return .failed(.givenUp, detail) }
    let wait = recovery.limits.backoff(afterFailures: failures, jitter: .random(in: 0...1))
    return .waits(
      until: recovery.jobClock.now().advanced(by: wait), detail: detail, failures: failures,
      refusals: row.refusals)
  }
}

extension AppStoreErrorCode {
  /// The revision of a list is not one of the App Store's, or not of this list.
  static let invalidRevision = AppStoreErrorCode(rawValue: 4_000_005)
}
