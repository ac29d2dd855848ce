import Cryptography

/// Certificates of receipts that lead to a trusted root: what every receipt with the same
/// surroundings can use again.
final class TrustedReceiptSigner: Sendable {
  /// ``ReceiptEnvelope/surroundings``.
  let surroundings: [UInt8]
  let key: CMSVerifyingKey
  let chain: CertificateChain
  let origin: TrustAnchors.Origin

  init(
    surroundings: [UInt8], key: CMSVerifyingKey, chain: CertificateChain,
    origin: TrustAnchors.Origin
  ) {
    self.surroundings = surroundings
    self.key = key
    self.chain = chain
    self.origin = origin
  }

  /// Whether the other one speaks for the same key and hash function, in other surroundings: the
  /// certificates of a receipt are a set, so anybody can put them in another order.
  func isVariant(of other: TrustedReceiptSigner) -> Bool {
    chain.leaf.fingerprint == other.chain.leaf.fingerprint && key.digest == other.key.digest
  }
}
