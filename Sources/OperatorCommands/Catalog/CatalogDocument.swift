import EntitlementDomain
import JSONDocuments
import Wire

/// The catalog of a server in JSON, with the fields of `entitle.v1.CatalogResponse`: a contract.
struct CatalogDocument: Encodable {
  let digest: String
  let inForceSinceMs: Int64
  let apps: Int
  let products: Int
  let entitlements: Int
  let grandfatheringRules: Int
  let warnings: [CatalogIssueDocument]
  let lastAttempt: Attempt?

  struct Attempt: Encodable {
    let atMs: Int64
    let valid: Bool
    let digest: String?
    let issues: [CatalogIssueDocument]
    let failure: String?
  }

  init(_ response: CatalogResponse) {
    digest = response.digest
    inForceSinceMs = response.inForceSince.rawValue
    apps = response.appCount
    products = response.productCount
    entitlements = response.entitlementCount
    grandfatheringRules = response.grandfatheringRuleCount
    warnings = response.warnings.map { CatalogIssueDocument($0) }
    lastAttempt = response.lastAttempt.map { attempt in
      Attempt(
        atMs: attempt.at.rawValue, valid: attempt.isValid, digest: attempt.digest,
        issues: attempt.issues.map { CatalogIssueDocument($0) }, failure: attempt.failure)
    }
  }
}
