import Cryptography
import EntitlementDomain

/// Decides whether the App Store signed a legacy receipt (PKCS#7), and whether it is accepted here.
/// One verifier serves all apps and environments. Immutable but for its memory; safe on any thread.
///
/// Checks come in the order form, algorithm, certificates, chain, signature, content, validity,
/// app, environment, device. The signature comes before the content is read, the date included: so
/// nothing but the form of a receipt is judged that its signer did not say.
package final class ReceiptVerifier: Sendable {
  let anchors: TrustAnchors
  let memory = ReceiptSignerMemory()

  package init(anchors: TrustAnchors = .apple) {
    self.anchors = anchors
  }

  /// Verifies a receipt and makes facts of it. Its certificates must have been valid when it was
  /// made, whatever the time is now: no receipt outlives its certificates otherwise.
  ///
  /// - Parameters:
  ///   - receipt: DER, or standard base64 of it, which may hold blanks and line breaks.
  ///   - deviceIdentifier: the device that it must have been made for; nil for any.
  package func verify(
    _ receipt: [UInt8], policy: VerificationPolicy, deviceIdentifier: [UInt8]? = nil
  ) throws(Refusal) -> VerifiedReceipt {
    let envelope = try ReceiptEnvelope(try ReceiptForm.der(of: receipt))
    let signer = try signer(of: envelope)
    let receipt = try Receipt(envelope)
    try signer.chain.checkValidity(at: receipt.creationDate)
    try policy.check(receipt, under: signer.origin)
    try Self.checkScope(of: receipt, signer)
    if let deviceIdentifier { try receipt.checkDevice(deviceIdentifier) }
    let facts = try ReceiptFacts(
      of: receipt, in: envelope.der, authority: .receipt, signedDate: receipt.creationDate)
    return VerifiedReceipt(
      receipt: receipt,
      facts: [facts.app(receipt)] + receipt.items.map { facts.transaction($0.purchase) },
      chains: [signer.chain])
  }

  /// The signer, whose signature over the content is valid.
  private func signer(of envelope: ReceiptEnvelope) throws(Refusal) -> TrustedReceiptSigner {
    let surroundings = envelope.surroundings
    guard let known = memory.signer(surroundings: surroundings) else {
      let signer = try judge(envelope, surroundings: surroundings)
      // Not before: the signature is what nobody else can make.
      memory.remember(signer)
      return signer
    }
    // All but the content and the signature is, byte by byte, what OpenSSL's CMS has accepted
    // before.
    try Self.checkSignature(of: envelope, by: known.key)
    return known
  }
}
