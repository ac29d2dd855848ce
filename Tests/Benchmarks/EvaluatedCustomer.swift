import ArgumentParser
import EntitlementDomain

/// Customers of the shapes that the App Store has, with identifiers of Apple's lengths.
enum EvaluatedCustomer: String, CaseIterable, ExpressibleByArgument {
  /// One monthly subscription with many renewals.
  case subscriber
  /// Several chains of two products, with upgrades, refunds and other purchases.
  case mixed
  /// Non-renewing and non-consumable purchases only.
  case purchases
  /// Many subscriptions of one group in force, as of a backend that uses one account for all its
  /// customers.
  case chains
  /// The same, each in a group of its own.
  case groups

  private static let scope = AppScope(bundleID: "com.example.scribe", environment: .production)
  private static let start: Int64 = 1_577_836_800_000

  static let catalog = Catalog(
    apps: [CatalogApp(bundleID: scope.bundleID, appAppleID: 1_234_567_890)],
    entitlements: [
      CatalogEntitlement(id: "basic"), CatalogEntitlement(id: "pro"),
      CatalogEntitlement(id: "season"), CatalogEntitlement(id: "ad_free"),
    ],
    products: [
      CatalogProduct(
        id: "com.example.scribe.basic.monthly", kind: .autoRenewable, group: "21000001", level: 2,
        entitlements: ["basic"]),
      CatalogProduct(
        id: "com.example.scribe.pro.monthly", kind: .autoRenewable, group: "21000001", level: 1,
        entitlements: ["basic", "pro"]),
      CatalogProduct(
        id: "com.example.scribe.season", kind: .nonRenewing,
        duration: CalendarDuration(months: 3), entitlements: ["season"]),
      CatalogProduct(
        id: "com.example.scribe.adfree", kind: .nonConsumable, entitlements: ["ad_free"]),
    ])

  /// A date within the last period.
  func now(transactions: Int) -> Milliseconds {
    if self == .chains || self == .groups {
      return Milliseconds(Self.start + Milliseconds.dayLength)
    }
    let periods = self == .mixed ? (transactions + 3) / 4 : transactions
    return Milliseconds(Self.start + (Int64(periods) * 30 - 15) * Milliseconds.dayLength)
  }

  func record(transactions: Int) -> CustomerRecord {
    var facts: [Fact] = []
    for index in 0..<transactions { facts.append(.transaction(transaction(index))) }
    if self == .subscriber || self == .mixed {
      let chains = Set(facts.compactMap(\.chain))
      for chain in chains.sorted() { facts.append(.renewalInfo(renewalInfo(of: chain, facts))) }
    }
    return CustomerRecord(scope: Self.scope, accountID: "customer-001", revision: 7, facts: facts)
  }

  private func transaction(_ index: Int) -> TransactionFact {
    switch self {
    case .subscriber:
      return period(index, chain: 0, number: index, product: "com.example.scribe.pro.monthly")
    case .mixed:
      if index % 4 == 3 { return purchase(index, "com.example.scribe.adfree", .nonConsumable) }
      let product: ProductID =
        index % 8 < 4 ? "com.example.scribe.pro.monthly" : "com.example.scribe.basic.monthly"
      var fact = period(index, chain: index % 4, number: index / 4, product: product)
      if index % 7 == 6 { fact.revocationDate = fact.purchaseDate.advanced(by: 1_000_000) }
      if index % 11 == 10 { fact.isUpgraded = true }
      return fact
    case .purchases:
      return index.isMultiple(of: 2)
        ? purchase(index, "com.example.scribe.season", .nonRenewing)
        : purchase(index, "com.example.scribe.adfree", .nonConsumable)
    case .chains:
      return running(index, product: "com.example.scribe.pro.monthly", group: "21000001")
    case .groups:
      return running(
        index, product: ProductID("com.example.scribe.magazine.\(index)"),
        group: SubscriptionGroupID("\(22_000_000 + index)"))
    }
  }

  /// The first period of a chain. Each ends a minute after the one before it.
  private func running(_ index: Int, product: ProductID, group: SubscriptionGroupID)
    -> TransactionFact
  {
    var fact = period(index, chain: index, number: 0, product: product)
    fact.expiresDate = fact.expiresDate?.advanced(by: Int64(index) * 60_000)
    fact.subscriptionGroupID = decoded(group)
    return fact
  }

  /// A separate string for each fact, as after decoding: literals are shared and not
  /// reference-counted.
  private static func copy(_ text: String) -> String {
    String(decoding: Array(text.utf8), as: UTF8.self)
  }

  private func decoded<Kind>(_ identifier: Identifier<Kind>) -> Identifier<Kind> {
    Identifier(Self.copy(identifier.rawValue))
  }

  private func period(_ index: Int, chain: Int, number: Int, product: ProductID)
    -> TransactionFact
  {
    var fact = purchase(index, product, .autoRenewable)
    let start = Milliseconds(Self.start + Int64(number) * 30 * Milliseconds.dayLength)
    fact.purchaseDate = start
    fact.signedDate = start
    fact.expiresDate = start.advanced(by: 30 * Milliseconds.dayLength)
    fact.originalTransactionID = OriginalTransactionID("\(2_000_000_900_000_000 + chain)")
    fact.subscriptionGroupID = "21000001"
    fact.webOrderLineItemID = WebOrderLineItemID("\(2_000_000_300_000_000 + index)")
    fact.transactionReason = number == 0 ? "PURCHASE" : "RENEWAL"
    return fact
  }

  private func purchase(_ index: Int, _ product: ProductID, _ type: ProductType)
    -> TransactionFact
  {
    let id = "\(2_000_000_100_000_000 + index)"
    let at = Milliseconds(Self.start + Int64(index) * 30 * Milliseconds.dayLength)
    var fact = TransactionFact(
      bundleID: decoded(Self.scope.bundleID), environment: .production,
      originalTransactionID: OriginalTransactionID(id), transactionID: TransactionID(id),
      productID: decoded(product), type: ProductType(rawValue: Self.copy(type.rawValue)),
      purchaseDate: at, signedDate: at, digest: PayloadDigest(words: (UInt64(index), 2)))
    fact.originalPurchaseDate = at
    fact.quantity = 1
    fact.appAccountToken = decoded("6f1c2c2e-9f6b-4b8e-8a44-2f6f9d1d7c11")
    fact.appTransactionID = decoded("704346128300986174")
    fact.ownership = .purchased
    fact.storefront = "USA"
    return fact
  }

  private func renewalInfo(of chain: OriginalTransactionID, _ facts: [Fact]) -> RenewalInfoFact {
    let periods = facts.compactMap { fact -> TransactionFact? in
      guard case .transaction(let transaction) = fact else { return nil }
      return transaction.originalTransactionID == chain ? transaction : nil
    }
    let last = periods.max { $0.purchaseDate < $1.purchaseDate }
    var info = RenewalInfoFact(
      bundleID: decoded(Self.scope.bundleID), environment: .production,
      originalTransactionID: chain,
      signedDate: last?.signedDate ?? 0, digest: PayloadDigest(words: (9, 9)))
    info.productID = last?.productID
    info.autoRenewProductID = last?.productID
    info.autoRenews = true
    info.renewalDate = last?.expiresDate
    return info
  }
}
