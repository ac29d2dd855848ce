import EntitlementDomain
import EntitlementStore
import Logging
import Verification

/// Counts and logs what became of submissions. No line holds a payload.
struct SubmissionJournal: Sendable {
  let counters: ServiceCounters
  let logger: Logger

  /// A refusal leaves no other trace than this line and its counter (R8).
  func refused(_ refusal: Refusal, of kind: SignedKind? = nil) {
    counters.add(.refused(refusal.verdict))
    logger.info(
      "refused a signed payload",
      metadata: [
        "verdict": "\(refusal.verdict.name)", "detail": "\(refusal.detail)",
        "kind": "\(kind?.label ?? "unknown")",
      ])
  }

  /// A receipt or an archived response that was refused as a whole.
  func refused(_ refusal: Refusal, _ document: ReceiptOrigin) {
    counters.add(.refused(refusal.verdict))
    logger.info(
      "refused a receipt",
      metadata: [
        "verdict": "\(refusal.verdict.name)", "detail": "\(refusal.detail)",
        "document": "\(document.label)",
      ])
  }

  /// A receipt or an archived response that was accepted, and committed where it holds facts. One
  /// line for all of its parts that were refused: there may be hundreds.
  func accepted(
    _ document: ReceiptOrigin, of app: BundleID, facts: Int, refusals: [Refusal]
  ) {
    let counter: ServiceCounter =
      switch document {
      case .receipt: .receiptAccepted
      case .archivedResponse: .archiveAccepted
      }
    counters.add([counter] + refusals.map { .refused($0.verdict) })
    if let first = refusals.first {
      logger.info(
        "refused parts of a receipt",
        metadata: [
          "document": "\(document.label)", "refused": "\(refusals.count)",
          "accepted": "\(facts)", "verdict": "\(first.verdict.name)", "detail": "\(first.detail)",
        ])
    }
    if case .archivedResponse = document {
      // Nobody signed it: that it is there at all should be seen.
      logger.notice(
        "imported an archived response", metadata: ["bundle_id": "\(app)", "facts": "\(facts)"])
    }
  }

  func committed(_ facts: [SignedFact], _ receipt: CommitReceipt) {
    // What was known before was counted then.
    let unknown = zip(facts, receipt.dispositions).flatMap { fact, disposition in
      disposition == .added || disposition == .replaced ? fact.fact.unknownValues : []
    }
    counters.add(
      receipt.dispositions.map { .facts($0) } + receipt.links.map { .links($0) }
        + unknown.map { .unknownValue($0.field) })
    log(unknown)
  }

  func notificationCommitted(_ record: NotificationRecord, _ receipt: CommitReceipt) {
    guard !receipt.notificationWasKnown else {
      counters.add(.notificationDuplicate)
      return
    }
    let unknown = record.unknownValues
    let mismatches = receipt.events.filter { $0.refetchReason == .statusMismatch }
    counters.add(
      [.notificationAccepted] + unknown.map { .unknownValue($0.field) }
        + mismatches.map { _ in .statusMismatch })
    log(unknown)
    for mismatch in mismatches {
      logger.warning(
        "Apple's status of a subscription is not ours",
        metadata: [
          "notification": "\(record.uuid)", "detail": "\(mismatch.detail ?? "")",
        ])
    }
  }

  /// R10: somebody should teach this program what Apple means.
  private func log(_ values: [UnknownValue]) {
    for value in values {
      logger.info(
        "a value of Apple's that is not known",
        // Quoted, as it comes from outside.
        metadata: ["field": "\(value.field.rawValue)", "value": "\(value.value.debugDescription)"])
    }
  }
}
