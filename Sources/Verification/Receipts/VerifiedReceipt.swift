import AppStorePayloads
import Cryptography
package import EntitlementDomain

/// A receipt with a valid signature that the policy accepts, with its facts.
package struct VerifiedReceipt: Sendable {
  package let receipt: Receipt
  /// The facts of the app, then of each item in order, with ``FactAuthority/receipt``. An item
  /// without a required field is a failure with ``Verdict/malformed``.
  package let facts: [Result<SignedFact, Refusal>]
  /// The certificate chain of the signer, as an array.
  package let chains: [CertificateChain]

  package init(
    receipt: Receipt, facts: [Result<SignedFact, Refusal>], chains: [CertificateChain] = []
  ) {
    self.receipt = receipt
    self.facts = facts
    self.chains = chains
  }
}

/// The contents of a receipt, decoded without verification, for display.
package struct InspectedReceipt: Sendable {
  package let receipt: Receipt
  /// The certificates of the receipt, in order; empty when one of them cannot be parsed.
  package let certificates: [InspectedPayload.CertificateSummary]
  /// The hash function of the signature: `SHA-1`, `SHA-256`, or the object identifier of another
  /// one.
  package let digestAlgorithm: String

  /// - Parameter bytes: DER, or with the indefinite lengths of Xcode, or standard base64 of either,
  ///   which may contain white space.
  /// - Throws: ``Refusal`` with ``Verdict/malformed`` when it is not signed data with the
  ///   attributes of a receipt.
  package init(_ bytes: [UInt8]) throws(Refusal) {
    do {
      try self.init(envelope: ReceiptEnvelope(try ReceiptForm.der(of: bytes).der))
    } catch {
      throw error.naming(bytes, at: .receipt)
    }
  }

  private init(envelope: ReceiptEnvelope) throws(Refusal) {
    // OpenSSL parses the certificates recursively, so the nesting is checked first.
    _ = try DERWalk(envelope.der)
    receipt = try Receipt(envelope)
    certificates =
      (try? envelope.readCertificates().map(InspectedPayload.CertificateSummary.init(_:))) ?? []
    digestAlgorithm = envelope.digestAlgorithm.label
  }
}
