import EntitlementDomain

/// Facts, catalog and moments for tests, on a clock that counts days from a start.
enum Given {
  static let scope = AppScope(bundleID: "com.example.scribe", environment: .production)

  /// A number of days after 2026-01-01T00:00:00Z.
  static func day(_ count: Double) -> Milliseconds {
    Milliseconds(1_767_225_600_000 + Int64(count * 86_400_000))
  }

  static let catalog = Catalog(
    apps: [CatalogApp(bundleID: "com.example.scribe", appAppleID: 1)],
    entitlements: [
      CatalogEntitlement(id: "basic"), CatalogEntitlement(id: "pro"),
      CatalogEntitlement(id: "season"), CatalogEntitlement(id: "ad_free"),
    ],
    products: [
      CatalogProduct(
        id: "basic.monthly", kind: .autoRenewable, group: "g1", level: 2, entitlements: ["basic"]),
      CatalogProduct(
        id: "pro.monthly", kind: .autoRenewable, group: "g1", level: 1,
        entitlements: ["basic", "pro"]),
      CatalogProduct(
        id: "news.monthly", kind: .autoRenewable, group: "g2", level: 1, entitlements: ["season"]),
      CatalogProduct(
        id: "season", kind: .nonRenewing, duration: CalendarDuration(months: 1),
        entitlements: ["season"]),
      CatalogProduct(
        id: "pass", kind: .nonRenewing, duration: CalendarDuration(days: 30), stacking: true,
        entitlements: ["season"]),
      CatalogProduct(id: "forever", kind: .nonRenewing, entitlements: ["season"]),
      CatalogProduct(id: "adfree", kind: .nonConsumable, entitlements: ["ad_free"]),
      CatalogProduct(id: "coins", kind: .consumable),
    ])

  static func digest(_ seed: UInt64) -> PayloadDigest {
    var state = seed &+ 1
    return PayloadDigest(
      (0..<PayloadDigest.length).map { _ in
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return UInt8(truncatingIfNeeded: state >> 33)
      })
  }

  /// By default a period of 30 days that is signed at its purchase.
  static func period(
    _ id: Int, of chain: OriginalTransactionID = "c1", product: ProductID = "pro.monthly",
    group: SubscriptionGroupID = "g1", from start: Double, to end: Double? = nil,
    change: (inout TransactionFact) -> Void = { _ in }
  ) -> TransactionFact {
    var fact = TransactionFact(
      bundleID: scope.bundleID, environment: scope.environment, originalTransactionID: chain,
      transactionID: TransactionID("t\(id)"), productID: product, type: .autoRenewable,
      purchaseDate: day(start), signedDate: day(start), digest: digest(UInt64(id)))
    fact.expiresDate = day(end ?? start + 30)
    fact.subscriptionGroupID = group
    fact.ownership = .purchased
    fact.webOrderLineItemID = WebOrderLineItemID("w\(id)")
    change(&fact)
    return fact
  }

  static func purchase(
    _ id: Int, product: ProductID, type: ProductType, at start: Double,
    change: (inout TransactionFact) -> Void = { _ in }
  ) -> TransactionFact {
    var fact = TransactionFact(
      bundleID: scope.bundleID, environment: scope.environment,
      originalTransactionID: OriginalTransactionID("t\(id)"),
      transactionID: TransactionID("t\(id)"), productID: product, type: type,
      purchaseDate: day(start), signedDate: day(start), digest: digest(UInt64(id)))
    fact.ownership = .purchased
    change(&fact)
    return fact
  }

  static func renewal(
    of chain: OriginalTransactionID = "c1", signed: Double, autoRenews: Bool? = true,
    product: ProductID? = "pro.monthly", change: (inout RenewalInfoFact) -> Void = { _ in }
  ) -> RenewalInfoFact {
    var fact = RenewalInfoFact(
      bundleID: scope.bundleID, environment: scope.environment, originalTransactionID: chain,
      signedDate: day(signed), digest: digest(UInt64(signed * 1_000) + 7))
    fact.productID = product
    fact.autoRenewProductID = product
    fact.autoRenews = autoRenews
    change(&fact)
    return fact
  }

  static func state(
    _ transactions: [TransactionFact], _ renewals: [RenewalInfoFact] = [], at moment: Double,
    catalog: Catalog = catalog
  ) -> CustomerState {
    Evaluation.state(
      of: record(transactions, renewals), catalog: catalog, at: day(moment))
  }

  static func record(_ transactions: [TransactionFact], _ renewals: [RenewalInfoFact] = [])
    -> CustomerRecord
  {
    CustomerRecord(
      scope: scope, accountID: "customer", revision: 1,
      facts: transactions.map { .transaction($0) } + renewals.map { .renewalInfo($0) })
  }
}

extension CustomerState {
  var entitlementIDs: [EntitlementID] { entitlements.map(\.entitlementID) }

  func sources(of id: EntitlementID) -> [EntitlementSource] {
    entitlements.first { $0.entitlementID == id }?.sources ?? []
  }

  /// The end of each source of an entitlement.
  func ends(of id: EntitlementID) -> [Milliseconds?] {
    sources(of: id).map(\.until)
  }

  func group(_ id: SubscriptionGroupID) -> Standing? {
    groups.first { $0.groupID == id }?.standing
  }

  func product(_ id: ProductID) -> Standing? {
    products.first { $0.productID == id }?.standing
  }
}

extension EntitlementSource {
  /// Nil for sources that are not purchases.
  var transactionID: TransactionID? {
    guard case .purchase(let id, _, _) = origin else { return nil }
    return id
  }
}
