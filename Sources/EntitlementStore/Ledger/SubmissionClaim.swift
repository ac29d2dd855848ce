import EntitlementDomain

/// The account that a submission names, and what it names it with.
struct SubmissionClaim {
  /// As it was named: in each app and environment it may have been merged into another.
  let named: AccountID
  private let accounts: [AppScope: AccountID]
  private let signed: Set<ScopedTarget>

  /// - Parameter account: the account that the name means in an app and environment.
  init(
    named: AccountID, merges: [FactMerge], account: (ScopedAccount) throws -> ScopedAccount
  ) rethrows {
    self.named = named
    var accounts: [AppScope: AccountID] = [:]
    var signed: Set<ScopedTarget> = []
    for merge in merges {
      let scope = merge.target.scope
      if accounts[scope] == nil {
        accounts[scope] = try account(ScopedAccount(scope, named)).id
      }
      if merge.fact.authority.isSigned { signed.insert(merge.target) }
    }
    self.accounts = accounts
    self.signed = signed
  }

  func account(in scope: AppScope) -> AccountID { accounts[scope] ?? named }

  /// Whether Apple signed none of what the submission says of it.
  func isUnsigned(for target: ScopedTarget) -> Bool { !signed.contains(target) }
}
