package import EntitlementDomain
package import EntitlementStore
import Synchronization
package import Verification

/// The counters of the use cases since the start. A submission takes the lock a few times; reads of
/// customers do not take it.
package final class ServiceCounters: Sendable {
  private let counts = Mutex<[ServiceCounter: Int64]>([:])

  package init() {}

  package func add(_ counter: ServiceCounter) {
    add([counter])
  }

  /// Adds one for each element.
  package func add(_ counters: some Sequence<ServiceCounter>) {
    counts.withLock { counts in
      for counter in counters { counts[counter, default: 0] += 1 }
    }
  }

  package subscript(counter: ServiceCounter) -> Int64 {
    counts.withLock { $0[counter] ?? 0 }
  }

  /// All counters, including counters that are zero.
  package var values: [StatisticValue] {
    let counts = counts.withLock { $0 }
    return ServiceCounter.all.map { StatisticValue($0.name, counts[$0] ?? 0) }
  }
}

/// A counter of the use cases. The names are a contract, documented in deploy/docs/operations.md.
package enum ServiceCounter: Hashable, Sendable {
  /// Refused signed payloads, by verdict.
  case refused(Verdict)
  /// Accepted payloads, by disposition.
  case facts(FactDisposition)
  /// Accepted payloads, by link outcome.
  case links(LinkOutcome)
  /// New notifications.
  case notificationAccepted
  /// Notifications that were stored before.
  case notificationDuplicate
  /// New notifications whose `data.status` differs from the computed status (R47).
  case statusMismatch
  /// Verified receipts, new or known.
  case receiptAccepted
  /// Imported archived responses, new or known.
  case archiveAccepted
  /// Unknown values of Apple's enumerations in new facts and notifications (R10).
  case unknownValue(UnknownValue.Field)
  case grantAdded
  case grantWithdrawn
  /// Signed offers, by what was signed.
  case offerSigned(OfferCounter)
  /// Offers that were not signed, by reason.
  case offerRefused(OfferRefusal)
  /// Introductory offers for which the catalog does not let callers override the verdict.
  case offerOverrideRefused
  /// Offers that were not signed because of a limit.
  case offerLimited
  /// Explicit link requests that changed something.
  case linkChange(LinkChangeKind)
  /// Reloads of a valid file, changed or not.
  case catalogReloadValid
  /// Reloads of a file that was invalid or could not be read.
  case catalogReloadFailed

  package var name: String {
    switch self {
    case .refused(let verdict): "submissions.refused.\(verdict.name)"
    case .facts(let disposition): "submissions.facts.\(disposition.counterName)"
    case .links(let outcome): "submissions.links.\(outcome.counterName)"
    case .notificationAccepted: "notifications.accepted"
    case .notificationDuplicate: "notifications.duplicate"
    case .statusMismatch: "notifications.status_mismatch"
    case .receiptAccepted: "receipts.accepted"
    case .archiveAccepted: "archives.accepted"
    case .unknownValue(let field): field.counterName
    case .grantAdded: "grants.added"
    case .grantWithdrawn: "grants.withdrawn"
    case .offerSigned(let form): "offers.signed.\(form.rawValue)"
    case .offerRefused(let refusal): "offers.refused.\(refusal.name)"
    case .offerOverrideRefused: "offers.refused.OVERRIDE"
    case .offerLimited: "offers.throttled"
    case .linkChange(let kind): "links.\(kind.rawValue)"
    case .catalogReloadValid: "catalog.reloads.valid"
    case .catalogReloadFailed: "catalog.reloads.failed"
    }
  }

  static let all: [ServiceCounter] =
    Verdict.allCases.filter { $0 != .ok }.map { .refused($0) }
    + FactDisposition.allCases.map { .facts($0) } + LinkOutcome.allCases.map { .links($0) }
    + LinkChangeKind.allCases.map { .linkChange($0) }
    + OfferCounter.allCases.map { .offerSigned($0) }
    + OfferRefusal.allCases.map { .offerRefused($0) }
    + UnknownValue.Field.allCases.map { .unknownValue($0) } + [
      .notificationAccepted, .notificationDuplicate, .statusMismatch, .receiptAccepted,
      .archiveAccepted, .grantAdded, .grantWithdrawn, .offerOverrideRefused, .offerLimited,
      .catalogReloadValid, .catalogReloadFailed,
    ]
}

/// What was signed about an offer. Raw values are in the names of counters.
package enum OfferCounter: String, Hashable, Sendable, CaseIterable {
  case promotionalV1 = "promotional_v1"
  case promotionalV2 = "promotional_v2"
  case introductoryAllowed = "introductory_allowed"
  case introductoryDenied = "introductory_denied"
}

extension UnknownValue.Field {
  fileprivate var counterName: String {
    switch self {
    case .notificationType: "notifications.unknown_type"
    case .subtype: "notifications.unknown_subtype"
    case .notificationForm: "notifications.unknown_form"
    case .status: "notifications.unknown_status"
    default: "facts.unknown.\(rawValue)"
    }
  }
}

extension FactDisposition {
  fileprivate var counterName: String {
    switch self {
    case .added: "ADDED"
    case .replaced: "REPLACED"
    case .duplicate: "DUPLICATE"
    case .superseded: "SUPERSEDED"
    }
  }
}

extension LinkOutcome {
  fileprivate var counterName: String {
    switch self {
    case .unlinked: "UNLINKED"
    case .unchanged: "UNCHANGED"
    case .linked: "LINKED"
    case .transferred: "TRANSFERRED"
    case .alreadyLinked: "ALREADY_LINKED"
    case .claimLimited: "CLAIM_LIMITED"
    case .accountFull: "ACCOUNT_FULL"
    case .reclaimed: "RECLAIMED"
    case .disputed: "DISPUTED"
    }
  }
}
