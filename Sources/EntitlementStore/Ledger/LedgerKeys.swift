package import EntitlementDomain

// Names of rows, each within its app and environment.

package struct ScopedFact: Hashable, Sendable {
  package let scope: AppScope
  package let key: FactKey

  package init(_ scope: AppScope, _ key: FactKey) {
    self.scope = scope
    self.key = key
  }
}

package struct ScopedTarget: Hashable, Sendable {
  package let scope: AppScope
  package let target: LinkTarget

  package init(_ scope: AppScope, _ target: LinkTarget) {
    self.scope = scope
    self.target = target
  }
}

package struct ScopedAccount: Hashable, Sendable {
  package let scope: AppScope
  package let id: AccountID

  package init(_ scope: AppScope, _ id: AccountID) {
    self.scope = scope
    self.id = id
  }
}

package struct ScopedToken: Hashable, Sendable {
  package let scope: AppScope
  package let token: AppAccountToken

  package init(_ scope: AppScope, _ token: AppAccountToken) {
    self.scope = scope
    self.token = token
  }
}

package struct ScopedGrant: Hashable, Sendable {
  package let scope: AppScope
  package let id: GrantID

  package init(_ scope: AppScope, _ id: GrantID) {
    self.scope = scope
    self.id = id
  }
}

/// What a fact carries that may lead its chain to an account (R42).
package enum LinkHint: Hashable, Sendable {
  case token(AppAccountToken)
  case appTransaction(AppTransactionID)
  case previousChain(OriginalTransactionID)
}

package struct ScopedHint: Hashable, Sendable {
  package let scope: AppScope
  package let hint: LinkHint

  package init(_ scope: AppScope, _ hint: LinkHint) {
    self.scope = scope
    self.hint = hint
  }
}
