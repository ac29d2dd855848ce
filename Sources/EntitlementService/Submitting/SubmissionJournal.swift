import EntitlementDomain
import EntitlementStore
import Logging
import Verification

/// Counts and logs the outcomes of submissions. No log line contains a payload.
struct SubmissionJournal: Sendable {
  let counters: ServiceCounters
  let logger: Logger

  /// Nothing of a refused payload is stored (R8).
  func refused(_ refusal: Refusal, of kind: SignedKind? = nil) {
    counters.add(.refused(refusal.verdict))
    logger.info(
      "refused a signed payload",
      metadata: [
        "verdict": "\(refusal.verdict.name)", "detail": "\(refusal.detail)",
        "kind": "\(kind?.label ?? "unknown")",
      ])
  }

  /// Records a receipt or archived response that was refused as a whole.
  func refused(_ refusal: Refusal, _ document: ReceiptOrigin) {
    counters.add(.refused(refusal.verdict))
    logger.info(
      "refused a receipt",
      metadata: [
        "verdict": "\(refusal.verdict.name)", "detail": "\(refusal.detail)",
        "document": "\(document.label)",
      ])
  }

  /// Records an accepted receipt or archived response, whose facts are committed. One line covers
  /// all refused parts, as there may be hundreds.
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
          "document": "\(document.label)", "refused": .stringConvertible(refusals.count),
          "accepted": .stringConvertible(facts), "verdict": "\(first.verdict.name)",
          "detail": "\(first.detail)",
        ])
    }
    if case .archivedResponse = document {
      // Logged at notice level, as the facts are unsigned.
      logger.notice(
        "imported an archived response",
        metadata: ["bundle_id": "\(app)", "facts": .stringConvertible(facts)])
    }
  }

  func committed(_ facts: [SignedFact], _ receipt: CommitReceipt) {
    // The unknown values of a known fact were counted when it was new.
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
    if NotificationType(rawValue: record.type) == .test {
      // An operator who sets up notifications asks Apple for one, and looks for it here.
      logger.info(
        "test notification of the App Store",
        metadata: [
          "bundle_id": "\(record.scope?.bundleID.rawValue ?? "none")",
          "environment": "\(record.scope?.environment.rawValue ?? "none")",
        ])
    }
    let unknown = record.unknownValues
    let mismatches = receipt.events.filter { $0.refetchReason == .statusMismatch }
    counters.add(
      [.notificationAccepted] + unknown.map { .unknownValue($0.field) }
        + mismatches.map { _ in .statusMismatch })
    log(unknown)
    for mismatch in mismatches {
      logger.warning(
        "Apple's status of a subscription differs from the computed one",
        metadata: [
          "notification": "\(record.uuid)", "detail": "\(mismatch.detail ?? "")",
        ])
    }
  }

  /// Logs values of Apple's that this version does not know (R10).
  private func log(_ values: [UnknownValue]) {
    for value in values {
      logger.info(
        "unknown value of Apple's",
        // Quoted, as the value is external input.
        metadata: ["field": "\(value.field.rawValue)", "value": "\(value.value.debugDescription)"])
    }
  }
}
