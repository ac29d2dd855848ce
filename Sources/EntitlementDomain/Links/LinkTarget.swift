/// What an account can own: a chain, or an app transaction id.
public enum LinkTarget: Hashable, Comparable, Sendable {
  // In the order of the cases: chains before app transactions, then by id.
  case chain(OriginalTransactionID)
  case appTransaction(AppTransactionID)
}

extension Fact {
  /// What owning the fact means owning.
  public var target: LinkTarget {
    switch self {
    case .transaction(let fact): .chain(fact.originalTransactionID)
    case .renewalInfo(let fact): .chain(fact.originalTransactionID)
    case .appTransaction(let fact): .appTransaction(fact.identity)
    }
  }
}
