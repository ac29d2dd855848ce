import EntitlementDomain

/// A report in JSON: a contract. Issues are `entitle.v1.CatalogIssue`. The counts are left out when the
/// file is not valid.
struct CatalogReportDocument: Encodable {
  let file: String
  let valid: Bool
  let apps: Int?
  let products: Int?
  let entitlements: Int?
  let grandfatheringRules: Int?
  let issues: [JSONValue]

  init(_ report: CatalogReport) throws {
    file = report.file
    valid = report.catalog != nil
    apps = report.catalog?.apps.count
    products = report.catalog?.products.count
    entitlements = report.catalog?.entitlements.count
    grandfatheringRules = report.catalog?.ruleCount
    issues = try report.issues.map { try JSONValue($0) }
  }
}
