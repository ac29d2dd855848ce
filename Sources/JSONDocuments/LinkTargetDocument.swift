package import EntitlementDomain

/// What an account can own, in JSON: the fields of `entitle.v1.LinkTarget`, by the same names, of
/// which one is there.
package struct LinkTargetDocument: Encodable {
  let originalTransactionId: String?
  let appTransactionId: String?

  package init(_ target: LinkTarget) {
    switch target {
    case .chain(let id):
      originalTransactionId = id.rawValue
      appTransactionId = nil
    case .appTransaction(let id):
      originalTransactionId = nil
      appTransactionId = id.rawValue
    }
  }
}
