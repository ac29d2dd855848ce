package import EntitlementDomain

/// What the App Store signs as a JWS.
package enum SignedKind: String, Hashable, Sendable, CaseIterable {
  case transaction
  case renewalInfo
  case appTransaction
  case notification

  /// The kind of a payload by the fields that only this kind has; nil for none of them.
  package init?(detecting fields: PayloadFields) {
    if fields.contains("notificationType") {
      self = .notification
    } else if fields.contains("transactionId") {
      self = .transaction
    } else if fields.contains("receiptType") || fields.contains("receiptCreationDate") {
      self = .appTransaction
    } else if fields.contains("autoRenewStatus") || fields.contains("autoRenewProductId") {
      self = .renewalInfo
    } else {
      return nil
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
