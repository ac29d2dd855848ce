/// The facts of a customer as they came, and the products that they name. Everything else in an
/// evaluation refers to them by their positions.
struct Evidence {
  let facts: [Fact]
  let products: [Product]

  /// A product that a transaction names.
  struct Product {
    let id: ProductID
    /// Nil when the catalog does not name it (R14).
    let inCatalog: CatalogProduct?

    var entitlements: [EntitlementID] { inCatalog?.entitlements ?? [] }

    /// 1 is the highest (R28). A product that the catalog does not name is below all that it names.
    var level: Int { inCatalog?.level ?? 1_000_000 }
  }

  /// - Parameter fact: the position of a transaction.
  func transaction(_ fact: Int) -> TransactionFact {
    guard case .transaction(let transaction) = facts[fact] else {
      preconditionFailure("the position is that of another kind of fact")
    }
    return transaction
  }

  /// - Parameter fact: the position of a renewal info.
  func renewalInfo(_ fact: Int) -> RenewalInfoFact {
    guard case .renewalInfo(let info) = facts[fact] else {
      preconditionFailure("the position is that of another kind of fact")
    }
    return info
  }
}
