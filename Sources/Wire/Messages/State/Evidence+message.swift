import CEntitleMessages
import EntitlementDomain

// The domain orders authorities from the least; the wire counts from the most frequent.
extension FactAuthority {
  var message: Entitle__V1__Evidence {
    switch self {
    case .signedTransaction: ENTITLE__V1__EVIDENCE__EVIDENCE_SIGNED_TRANSACTION
    case .receipt: ENTITLE__V1__EVIDENCE__EVIDENCE_RECEIPT
    case .archivedResponse: ENTITLE__V1__EVIDENCE__EVIDENCE_UNSIGNED_ARCHIVE
    }
  }

  /// Nil when it is unspecified. A number that is not known is the least, as state.proto says.
  init?(_ message: Entitle__V1__Evidence) {
    switch message {
    case ENTITLE__V1__EVIDENCE__EVIDENCE_UNSPECIFIED: return nil
    case ENTITLE__V1__EVIDENCE__EVIDENCE_SIGNED_TRANSACTION: self = .signedTransaction
    case ENTITLE__V1__EVIDENCE__EVIDENCE_RECEIPT: self = .receipt
    default: self = .archivedResponse
    }
  }
}
