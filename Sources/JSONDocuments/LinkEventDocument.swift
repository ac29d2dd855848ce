package import EntitlementDomain

/// One step in the history of a link, in JSON: the fields of `entitle.v1.LinkEvent`, with those of
/// its target beside them, by the same names; what is absent is left out.
package struct LinkEventDocument: Encodable {
  let originalTransactionId: String?
  let appTransactionId: String?
  let atMs: Int64
  let fromAccountId: String?
  let toAccountId: String?
  let fromDeleted: Bool
  let toDeleted: Bool
  let reason: String?
  let author: String?
  let note: String?

  /// - Parameters:
  ///   - from: who had it before; nil when nobody did, or the account was deleted since.
  ///   - to: who has it since then; nil as `from`.
  ///   - reason: nil for one that only a newer server knows.
  ///   - author: who asked for it; nil, as `note`, when a submission brought it about.
  package init(
    target: LinkTarget, at: Milliseconds, from: AccountID?, to: AccountID?, isFromDeleted: Bool,
    isToDeleted: Bool, reason: LinkReason?, author: String?, note: String?
  ) {
    let target = LinkTargetDocument(target)
    originalTransactionId = target.originalTransactionId
    appTransactionId = target.appTransactionId
    atMs = at.rawValue
    fromAccountId = from?.rawValue
    toAccountId = to?.rawValue
    fromDeleted = isFromDeleted
    toDeleted = isToDeleted
    self.reason = reason.map { wireName($0) }
    self.author = author
    self.note = note
  }
}
