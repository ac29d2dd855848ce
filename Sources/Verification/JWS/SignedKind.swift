package import EntitlementDomain

/// What the App Store signs as a JWS.
package enum SignedKind: String, Hashable, Sendable, CaseIterable {
  case transaction
  case renewalInfo
  case appTransaction
  case notification

  /// Fields that only a renewal info has, each of which may be absent.
  private static let renewalInfoFields: [StaticString] = [
    "expirationIntent", "gracePeriodExpiresDate", "isInBillingRetryPeriod", "priceIncreaseStatus",
    "renewalDate", "renewalPrice", "renewalBillingPlanType", "recentSubscriptionStartDate",
    "eligibleWinBackOfferIds",
  ]

  /// The kind of a payload by the fields that only this kind has; nil for none of them.
  ///
  /// - Parameter expected: what it should be. It decides where a payload of a chain has no such
  ///   field, since only a renewal info may lack them all.
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

  /// Where a notification carries a payload of this kind; nil for one that it cannot carry.
  var notificationField: String? {
    switch self {
    case .transaction: "signedTransactionInfo"
    case .renewalInfo: "signedRenewalInfo"
    case .appTransaction: "signedAppTransactionInfo"
    case .notification: nil
    }
  }

  /// For people: "renewal info".
  package var label: String {
    switch self {
    case .transaction: "transaction"
    case .renewalInfo: "renewal info"
    case .appTransaction: "app transaction"
    case .notification: "notification"
    }
  }
}
