import EntitlementDomain

/// The hints at a customer that a fact carries, by which a chain finds its account (R42).
struct FactHints {
  var appTransactionID: AppTransactionID?
  var appAccountToken: AppAccountToken?
  var previousChain: OriginalTransactionID?

  /// An app transaction carries none: it is found by its own identity.
  init(_ fact: Fact) {
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
  }
}
