import EntitlementDomain

/// A chain that several accounts claim repeatedly with the same genuine transaction.
struct ContestedChain: Sendable {
  let chain: OriginalTransactionID
  let step: SignedStep

  /// Nil when the customer has none.
  init?(_ customer: CustomerStock.Customer) {
    guard let step = customer.lastTransaction, let chain = step.facts.first?.chain else {
      return nil
    }
    self.chain = chain
    self.step = step
  }

  var target: LinkTarget { .chain(chain) }
}
