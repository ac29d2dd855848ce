import EntitlementDomain

/// What a case stores: a version of a fact that can be moved to another app and environment.
protocol FactSample {
  var scope: AppScope { get set }
  func signed() throws -> SignedFact
}

extension TransactionSample: FactSample {}
extension RenewalSample: FactSample {}
extension AppTransactionSample: FactSample {}
