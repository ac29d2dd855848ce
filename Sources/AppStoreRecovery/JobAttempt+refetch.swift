import AppStoreServerAPI
import EntitlementDomain
import EntitlementService
import EntitlementStore

// Fetches what the App Store knows of a customer (R79): the statuses of all subscriptions, what is new
// in the history since the last time, and refunds where a missing one may be the cause.
extension JobAttempt {
  /// Revisions of the lists, which lead to what is new.
  private struct RefetchCursor {
    var history: String?
    var refunds: String?

    /// - Parameter text: empty, or both revisions with a line feed between them.
    init(_ text: String) {
      let parts = text.split(separator: "\n", omittingEmptySubsequences: false)
      history = parts.first.flatMap { $0.isEmpty ? nil : String($0) }
      refunds = parts.dropFirst().first.flatMap { $0.isEmpty ? nil : String($0) }
    }

    var text: String { "\(history ?? "")\n\(refunds ?? "")" }
  }

  mutating func refetch(_ chain: OriginalTransactionID) async throws(AttemptFault)
    -> Milliseconds?
  {
    let scope = scope
    let statuses = try await ask { (client, deadline) async throws(AppStoreServerError) in
      try await client.subscriptionStatuses(of: chain, in: scope, deadline: deadline)
    }
    try await submit(statuses.signedPayloads)
    var revisions = RefetchCursor(cursor)
    try await fetchHistory(of: chain, &revisions)
    if !job.reasons.isDisjoint(with: [.statusMismatch, .payloadMissing]) {
      try await fetchRefunds(of: chain, &revisions)
    }
    let remaining = try await remainingReasons(
      of: chain,
      status: statuses.subscriptions.first { $0.originalTransactionID == chain }?.knownStatus)
    guard remaining.isEmpty else {
      // All is listed again: what is missing may be what was refused before.
      cursor = ""
      let names = remaining.map(\.name).sorted().joined(separator: ", ")
      throw .unexplained("the App Store's answers do not explain \(names)")
    }
    return nil
  }

  private mutating func fetchHistory(
    of chain: OriginalTransactionID, _ revisions: inout RefetchCursor
  ) async throws(AttemptFault) {
    let (scope, stored) = (scope, revisions.history)
    var seen: Set<String> = []
    var hasMore = true
    while hasMore {
      let from = revisions.history
      let page: HistoryPage
      do throws(AttemptFault) {
        page = try await ask { (client, deadline) async throws(AppStoreServerError) in
          try await client.history(of: chain, in: scope, from: from, deadline: deadline)
        }
      } catch {
        // A stored revision that is no longer known: all is listed again.
        guard from != nil, from == stored, error.errorCode == .invalidRevision else { throw error }
        revisions.history = nil
        continue
      }
      try await submit(page.signedTransactions)
      revisions.history = page.revision
      cursor = revisions.text
      hasMore = page.hasMore
      guard !hasMore || seen.insert(page.revision).inserted else {
        throw .unexplained(Self.endlessPages)
      }
      if hasMore { try await keep() }
    }
  }

  private mutating func fetchRefunds(
    of chain: OriginalTransactionID, _ revisions: inout RefetchCursor
  ) async throws(AttemptFault) {
    let (scope, stored) = (scope, revisions.refunds)
    var seen: Set<String> = []
    var hasMore = true
    while hasMore {
      let from = revisions.refunds
      let page: RefundPage
      do throws(AttemptFault) {
        page = try await ask { (client, deadline) async throws(AppStoreServerError) in
          try await client.refunds(of: chain, in: scope, from: from, deadline: deadline)
        }
      } catch {
        guard from != nil, from == stored, error.errorCode == .invalidRevision else { throw error }
        revisions.refunds = nil
        continue
      }
      try await submit(page.signedTransactions)
      revisions.refunds = page.revision
      cursor = revisions.text
      hasMore = page.hasMore
      guard !hasMore || seen.insert(page.revision).inserted else {
        throw .unexplained(Self.endlessPages)
      }
      if hasMore { try await keep() }
    }
  }

  private func remainingReasons(
    of chain: OriginalTransactionID, status: SubscriptionStatus?
  ) async throws(AttemptFault) -> Set<RefetchReason> {
    let facts: [Fact]
    do throws(StoreError) {
      facts = try await recovery.store.customer(.originalTransaction(chain), in: scope).record.facts
    } catch {
      throw .store(error)
    }
    return RefetchReview.remaining(
      job.reasons, of: chain, in: scope, facts: facts, status: status,
      hasPayload: acceptedChains.contains(chain), catalog: recovery.catalog.snapshot.catalog,
      at: recovery.clock.now())
  }
}

extension AttemptFault {
  fileprivate var errorCode: AppStoreErrorCode? {
    if case .appStore(let error) = self { error.errorCode } else { nil }
  }
}

extension RefetchReason {
  /// The name in messages, such as `STATUS_MISMATCH`.
  fileprivate var name: String {
    switch self {
    case .successorMissing: "SUCCESSOR_MISSING"
    case .statusMismatch: "STATUS_MISMATCH"
    case .payloadMissing: "PAYLOAD_MISSING"
    case .renewalOverdue: "RENEWAL_OVERDUE"
    case .predecessorMissing: "PREDECESSOR_MISSING"
    }
  }
}
