package import EntitlementDomain

/// An event of the change feed in JSON: the fields of `entitle.v1.FeedEvent`, by the same names;
/// what is absent is left out.
package struct FeedEventDocument: Encodable {
  let kind: String
  let notificationUuid: String
  let originalTransactionId: String?
  let transactionId: String?
  let deadlineMs: Int64?
  let refetchReason: String?
  let detail: String?

  package init(_ event: FeedEvent) {
    kind = wireName(event.kind)
    notificationUuid = event.notificationUUID.rawValue
    originalTransactionId = event.originalTransactionID?.rawValue
    transactionId = event.transactionID?.rawValue
    deadlineMs = event.deadline?.rawValue
    refetchReason = event.refetchReason.map { wireName($0) }
    detail = event.detail
  }
}
