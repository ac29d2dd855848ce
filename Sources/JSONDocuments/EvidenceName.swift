package import EntitlementDomain

extension FactAuthority {
  /// The name of `entitle.v1.Evidence`, without the enumeration's own. Its numbers are not those of
  /// the wire.
  package var evidenceName: String {
    switch self {
    case .signedTransaction: "SIGNED_TRANSACTION"
    case .receipt: "RECEIPT"
    case .archivedResponse: "UNSIGNED_ARCHIVE"
    }
  }
}
