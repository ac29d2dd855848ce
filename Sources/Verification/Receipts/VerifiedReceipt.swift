package import EntitlementDomain

/// A receipt that the App Store signed and that the policy accepts, with the facts that it holds.
package struct VerifiedReceipt: Sendable {
  package let receipt: Receipt
  /// What it says of the app, then each item in its order, as facts of ``FactAuthority/receipt``;
  /// an item without the fields that a fact cannot be without is refused by itself, with
  /// ``Verdict/malformed``.
  package let facts: [Result<SignedFact, Refusal>]
  /// The certificates that speak for it.
  package let chains: [CertificateChain]

  package init(
    receipt: Receipt, facts: [Result<SignedFact, Refusal>], chains: [CertificateChain] = []
  ) {
    self.receipt = receipt
    self.facts = facts
    self.chains = chains
  }
}
