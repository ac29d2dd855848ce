package import EntitlementDomain

/// What the service must say of a customer, as its life cycle states it by hand (domain rules R15 to
/// R29). It holds for the one group or product that the life cycle is about, under
/// ``SimulatedApp/catalogYAML`` and when every fact signed up to the moment is known.
package struct ExpectedState: Hashable, Sendable {
  package var coreState: CoreState
  /// The product that decides; nil while the customer is new.
  package var product: SimulatedProduct?
  /// Of the group for an auto-renewable product, else of the product; nil while the customer is new.
  package var status: DetailedStatus?
  /// Set when and only when ``status`` is expired.
  package var expirationReason: ExpirationReason?
  package var callToAction: CallToAction
  /// What may be used, in the order of the ids.
  package var entitlements: [EntitlementID]
  /// Nil where no renewal info has been signed.
  package var willRenew: Bool?
  /// The product after the next renewal, where it differs (R23).
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

  /// Bought and used up: history only (R11).
  static func consumed(_ product: SimulatedProduct) -> ExpectedState {
    ExpectedState(
      coreState: .inactive, product: product, status: .consumed, callToAction: .none,
      entitlements: [])
  }

  static func revoked(_ product: SimulatedProduct, willRenew: Bool? = nil) -> ExpectedState {
    ExpectedState(
      coreState: .inactive, product: product, status: .revoked, callToAction: .winBack,
      entitlements: [], willRenew: willRenew)
  }
}

/// A span of time in which one state is expected: from its start to the start of the next, which is
/// not part of it.
package struct ExpectedStretch: Hashable, Sendable {
  package let from: Milliseconds
  package let state: ExpectedState
}
