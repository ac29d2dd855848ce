/// Something that a notification asks somebody to do or to know, appended to the change feed beside
/// the changes of state. It never decides access (R2).
public struct FeedEvent: Hashable, Sendable {
  public var kind: FeedEventKind
  public var notificationUUID: NotificationUUID
  public var originalTransactionID: OriginalTransactionID?
  public var transactionID: TransactionID?
  /// Until when it is of use to act; nil when there is no limit.
  public var deadline: Milliseconds?
  /// Set when and only when ``kind`` is `.refetchDue`.
  public var refetchReason: RefetchReason?
  /// Apple's own word for the cause as it came, such as `consumptionRequestReason`; both sides of a
  /// disagreement; or the names of the fields that are missing. Never longer than a line.
  public var detail: String?

  public init(
    kind: FeedEventKind, notificationUUID: NotificationUUID,
    originalTransactionID: OriginalTransactionID? = nil, transactionID: TransactionID? = nil,
    deadline: Milliseconds? = nil, refetchReason: RefetchReason? = nil, detail: String? = nil
  ) {
    self.kind = kind
    self.notificationUUID = notificationUUID
    self.originalTransactionID = originalTransactionID
    self.transactionID = transactionID
    self.deadline = deadline
    self.refetchReason = refetchReason
    self.detail = detail
  }
}

/// Raw values are those of the wire, and stored.
public enum FeedEventKind: Int, Hashable, Sendable, CaseIterable {
  /// Apple asks for consumption data within 12 hours (CONSUMPTION_REQUEST).
  case consumptionRequested = 1
  case refunded = 2
  case refundDeclined = 3
  case refundReversed = 4
  /// Family sharing, or an assigned seat, ended (REVOKE).
  case sharingEnded = 5
  /// A price increase waits for the customer's consent until the renewal (PRICE_INCREASE /
  /// PENDING).
  case priceConsentNeeded = 6
  /// A parent or guardian withdrew consent (RESCIND_CONSENT).
  case consentRescinded = 7
  /// What is known is incomplete or contradicts Apple's view: ask the App Store Server API.
  case refetchDue = 8
}

/// Why the App Store should be asked again. Raw values are those of the wire, and stored.
public enum RefetchReason: Int, Hashable, Sendable, CaseIterable {
  /// A period was upgraded, and its successor has not been seen (R17).
  case successorMissing = 1
  /// Apple's `data.status` is not ours (R47).
  case statusMismatch = 2
  /// A notification about a purchase came without the signed payload that it should carry.
  case payloadMissing = 3
  /// A renewal is overdue, and nothing says why (R24).
  case renewalOverdue = 4
}
