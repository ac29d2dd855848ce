/// The standing versions of a customer's facts, joined for evaluation. The same set of facts gives
/// the same value, whatever their order and number of repeats (R3).
struct FactSet {
  /// Auto-renewable chains, by chain id.
  let subscriptionChains: [SubscriptionChain]
  /// Every other purchase, by product id.
  let oneTimePurchases: [OneTimePurchases]
  let isEmpty: Bool
  /// No transaction is known.
  let hasNoPurchase: Bool

  /// - Parameter scope: facts of other apps and environments are left out (R9).
  init(_ facts: [Fact], in scope: AppScope) {
    let facts = facts.filter { $0.scope == scope }
    var transactions: [TransactionID: TransactionFact] = [:]
    var renewalInfos: [OriginalTransactionID: RenewalInfoFact] = [:]
    for fact in facts {
      switch fact {
      case .transaction(let new):
        transactions.merge(new, key: new.transactionID)
      case .renewalInfo(let new):
        renewalInfos.merge(new, key: new.originalTransactionID)
      case .appTransaction:
        break
      }
    }

    var periods: [OriginalTransactionID: [TransactionFact]] = [:]
    var purchases: [ProductID: [TransactionFact]] = [:]
    for transaction in transactions.values {
      if transaction.type == .autoRenewable {
        periods[transaction.originalTransactionID, default: []].append(transaction)
      } else {
        purchases[transaction.productID, default: []].append(transaction)
      }
    }
    subscriptionChains = periods.map { id, periods in
      SubscriptionChain(id: id, transactions: periods, renewalInfo: renewalInfos[id])
    }.sorted { $0.id < $1.id }
    oneTimePurchases = purchases.map { productID, transactions in
      OneTimePurchases(productID: productID, transactions: transactions)
    }.sorted { $0.productID < $1.productID }
    isEmpty = facts.isEmpty
    hasNoPurchase = transactions.isEmpty
  }
}

/// A fact that other versions of itself compete with (R5).
protocol VersionedFact {
  var precedence: FactPrecedence { get }
}

extension TransactionFact: VersionedFact {
  var precedence: FactPrecedence { Fact.transaction(self).precedence }
}

extension RenewalInfoFact: VersionedFact {
  var precedence: FactPrecedence { Fact.renewalInfo(self).precedence }
}

extension Dictionary where Value: VersionedFact {
  /// Keeps the version of the greater precedence.
  fileprivate mutating func merge(_ new: Value, key: Key) {
    if let known = self[key], known.precedence >= new.precedence { return }
    self[key] = new
  }
}
