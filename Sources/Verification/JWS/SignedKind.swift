package import AppStorePayloads
import EntitlementDomain

/// The kinds of payload that the App Store signs as a JWS.
package enum SignedKind: String, Hashable, Sendable, CaseIterable {
  case transaction
  case renewalInfo
  case appTransaction
  case notification

  /// Optional fields that only a renewal info has.
  private static let renewalInfoFields: [StaticString] = [
    "expirationIntent", "gracePeriodExpiresDate", "isInBillingRetryPeriod", "priceIncreaseStatus",
    "renewalDate", "renewalPrice", "renewalBillingPlanType", "recentSubscriptionStartDate",
    "eligibleWinBackOfferIds",
  ]

  /// Detects the kind by fields that only one kind has; nil if there are none.
  ///
  /// - Parameter expected: the expected kind. It decides for a payload of a chain without such
  ///   fields: only a renewal info may lack all of them.
  package init?(detecting fields: PayloadFields, expecting expected: SignedKind? = nil) {
    if fields.contains("notificationType") {
      self = .notification
    } else if fields.contains("transactionId") {
      self = .transaction
    } else if fields.contains("receiptType") || fields.contains("receiptCreationDate") {
      self = .appTransaction
    } else if fields.contains("autoRenewStatus") || fields.contains("autoRenewProductId") {
      self = .renewalInfo
    } else if Self.isOfChain(fields),
      expected == .renewalInfo || Self.renewalInfoFields.contains(where: { fields.contains($0) })
    {
      self = .renewalInfo
    } else {
      return nil
    }
  }

  private static func isOfChain(_ fields: PayloadFields) -> Bool {
    fields.contains("originalTransactionId") || fields.contains("productId")
  }

  /// The field of a notification that carries this kind; nil if there is none.
  var notificationField: String? {
    switch self {
    case .transaction: "signedTransactionInfo"
    case .renewalInfo: "signedRenewalInfo"
    case .appTransaction: "signedAppTransactionInfo"
    case .notification: nil
    }
  }

  /// The name for messages, such as "renewal info".
  package var label: String {
    switch self {
    case .transaction: "transaction"
    case .renewalInfo: "renewal info"
    case .appTransaction: "app transaction"
    case .notification: "notification"
    }
  }
}
