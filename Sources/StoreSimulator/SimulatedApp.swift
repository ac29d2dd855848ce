package import EntitlementDomain

/// The app whose purchases are simulated.
package enum SimulatedApp {
  package static let bundleID: BundleID = "com.example.scribe"
  package static let appAppleID: Int64 = 1_234_567_890
  package static let subscriptionGroup: SubscriptionGroupID = "21000001"

  package static let basicMonthly = SimulatedProduct(
    "com.example.scribe.basic.monthly", .autoRenewable, entitlements: ["basic"], price: 4_990,
    months: 1, level: 2)
  package static let proMonthly = SimulatedProduct(
    "com.example.scribe.pro.monthly", .autoRenewable, entitlements: ["basic", "pro"], price: 9_990,
    months: 1, level: 1)
  package static let proYearly = SimulatedProduct(
    "com.example.scribe.pro.yearly", .autoRenewable, entitlements: ["basic", "pro"],
    price: 99_990, months: 12, level: 1)
  package static let season = SimulatedProduct(
    "com.example.scribe.season", .nonRenewing, entitlements: ["season"], price: 14_990, months: 3)
  package static let adFree = SimulatedProduct(
    "com.example.scribe.adfree", .nonConsumable, entitlements: ["ad_free"], price: 19_990)
  package static let tokens = SimulatedProduct(
    "com.example.scribe.tokens", .consumable, entitlements: [], price: 1_990)

  package static let products = [basicMonthly, proMonthly, proYearly, season, adFree, tokens]

  /// The product with an id; nil when the app does not sell it.
  package static func product(_ id: ProductID) -> SimulatedProduct? {
    products.first { $0.id == id }
  }

  /// The catalog for which the expected states of the life cycles hold.
  package static let catalogYAML = """
    version: 1
    apps:
      - bundle_id: com.example.scribe
        app_apple_id: 1234567890
        environments: [Production, Sandbox]
    entitlements:
      - id: basic
        description: Write and keep documents
      - id: pro
        description: Everything in Scribe Pro
      - id: season
        description: The season's templates
      - id: ad_free
        description: No advertisements
    products:
      - id: com.example.scribe.basic.monthly
        type: auto_renewable
        group: "21000001"
        level: 2
        entitlements: [basic]
      - id: com.example.scribe.pro.monthly
        type: auto_renewable
        group: "21000001"
        level: 1
        entitlements: [pro, basic]
      - id: com.example.scribe.pro.yearly
        type: auto_renewable
        group: "21000001"
        level: 1
        entitlements: [pro, basic]
      - id: com.example.scribe.season
        type: non_renewing
        duration: P3M
        entitlements: [season]
      - id: com.example.scribe.adfree
        type: non_consumable
        entitlements: [ad_free]
      - id: com.example.scribe.tokens
        type: consumable

    """
}

/// A product of the simulated app.
package struct SimulatedProduct: Hashable, Sendable {
  package let id: ProductID
  package let type: ProductType
  /// The entitlements that it confers while it is in force, sorted by id.
  package let entitlements: [EntitlementID]
  /// In thousandths of the currency's unit.
  package let price: Int64
  /// How long a period lasts, or a non-renewing subscription; nil for other types.
  package let months: Int?
  /// The level of service in the subscription group: 1 is the highest. Nil outside groups.
  package let level: Int?

  init(
    _ id: ProductID, _ type: ProductType, entitlements: [EntitlementID], price: Int64,
    months: Int? = nil, level: Int? = nil
  ) {
    self.id = id
    self.type = type
    self.entitlements = entitlements
    self.price = price
    self.months = months
    self.level = level
  }

  /// The app has one subscription group.
  package var group: SubscriptionGroupID? {
    type == .autoRenewable ? SimulatedApp.subscriptionGroup : nil
  }
}
