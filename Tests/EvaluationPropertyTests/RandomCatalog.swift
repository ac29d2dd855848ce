import EntitlementDomain
import TestSupport

/// Catalogs with some of the products of random histories, and with every option that a
/// catalog has.
enum RandomCatalog {
  static let bundleID: BundleID = "com.example.scribe"
  static let entitlements: [EntitlementID] = ["basic", "pro", "season", "ad_free"]
  static let subscriptions: [ProductID] = ["sub.a", "sub.b", "sub.c", "sub.d"]
  static let oneTimeProducts: [ProductID] = ["item.a", "item.b", "item.c"]
  static let groups: [SubscriptionGroupID] = ["g1", "g2"]

  static func make(with random: inout SeededRandom) -> Catalog {
    var products: [CatalogProduct] = []
    for id in subscriptions where !random.chance(6) {
      products.append(
        CatalogProduct(
          id: id, kind: .autoRenewable, group: random.pick(groups), level: random.number(1...3),
          entitlements: random.some(of: entitlements)))
    }
    for id in oneTimeProducts where !random.chance(6) {
      products.append(oneTimeProduct(id, with: &random))
    }
    let rules = random.chance(2) ? [] : (0...random.number(0...1)).map { rule($0, with: &random) }
    return Catalog(
      apps: [CatalogApp(bundleID: bundleID, appAppleID: 1)],
      entitlements: entitlements.map { CatalogEntitlement(id: $0) }, products: products,
      grandfathering: rules,
      renewalLeeway: random.chance(2)
        ? 0 : Int64(random.number(0...72)) * Milliseconds.hourLength)
  }

  private static func oneTimeProduct(
    _ id: ProductID, with random: inout SeededRandom
  ) -> CatalogProduct {
    let kind = random.pick([CatalogProduct.Kind.nonRenewing, .nonConsumable, .consumable])
    var product = CatalogProduct(
      id: id, kind: kind, entitlements: random.some(of: entitlements))
    guard kind != .nonConsumable, !random.chance(5) else { return product }
    product.duration = random.pick([
      CalendarDuration(months: 1), CalendarDuration(days: 10), CalendarDuration(months: 12),
      CalendarDuration(months: 1, days: 3, milliseconds: 1),
    ])
    product.stacking = random.chance(2)
    return product
  }

  private static func rule(_ index: Int, with random: inout SeededRandom) -> GrandfatheringRule {
    let thresholds = random.some(of: [AppPlatform.iOS, .macOS]).map { platform in
      (platform, AppVersion(random.pick(["9", "10", "10.2"])))
    }
    var rule = GrandfatheringRule(
      id: GrandfatheringRuleID("rule.\(index)"), bundleID: bundleID,
      entitlements: random.some(of: entitlements))
    for (platform, version) in thresholds { rule.thresholds[platform] = version }
    rule.comparesLeadingComponentOnly = random.chance(3)
    rule.cutoff = random.chance(3) ? nil : RandomDates.day(random.number(0...60))
    rule.conflictPolicy = random.pick(GrandfatheringRule.ConflictPolicy.allCases)
    if random.chance(2) {
      rule.simulated = GrandfatheringRule.Simulated(
        originalVersion: AppVersion("9.1"),
        originalPurchaseDate: RandomDates.day(random.number(0...60)))
    }
    return rule
  }
}
