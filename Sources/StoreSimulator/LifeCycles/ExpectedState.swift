package import EntitlementDomain

/// The expected state of a customer, written by hand in each life cycle (rules R15 to R29). It is
/// about the only group or product of the life cycle. It holds under ``SimulatedApp/catalogYAML``
/// when the service knows all facts that are signed so far.
package struct ExpectedState: Hashable, Sendable {
  package var coreState: CoreState
  /// The deciding product; nil while the customer is new.
  package var product: SimulatedProduct?
  /// The status of the group for an auto-renewable product, else of the product; nil while the
  /// customer is new.
  package var status: DetailedStatus?
  /// Set when and only when ``status`` is expired.
  package var expirationReason: ExpirationReason?
  package var callToAction: CallToAction
  /// The conferred entitlements, sorted by id.
  package var entitlements: [EntitlementID]
  /// Nil when no renewal info has been signed.
  package var willRenew: Bool?
  /// The product after the next renewal, if it differs (R23).
  package var pendingProductID: ProductID?

  package init(
    coreState: CoreState, product: SimulatedProduct? = nil, status: DetailedStatus? = nil,
    expirationReason: ExpirationReason? = nil, callToAction: CallToAction,
    entitlements: [EntitlementID], willRenew: Bool? = nil, pendingProductID: ProductID? = nil
  ) {
    self.coreState = coreState
    self.product = product
    self.status = status
    self.expirationReason = expirationReason
    self.callToAction = callToAction
    self.entitlements = entitlements
    self.willRenew = willRenew
    self.pendingProductID = pendingProductID
  }

  package var productID: ProductID? { product?.id }
  package var group: SubscriptionGroupID? { product?.group }

  static let new = ExpectedState(
    coreState: .new, callToAction: .merchandise, entitlements: [])

  static func active(
    _ product: SimulatedProduct, willRenew: Bool? = nil, callToAction: CallToAction = .none,
    pending: SimulatedProduct? = nil
  ) -> ExpectedState {
    ExpectedState(
      coreState: .active, product: product, status: .active, callToAction: callToAction,
      entitlements: product.entitlements, willRenew: willRenew, pendingProductID: pending?.id)
  }

  /// Active although the period has ended (R19).
  static func grace(_ product: SimulatedProduct) -> ExpectedState {
    ExpectedState(
      coreState: .active, product: product, status: .grace, callToAction: .fixBilling,
      entitlements: product.entitlements, willRenew: true)
  }

  /// Inactive while the charge is retried (R20).
  static func billingRetry(_ product: SimulatedProduct) -> ExpectedState {
    ExpectedState(
      coreState: .inactive, product: product, status: .billingRetry, callToAction: .fixBilling,
      entitlements: [], willRenew: true)
  }

  static func expired(
    _ product: SimulatedProduct, _ reason: ExpirationReason, willRenew: Bool? = nil
  ) -> ExpectedState {
    ExpectedState(
      coreState: .inactive, product: product, status: .expired, expirationReason: reason,
      callToAction: .winBack, entitlements: [], willRenew: willRenew)
  }

  /// A consumable: part of the history, without access (R11).
  static func consumed(_ product: SimulatedProduct) -> ExpectedState {
    ExpectedState(
      coreState: .inactive, product: product, status: .consumed, callToAction: .none,
      entitlements: [])
  }

  static func revoked(_ product: SimulatedProduct, willRenew: Bool? = nil) -> ExpectedState {
    // A consumable confers nothing that could be won back (R29).
    ExpectedState(
      coreState: .inactive, product: product, status: .revoked,
      callToAction: product.type == .consumable ? .none : .winBack,
      entitlements: [], willRenew: willRenew)
  }
}

/// An interval in which one state is expected: from `from` to the start of the next interval,
/// exclusive.
package struct ExpectedInterval: Hashable, Sendable {
  package let from: Milliseconds
  package let state: ExpectedState
}

extension ExpectedState {
  /// The JSON form for files and other programs. Nil and empty fields are left out. Names are the
  /// ones in `Protos/`.
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
