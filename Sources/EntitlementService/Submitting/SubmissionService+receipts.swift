import EntitlementDomain
import EntitlementStore
import Verification
import Workers

extension SubmissionService {
  /// Verifies a legacy app receipt and commits the facts of the app and of each purchase together.
  /// An invalid purchase does not affect the others, and a receipt without purchases is valid
  /// (R52). Facts of a JWS take precedence (R51). Deadline and cancellation are as for a submission
  /// of transactions.
  package func submit(
    _ request: ReceiptSubmission, deadline: ContinuousClock.Instant? = nil,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) async throws(ServiceError) -> ReceiptResult {
    let snapshot = catalog.snapshot
    let outcome = try await verifying(1, isCancelled) { isCancelled throws(PoolError) in
      let result = try await pool.run(
        request.receipt, deviceIdentifier: request.deviceIdentifier, policy: snapshot.policy,
        now: clock.now(), deadline: deadline, priority: request.priority,
        of: request.source, isCancelled: isCancelled)
      return (result, [result.verdict])
    }
    switch outcome {
    case .failure(let refusal):
      return refused(refusal, .receipt)
    case .success(let verified):
      if let expected = request.bundleID, verified.receipt.bundleID != expected {
        return refused(Self.otherApp, .receipt)
      }
      guard verified.receipt.isPermitted(request.permits) else {
        return refused(Self.notPermitted, .receipt)
      }
      return try await commit(
        verified.receipt, verified.facts, from: .receipt, accountID: request.accountID,
        anonymousAccountID: request.anonymousAccountID,
        catalog: snapshot.catalog, unless: isCancelled)
    }
  }

  /// Commits the facts of an archived response of `verifyReceipt` as unsigned evidence. Signed
  /// facts take precedence (R51), and no purchase of another account is moved. Deadline and
  /// cancellation are as for a submission of transactions.
  ///
  /// - Throws: ``ServiceError/Code-swift.enum/invalidArgument(field:)`` for an app that is not in
  ///   the catalog and for a date that lies ahead, ``ServiceError/Code-swift.enum/archivesNotAccepted`` for an app whose archived
  ///   responses the catalog does not accept.
  package func importArchive(
    _ request: ArchiveSubmission, deadline: ContinuousClock.Instant? = nil,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) async throws(ServiceError) -> ReceiptResult {
    let snapshot = catalog.snapshot
    let app = try snapshot.app(request.bundleID)
    guard app.acceptsArchivedResponses else {
      throw ServiceError(
        .archivesNotAccepted, "the catalog does not accept archived responses of this app")
    }
    if let asOf = request.asOf, asOf > clock.now() {
      throw ServiceError(.invalidArgument(field: "as_of_ms"), "the date lies ahead")
    }
    let outcome = try await verifying(1, isCancelled) { isCancelled throws(PoolError) in
      let result = try await pool.read(
        archivedResponse: request.response,
        beside: ArchivedResponse.Statement(
          bundleID: request.bundleID, environment: request.environment, asOf: request.asOf),
        deadline: deadline, of: request.source, isCancelled: isCancelled)
      return (result, [result.verdict])
    }
    switch outcome {
    case .failure(let refusal):
      return refused(refusal, .archivedResponse)
    case .success(let archive):
      if let refusal = Self.refusal(of: archive.receipt, by: app) {
        return refused(refusal, .archivedResponse)
      }
      guard archive.receipt.isPermitted(request.permits) else {
        return refused(Self.notPermitted, .archivedResponse)
      }
      return try await commit(
        archive.receipt, archive.facts, from: .archivedResponse, accountID: request.accountID,
        importedBy: request.caller, onBehalfOf: request.onBehalfOf, catalog: snapshot.catalog,
        unless: isCancelled)
    }
  }

  /// Makes the checks of a signed receipt that an unsigned one can fail too: app and environment
  /// (R9).
  private static func refusal(of receipt: Receipt, by app: CatalogApp) -> Refusal? {
    guard receipt.bundleID == app.bundleID else { return otherApp }
    guard let environment = receipt.environment, app.environments.contains(environment) else {
      return Refusal(.wrongEnvironment, "the environment is not accepted here")
    }
    return nil
  }

  private func refused(_ refusal: Refusal, _ document: ReceiptOrigin) -> ReceiptResult {
    journal.refused(refusal, document)
    return ReceiptResult(refusal: refusal)
  }

  private func commit(
    _ receipt: Receipt, _ outcomes: [Result<SignedFact, Refusal>], from document: ReceiptOrigin,
    accountID: AccountID?, anonymousAccountID: AccountID? = nil,
    importedBy caller: AuditCaller? = nil, onBehalfOf: String? = nil, catalog: Catalog,
    unless isCancelled: @Sendable () -> Bool
  ) async throws(ServiceError) -> ReceiptResult {
    var items = [ItemResult?](repeating: nil, count: outcomes.count)
    var facts: [(position: Int, fact: SignedFact)] = []
    var refusals: [Refusal] = []
    for (position, outcome) in outcomes.enumerated() {
      switch outcome {
      case .success(let fact):
        facts.append((position, fact))
      case .failure(let refusal):
        refusals.append(refusal)
        items[position] = ItemResult(refusal: refusal, kind: receipt.kind(ofFact: position))
      }
    }
    var customers: [CustomerRevision] = []
    if !facts.isEmpty {
      let committed = try await commit(
        Submission(
          facts: facts.map(\.fact), accountID: accountID,
          anonymousAccountID: anonymousAccountID, receivedAt: clock.now(), catalog: catalog,
          importedBy: caller, onBehalfOf: onBehalfOf),
        unless: isCancelled)
      for (entry, result) in zip(facts, results(of: facts.map(\.fact), from: committed)) {
        items[entry.position] = result
      }
      customers = committed.customers
    }
    journal.accepted(
      document, of: receipt.bundleID, facts: facts.count, refusals: refusals)
    return ReceiptResult(
      accepted: receipt, items: items.compactMap(\.self), customers: customers)
  }
}

extension Receipt {
  /// A receipt of an unknown environment is refused for that.
  fileprivate func isPermitted(_ permits: (AppScope) -> Bool) -> Bool {
    environment.map { permits(AppScope(bundleID: bundleID, environment: $0)) } ?? true
  }

  /// The kind of the fact at a position. The app comes first, then the purchases, then the
  /// renewals.
  fileprivate func kind(ofFact position: Int) -> SignedKind {
    switch position {
    case ...0: .appTransaction
    case ...items.count: .transaction
    default: .renewalInfo
    }
  }
}

/// The document that facts were read from.
enum ReceiptOrigin: Sendable {
  /// A signed PKCS#7 receipt.
  case receipt
  /// An unsigned response of `verifyReceipt`.
  case archivedResponse

  /// The name in log lines.
  var label: String {
    switch self {
    case .receipt: "receipt"
    case .archivedResponse: "archived response"
    }
  }
}
