import EntitlementDomain

/// Where time may turn a customer's state.
enum RandomClock {
  static func dates(of record: CustomerRecord) -> [Milliseconds] {
    var dates: [Milliseconds?] = []
    for fact in record.facts {
      switch fact {
      case .transaction(let fact):
        dates += [fact.purchaseDate, fact.expiresDate, fact.revocationDate]
      case .renewalInfo(let fact):
        dates.append(fact.gracePeriodExpiresDate)
      case .appTransaction(let fact):
        dates += [fact.originalPurchaseDate, fact.preorderDate]
      }
    }
    for grant in record.grants { dates += [grant.starts, grant.expires, grant.withdrawal?.at] }
    return dates.compactMap { $0 }
  }
}
