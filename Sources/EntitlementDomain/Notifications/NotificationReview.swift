/// Derives the events of a notification (rules.md §8, R47). Events are for feeds and counters and
/// never decide access (R2).
package enum NotificationReview {
  /// The time limit for answering a CONSUMPTION_REQUEST, in milliseconds (rules.md §8).
  package static let consumptionDeadline = 12 * Milliseconds.hourLength

  /// Reviews a new notification after its facts were merged. The function is pure: the
  /// notification's `signedDate` serves as the current time.
  ///
  /// - Parameters:
  ///   - notification: the verified notification.
  ///   - inner: the facts of the signed payloads inside it, whether they stand or not.
  ///   - facts: the standing facts, after the merge, of the chains and app transactions of `inner`,
  ///     in any order. Facts of other chains are ignored.
  /// - Returns: the event of the type first, then the refetch events, each reason at most once.
  ///   Empty for a notification that names no app.
  package static func events(
    of notification: SignedNotification, bringing inner: [Fact], facts: [Fact], catalog: Catalog
  ) -> [FeedEvent] {
    guard let scope = notification.record.scope else { return [] }
    let content = ReviewedContent(notification.record, bringing: inner)
    var events = [event(of: notification, content)].compactMap(\.self)
    if !content.missing.isEmpty {
      events.append(
        content.refetchDue(.payloadMissing, detail: content.missing.fieldNames))
    }
    guard let chain = ReviewedChain(content, in: scope, facts: facts, catalog: catalog) else {
      return events
    }
    if chain.isSuccessorMissing {
      events.append(content.refetchDue(.successorMissing))
    }
    if chain.isPredecessorMissing {
      events.append(content.refetchDue(.predecessorMissing))
    }
    if let mismatch = chain.statusMismatch {
      events.append(content.refetchDue(.statusMismatch, detail: mismatch))
    } else if chain.isRenewalUnexplained {
      events.append(content.refetchDue(.renewalOverdue))
    }
    return events
  }

  /// The event of the notification's type; nil when it has none.
  private static func event(
    of notification: SignedNotification, _ content: ReviewedContent
  ) -> FeedEvent? {
    switch content.type {
    case .consumptionRequest:
      return content.event(
        .consumptionRequested,
        deadline: content.signedDate?.advanced(by: consumptionDeadline),
        detail: notification.consumptionRequestReason?
          .bounded(toBytes: UnknownValue.maximumLength))
    case .refund: return content.event(.refunded)
    case .refundDeclined: return content.event(.refundDeclined)
    case .refundReversed: return content.event(.refundReversed)
    case .revoke: return content.event(.sharingEnded)
    case .priceIncrease where content.subtype == .pending:
      // Without consent, the subscription ends at the renewal date.
      return content.event(.priceConsentNeeded, deadline: content.renewalInfo?.renewalDate)
    case .rescindConsent: return content.event(.consentRescinded)
    default: return nil
    }
  }
}

/// The content of a notification that a review needs.
struct ReviewedContent {
  let uuid: NotificationUUID
  let type: NotificationType
  let subtype: NotificationSubtype?
  let status: Int64?
  let signedDate: Milliseconds?
  let transaction: TransactionFact?
  /// The renewal info of the notification's chain.
  let renewalInfo: RenewalInfoFact?
  /// The digests of the facts inside the notification.
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
    // A renewal info of another chain is ignored: its dates do not apply.
    let isOfSameChain =
      transaction.map { $0.originalTransactionID == renewalInfo?.originalTransactionID } ?? true
    self.renewalInfo = isOfSameChain ? renewalInfo : nil
    digests = Set(inner.map(\.digest))
  }

  /// The chain of the notification; nil when it names none.
  var chain: OriginalTransactionID? {
    transaction?.originalTransactionID ?? renewalInfo?.originalTransactionID
  }

  /// The expected signed payloads that are missing. Shared and assigned purchases have no renewal
  /// info, because only the purchaser renews.
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

/// Compares the subscription of a notification, evaluated from the facts as of the notification's
/// `signedDate`, with the content of the notification.
struct ReviewedChain {
  private let content: ReviewedContent
  private let standing: Standing
  /// Whether no fact of the chain was signed after the notification.
  private let isLatest: Bool

  /// Nil when the notification names no auto-renewable subscription, or has no signing date.
  init?(_ content: ReviewedContent, in scope: AppScope, facts: [Fact], catalog: Catalog) {
    guard let chain = content.chain, let moment = content.signedDate else { return nil }
    let facts = facts.filter { $0.chain == chain && $0.scope == scope }
    // The operator's leeway (R24) is not part of Apple's view.
    var catalog = catalog
    catalog.renewalLeeway = 0
    let state = Evaluation.state(
      of: CustomerRecord(scope: scope, facts: facts), catalog: catalog, at: moment)
    guard let standing = state.subscriptionStanding else { return nil }
    self.content = content
    self.standing = standing
    // The payloads inside the notification may be signed slightly later than the notification.
    isLatest = facts.allSatisfy {
      $0.precedence.signedDate <= moment || content.digests.contains($0.digest)
    }
  }

  /// Whether the successor of an upgraded period is unknown (R17).
  var isSuccessorMissing: Bool { standing.notices.contains(.successorMissing) }

  /// Whether the period before a renewal is unknown (R60).
  var isPredecessorMissing: Bool { standing.notices.contains(.predecessorMissing) }

  /// A text with both statuses, if Apple's view and the evaluated status differ (R47).
  ///
  /// The views are compared only if no fact was signed later: a later fact may explain the
  /// difference. There is no tolerance at the ends of periods. At the exact end, both views say
  /// that the period is over (R15). If Apple determined the status some seconds before or after
  /// signing, the cost is one refetch; a tolerance would hide real differences.
  var statusMismatch: String? {
    guard isLatest, let appleStatus else { return nil }
    if SubscriptionStatus(standing.status) == appleStatus { return nil }
    return "Apple says \(appleStatus.name), the facts say \(standing.status.name)"
  }

  /// Whether a renewal is overdue (R24), and the notification has no status that explains it.
  var isRenewalUnexplained: Bool {
    guard isLatest, appleStatus == nil else { return false }
    switch content.type {
    case .expired, .didFailToRenew, .gracePeriodExpired: return false
    default: return standing.notices.contains(.renewalOverdue)
    }
  }

  /// The status in Apple's view; nil when it is absent or unknown.
  private var appleStatus: SubscriptionStatus? {
    content.status.flatMap(SubscriptionStatus.init(rawValue:))
  }
}

extension DetailedStatus {
  /// The name in messages, such as `GRACE`.
  fileprivate var name: String {
    if let status = SubscriptionStatus(self) { return status.name }
    switch self {
    case .replaced: return "REPLACED"
    case .upcoming: return "UPCOMING"
    case .consumed: return "CONSUMED"
    default: return "UNDETERMINED"
    }
  }
}
