import EntitlementDomain

/// A catalog with the product of ``TransactionSample``, whose period ends after thirty days. It
/// also confers an entitlement on every customer with the app from before ``PolicySample/cutoff``.
enum PolicySample {
  static let cutoff: Milliseconds = 4_000
  /// Within the period of every sample.
  static let early: Milliseconds = 5_000
  /// After the period of every sample.
  static let late: Milliseconds = 3_000_000_000

  static func catalog(_ policy: LinkPolicy?) -> Catalog {
    let policies = policy.map { [StoreEnvironment.production: $0] } ?? [:]
    return Catalog(
      apps: [
        CatalogApp(
          bundleID: readerScope.bundleID, appAppleID: 1, linkPolicies: policies,
          claimsPerPurchase: .max)
      ],
      entitlements: [CatalogEntitlement(id: "pro"), CatalogEntitlement(id: "founder")],
      products: [
        CatalogProduct(
          id: "com.example.reader.monthly", kind: .autoRenewable, group: "20000001",
          entitlements: ["pro"])
      ],
      grandfathering: [
        GrandfatheringRule(
          id: "founders", bundleID: readerScope.bundleID, entitlements: ["founder"],
          cutoff: cutoff)
      ])
  }
}
