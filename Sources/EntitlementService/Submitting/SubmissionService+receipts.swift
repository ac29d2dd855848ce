import EntitlementDomain
import EntitlementStore
import Verification

extension SubmissionService {
  /// Verifies a legacy app receipt and commits what it says of the app and of each purchase
  /// together. A purchase that cannot be a fact hinders no other, and a receipt without purchases
  /// is as good as any (R52). What is known from a JWS stands against it (R51). Deadline and
  /// cancellation are those of a submission of transactions.
  package func submit(
    _ request: ReceiptSubmission, deadline: ContinuousClock.Instant? = nil,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) async throws(ServiceError) -> ReceiptResult {
    let snapshot = catalog.snapshot
    let outcome: Result<VerifiedReceipt, Refusal>
    do {
      outcome = try await pool.run(
        request.receipt, deviceIdentifier: request.deviceIdentifier, policy: snapshot.policy,
        now: clock.now(), deadline: deadline, priority: request.priority,
        isCancelled: isCancelled)
    } catch {
      throw ServiceError(error)
    }
    switch outcome {
    case .failure(let refusal):
      return refused(refusal, .receipt)
    case .success(let verified):
      if let expected = request.bundleID, verified.receipt.bundleID != expected {
        return refused(Self.otherApp, .receipt)
      }
      return try await commit(
        verified.receipt, verified.facts, from: .receipt, accountID: request.accountID,
        catalog: snapshot.catalog, unless: isCancelled)
    }
  }

  /// Commits what an archived response of `verifyReceipt` says, as evidence that nobody signed: it
  /// weighs less than whatever Apple signed (R51), and takes no purchase from another account.
  /// Deadline and cancellation are those of a submission of transactions.
  ///
  /// - Throws: ``ServiceError/Code-swift.enum/invalidArgument(field:)`` for an app that the catalog
  ///   does not name, ``ServiceError/Code-swift.enum/archivesNotAccepted`` for one of which it does
  ///   not accept archived responses.
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
    let outcome: Result<ArchivedResponse, Refusal>
    do {
      outcome = try await pool.read(
        archivedResponse: request.response, deadline: deadline, isCancelled: isCancelled)
    } catch {
      throw ServiceError(error)
    }
    switch outcome {
    case .failure(let refusal):
      return refused(refusal, .archivedResponse)
    case .success(let archive):
      if let refusal = Self.refusal(of: archive.receipt, by: app) {
        return refused(refusal, .archivedResponse)
      }
      return try await commit(
        archive.receipt, archive.facts, from: .archivedResponse, accountID: request.accountID,
        catalog: snapshot.catalog, unless: isCancelled)
    }
  }

  /// What verification would check of a signed receipt. An archived response is of the App Store's
  /// own environments, or is not read (R9).
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
    accountID: AccountID?, catalog: Catalog, unless isCancelled: @Sendable () -> Bool
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
          facts: facts.map(\.fact), accountID: accountID, receivedAt: clock.now(),
          catalog: catalog),
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
  /// What the fact at a position is: facts tell the app first, then each purchase, then renewals.
  fileprivate func kind(ofFact position: Int) -> SignedKind {
    switch position {
    case ...0: .appTransaction
    case ...items.count: .transaction
    default: .renewalInfo
    }
  }
}

/// What the facts of a receipt came in.
enum ReceiptOrigin: Sendable {
  /// PKCS#7, signed.
  case receipt
  /// A response of `verifyReceipt`, which nobody signed.
  case archivedResponse

  /// For people.
  var label: String {
    switch self {
    case .receipt: "receipt"
    case .archivedResponse: "archived response"
    }
  }
}
