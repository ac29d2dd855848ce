/// What a notification is about, as far as a review needs it.
struct ReviewedContent {
  let uuid: NotificationUUID
  let type: NotificationType
  let subtype: NotificationSubtype?
  let status: Int64?
  let signedDate: Milliseconds?
  let transaction: TransactionFact?
  /// That of the chain that the notification is about.
  let renewalInfo: RenewalInfoFact?
  /// Of the facts that it brought.
  let digests: Set<PayloadDigest>

  init(_ record: NotificationRecord, bringing inner: [Fact]) {
    uuid = record.uuid
    type = NotificationType(rawValue: record.type)
    subtype = record.subtype.map(NotificationSubtype.init(rawValue:))
    status = record.status
    signedDate = record.signedDate
    var transaction: TransactionFact?
    var renewalInfo: RenewalInfoFact?
    for fact in inner {
      switch fact {
      case .transaction(let fact): transaction = transaction ?? fact
      case .renewalInfo(let fact): renewalInfo = renewalInfo ?? fact
      case .appTransaction: break
      }
    }
    self.transaction = transaction
    // One of another chain would lend its dates to this one.
    let isOfSameChain =
      transaction.map { $0.originalTransactionID == renewalInfo?.originalTransactionID } ?? true
    self.renewalInfo = isOfSameChain ? renewalInfo : nil
    digests = Set(inner.map(\.digest))
  }

  /// The chain that it names.
  var chain: OriginalTransactionID? {
    transaction?.originalTransactionID ?? renewalInfo?.originalTransactionID
  }

  /// What a notification about a purchase should carry and did not. Renewing is the purchaser's
  /// affair: members of a family and holders of a seat have no renewal info of their own.
  var missing: NotificationForm.Contents {
    var missing = NotificationForm.known(type, subtype)?.contents ?? []
    missing.remove(.appTransaction)
    if let transaction {
      missing.remove(.transaction)
      let isPurchaser = transaction.ownership ?? .purchased == .purchased
      if transaction.type != .autoRenewable || !isPurchaser { missing.remove(.renewalInfo) }
    }
    if renewalInfo != nil { missing.remove(.renewalInfo) }
    return missing
  }

  func event(
    _ kind: FeedEventKind, deadline: Milliseconds? = nil, detail: String? = nil
  ) -> FeedEvent {
    FeedEvent(
      kind: kind, notificationUUID: uuid, originalTransactionID: chain,
      transactionID: transaction?.transactionID, deadline: deadline, detail: detail)
  }

  func refetchDue(_ reason: RefetchReason, detail: String? = nil) -> FeedEvent {
    var event = event(.refetchDue, detail: detail)
    event.refetchReason = reason
    return event
  }
}
