import EntitlementDomain

/// An app transaction id within a scope.
struct AppTransactionKey: Hashable {
  let scopeID: Int64
  let identity: AppTransactionID
}
