package import EntitlementDomain

/// One product of the simulated app, as App Store Connect and the catalog would know it.
package struct SimulatedProduct: Hashable, Sendable {
  package let id: ProductID
  package let type: ProductType
  /// What it confers while it is in force, in the order of the ids.
  package let entitlements: [EntitlementID]
  /// In thousandths of the currency's unit.
  package let price: Int64

  init(_ id: ProductID, _ type: ProductType, entitlements: [EntitlementID], price: Int64) {
    self.id = id
    self.type = type
    self.entitlements = entitlements
    self.price = price
  }

  /// The app has one subscription group.
  package var group: SubscriptionGroupID? {
    type == .autoRenewable ? SimulatedApp.subscriptionGroup : nil
  }
}
