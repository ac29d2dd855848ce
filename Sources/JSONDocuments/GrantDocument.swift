package import EntitlementDomain

/// An operator's grant in JSON: the fields of `entitle.v1.Grant`, by the same names; what is absent
/// is left out.
package struct GrantDocument: Encodable {
  let grantId: String
  let bundleId: String
  let environment: String
  let accountId: String
  let entitlementId: String
  let startsMs: Int64
  let expiresMs: Int64?
  let reason: String
  let author: String
  let createdAtMs: Int64
  let withdrawal: Withdrawal?

  struct Withdrawal: Encodable {
    let atMs: Int64
    let author: String
    let reason: String
  }

  package init(_ grant: Grant) {
    grantId = grant.id.rawValue
    bundleId = grant.scope.bundleID.rawValue
    environment = grant.scope.environment.rawValue
    accountId = grant.accountID.rawValue
    entitlementId = grant.entitlementID.rawValue
    startsMs = grant.starts.rawValue
    expiresMs = grant.expires?.rawValue
    reason = grant.reason
    author = grant.author
    createdAtMs = grant.createdAt.rawValue
    withdrawal = grant.withdrawal.map {
      Withdrawal(atMs: $0.at.rawValue, author: $0.author, reason: $0.reason)
    }
  }
}
