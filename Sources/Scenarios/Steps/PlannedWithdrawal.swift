import EntitlementDomain

/// The end of a grant before its time.
struct PlannedWithdrawal: Sendable {
  let id: GrantID
  let scope: AppScope
  let author: String
  let reason: String
}
