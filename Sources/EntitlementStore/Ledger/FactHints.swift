package import EntitlementDomain

/// The hints at a customer that a fact carries, by which a chain finds its account (R42).
///
/// What nobody signed hints at nobody: neither does it link what Apple signed, nor is it found by
/// a token. Its app transaction id only tells with what it came.
package struct FactHints: Hashable, Sendable {
  package var appTransactionID: AppTransactionID?
  package var appAccountToken: AppAccountToken?
  package var previousChain: OriginalTransactionID?

  /// An app transaction carries none: it is found by its own identity.
  package init(_ fact: Fact) {
    switch fact {
    case .transaction(let fact):
      appTransactionID = fact.appTransactionID
      appAccountToken = fact.appAccountToken
      previousChain = fact.previousOriginalTransactionID
    case .renewalInfo(let fact):
      appTransactionID = fact.appTransactionID
      appAccountToken = fact.appAccountToken
    case .appTransaction:
      break
    }
    if !fact.authority.isSigned {
      appAccountToken = nil
      previousChain = nil
    }
  }
}

extension FactHints {
  package init(
    appTransactionID: AppTransactionID?, appAccountToken: AppAccountToken?,
    previousChain: OriginalTransactionID?
  ) {
    self.appTransactionID = appTransactionID
    self.appAccountToken = appAccountToken
    self.previousChain = previousChain
  }
}
