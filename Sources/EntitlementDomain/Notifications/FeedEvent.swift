/// An action that a notification requests, an event that it reports, or one that the server found
/// itself. Events are appended to the change feed and never decide access (R2).
public struct FeedEvent: Hashable, Sendable {
  /// What happened.
  public var kind: FeedEventKind
  /// The notification that reports the event; empty when none does.
  public var notificationUUID: NotificationUUID
  /// The chain concerned; nil when the notification names none.
  public var originalTransactionID: OriginalTransactionID?
  /// The transaction concerned; nil when the notification names none.
  public var transactionID: TransactionID?
  /// The moment until which an action is useful; nil when there is no limit.
  public var deadline: Milliseconds?
  /// Set if and only if ``kind`` is `.refetchDue`.
  public var refetchReason: RefetchReason?
  /// Apple's raw value for the cause, such as `consumptionRequestReason`; or both statuses of a
  /// mismatch; or the names of the missing fields; or what became ambiguous. At most one line.
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

/// Raw values are the numbers on the wire, and are stored.
public enum FeedEventKind: Int, Hashable, Sendable, CaseIterable {
  /// Apple asks for consumption data within 12 hours (CONSUMPTION_REQUEST).
  case consumptionRequested = 1
  /// Apple refunded a purchase (REFUND).
  case refunded = 2
  /// Apple declined a refund (REFUND_DECLINED).
  case refundDeclined = 3
  /// Apple took a refund back (REFUND_REVERSED).
  case refundReversed = 4
  /// Family sharing or an assignment ended (REVOKE).
  case sharingEnded = 5
  /// A price increase needs the customer's consent before the renewal (PRICE_INCREASE / PENDING).
  case priceConsentNeeded = 6
  /// A parent or guardian withdrew consent (RESCIND_CONSENT).
  case consentRescinded = 7
  /// The facts are incomplete or contradict Apple's view. The App Store Server API should be
  /// queried.
  case refetchDue = 8
  /// An `appAccountToken`, the event's detail, was presented for two accounts. It links nothing
  /// until it is bound (R71).
  case tokenAmbiguous = 9
  /// An `appTransactionId`, the event's detail, was presented for two accounts. It links nothing
  /// until its account is decided by name (R71).
  case appTransactionAmbiguous = 10
  /// Chains were not linked to the account, as it has as many as it may have (R68). The detail is
  /// their number.
  case accountFull = 12
  /// What a refetch or a reconciliation should have fetched from the App Store could not be had (R80).
  /// The detail is the last failure.
  case jobGivenUp = 13
  /// The App Store was told about the consumption of a purchase (R86). The detail is what it was told.
  case consumptionSent = 14
  /// The App Store was not told about the consumption of a purchase, though it asked (R86). The detail
  /// begins with the name of one `ConsumptionCause`.
  case consumptionNotSent = 15
  /// Claims have moved a chain, or the app transaction in the detail, as often as they may (R93).
  case purchaseDisputed = 16
}

/// The reason of a refetch. Raw values are the numbers on the wire, and are stored.
public enum RefetchReason: Int, Hashable, Sendable, CaseIterable {
  /// A period was upgraded, and its successor is not known (R17).
  case successorMissing = 1
  /// Apple's `data.status` differs from the evaluated status (R47).
  case statusMismatch = 2
  /// A notification about a purchase lacks a signed payload that it should contain.
  case payloadMissing = 3
  /// A renewal is overdue without an explanation (R24).
  case renewalOverdue = 4
  /// A renewal is known, and not the period before it (R60).
  case predecessorMissing = 5
}
