package import EntitlementDomain
package import EntitlementStore
package import Verification

/// Something that the use cases count. Names are documented in deploy/docs/operations.md, and keep
/// their meaning.
package enum ServiceCounter: Hashable, Sendable {
  /// Signed payloads that were refused, by the verdict.
  case refused(Verdict)
  /// Accepted payloads, by what the store did with them.
  case facts(FactDisposition)
  /// Accepted payloads, by what they meant for the owner.
  case links(LinkOutcome)
  /// Notifications that came for the first time.
  case notificationAccepted
  /// Notifications that were known already.
  case notificationDuplicate
  /// Of those that came for the first time: Apple's `data.status` is not ours (R47).
  case statusMismatch
  /// Receipts that verified, known before or not.
  case receiptAccepted
  /// Archived responses that were imported, known before or not.
  case archiveAccepted
  /// Values of Apple's enumerations that are not known, in new facts and notifications (R10).
  case unknownValue(UnknownValue.Field)
  case grantAdded
  case grantWithdrawn
  /// Changes of who owns what that somebody asked for by name, and that changed something.
  case linkChange(LinkChangeKind)
  /// Reloads that found a valid file, changed or not.
  case catalogReloadValid
  /// Reloads that found a file that cannot be used.
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
    case .linkChange(let kind): "links.\(kind.rawValue)"
    case .catalogReloadValid: "catalog.reloads.valid"
    case .catalogReloadFailed: "catalog.reloads.failed"
    }
  }

  static let all: [ServiceCounter] =
    Verdict.allCases.filter { $0 != .ok }.map { .refused($0) }
    + FactDisposition.allCases.map { .facts($0) } + LinkOutcome.allCases.map { .links($0) }
    + LinkChangeKind.allCases.map { .linkChange($0) }
    + UnknownValue.Field.allCases.map { .unknownValue($0) } + [
      .notificationAccepted, .notificationDuplicate, .statusMismatch, .receiptAccepted,
      .archiveAccepted, .grantAdded, .grantWithdrawn, .catalogReloadValid, .catalogReloadFailed,
    ]
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
    }
  }
}
