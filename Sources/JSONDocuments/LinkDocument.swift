package import EntitlementDomain

/// Something that an account owns, in JSON: the fields of `entitle.v1.Link`, with those of its target
/// beside them, by the same names; what is absent is left out.
package struct LinkDocument: Encodable {
  let originalTransactionId: String?
  let appTransactionId: String?
  let sinceMs: Int64
  let reason: String?
  let isUnsigned: Bool

  /// - Parameter reason: nil for one that only a newer server knows.
  package init(
    target: LinkTarget, since: Milliseconds, reason: LinkReason?, isUnsigned: Bool
  ) {
    let target = LinkTargetDocument(target)
    originalTransactionId = target.originalTransactionId
    appTransactionId = target.appTransactionId
    sinceMs = since.rawValue
    self.reason = reason.map { wireName($0) }
    self.isUnsigned = isUnsigned
  }
}
