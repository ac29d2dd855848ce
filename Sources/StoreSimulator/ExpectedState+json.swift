import EntitlementDomain

extension ExpectedState {
  /// For files and other programs. What is nil or empty is left out; names are those of the wire.
  package var json: JSONObjectWriter {
    var writer = JSONObjectWriter()
    writer.set("coreState", coreState.name)
    writer.set("groupId", group?.rawValue)
    writer.set("productId", productID?.rawValue)
    writer.set("status", status?.name)
    writer.set("expirationReason", expirationReason?.name)
    writer.set("callToAction", callToAction.name)
    writer.set("entitlements", entitlements.map(\.rawValue))
    writer.set("willRenew", willRenew)
    writer.set("pendingProductId", pendingProductID?.rawValue)
    return writer
  }
}

extension CoreState {
  fileprivate var name: String {
    switch self {
    case .new: "NEW"
    case .active: "ACTIVE"
    case .inactive: "INACTIVE"
    }
  }
}

extension DetailedStatus {
  fileprivate var name: String {
    switch self {
    case .active: "ACTIVE"
    case .grace: "GRACE"
    case .billingRetry: "BILLING_RETRY"
    case .expired: "EXPIRED"
    case .revoked: "REVOKED"
    case .replaced: "REPLACED"
    case .upcoming: "UPCOMING"
    case .consumed: "CONSUMED"
    case .undetermined: "UNDETERMINED"
    }
  }
}

extension ExpirationReason {
  fileprivate var name: String {
    switch self {
    case .unknown: "UNKNOWN"
    case .customerCancelled: "CUSTOMER_CANCELLED"
    case .billingError: "BILLING_ERROR"
    case .priceIncreaseDeclined: "PRICE_INCREASE_DECLINED"
    case .productUnavailable: "PRODUCT_UNAVAILABLE"
    case .other: "OTHER"
    case .ended: "ENDED"
    }
  }
}

extension CallToAction {
  fileprivate var name: String {
    switch self {
    case .none: "NONE"
    case .merchandise: "MERCHANDISE"
    case .fixBilling: "FIX_BILLING"
    case .winBack: "WIN_BACK"
    case .consentToPrice: "CONSENT_TO_PRICE"
    case .keepSubscription: "KEEP_SUBSCRIPTION"
    }
  }
}
