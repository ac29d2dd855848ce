/// Which of a history's products confer an entitlement, looked up at once: an explanation asks for
/// every entitlement of the catalog.
struct ConferringProducts {
  /// Positions in ``Evidence/products``.
  private let products: [EntitlementID: Set<Int>]

  init(in evidence: Evidence) {
    var products: [EntitlementID: Set<Int>] = [:]
    for (position, product) in evidence.products.enumerated() {
      for entitlement in product.entitlements {
        products[entitlement, default: []].insert(position)
      }
    }
    self.products = products
  }

  func confers(_ product: Int, _ entitlement: EntitlementID) -> Bool {
    products[entitlement]?.contains(product) ?? false
  }
}
