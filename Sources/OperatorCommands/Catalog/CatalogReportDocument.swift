import EntitlementDomain
import JSONDocuments

/// A report in JSON: a contract. The counts are left out when the file is not valid.
struct CatalogReportDocument: Encodable {
  let file: String
  let valid: Bool
  let apps: Int?
  let products: Int?
  let entitlements: Int?
  let grandfatheringRules: Int?
  let issues: [CatalogIssueDocument]

  init(_ report: CatalogReport) {
    file = report.file
    valid = report.catalog != nil
    apps = report.catalog?.apps.count
    products = report.catalog?.products.count
    entitlements = report.catalog?.entitlements.count
    grandfatheringRules = report.catalog?.ruleCount
    issues = report.issues.map { CatalogIssueDocument($0) }
  }
}
