import Cryptography

/// What a receipt holds, read without trusting any of it: for people who look at one.
package struct InspectedReceipt: Sendable {
  package let receipt: Receipt
  /// As many as the receipt holds, in its order; none when one of them cannot be read.
  package let certificates: [InspectedPayload.CertificateSummary]
  /// The hash function that its signer names: `SHA-1`, `SHA-256`, or another one's object
  /// identifier.
  package let digestAlgorithm: String

  /// - Parameter bytes: DER, or standard base64 of it, which may hold blanks and line breaks.
  /// - Throws: ``Refusal`` with ``Verdict/malformed`` when it is not signed data with the
  ///   attributes of a receipt.
  package init(_ bytes: [UInt8]) throws(Refusal) {
    let envelope = try ReceiptEnvelope(try ReceiptForm.der(of: bytes))
    // OpenSSL, which reads the certificates, recurses.
    _ = try DERWalk(envelope.der)
    receipt = try Receipt(envelope)
    certificates =
      (try? envelope.readCertificates().map(InspectedPayload.CertificateSummary.init(_:))) ?? []
    digestAlgorithm = envelope.digestAlgorithm.label
  }
}
