import EntitlementDomain

/// What a case stores: a version of a fact that can be moved to another app and environment.
protocol FactSample {
  var scope: AppScope { get set }
  func signed() throws -> SignedFact
}

extension TransactionSample: FactSample {}
extension RenewalSample: FactSample {}
extension AppTransactionSample: FactSample {}

extension FactSample {
  /// As it would come out of a legacy receipt.
  func signedByReceipt() throws -> SignedFact {
    var signed = try signed()
    switch signed.fact {
    case .transaction(var fact):
      fact.authority = .receipt
      signed.fact = .transaction(fact)
    case .appTransaction(var fact):
      fact.authority = .receipt
      signed.fact = .appTransaction(fact)
    case .renewalInfo:
      break
    }
    return signed
  }
}
