import AppStorePayloads
import Cryptography
import EntitlementDomain

/// Verifies legacy receipts (PKCS #7) against the trust anchors and a policy. One verifier serves
/// all apps and environments. Safe on any thread.
///
/// Order of the checks: form, algorithm, certificates, chain, signature, content, validity, app,
/// environment, device. The signature is checked before the content is read, so every value used is
/// authentic.
package final class ReceiptVerifier: Sendable {
  let anchors: TrustAnchors
  let cache = ReceiptSignerCache()

  package init(anchors: TrustAnchors = .apple) {
    self.anchors = anchors
  }

  /// Verifies a receipt and converts it to facts. The certificates must have been valid at its
  /// creation date, so that receipts still verify after their certificates have expired.
  ///
  /// - Parameters:
  ///   - receipt: DER, or from Xcode with indefinite lengths; or standard base64 of either, which
  ///     may contain white space.
  ///   - deviceIdentifier: the expected device; nil accepts any device.
  package func verify(
    _ receipt: [UInt8], policy: VerificationPolicy, deviceIdentifier: [UInt8]? = nil
  ) throws(Refusal) -> VerifiedReceipt {
    do {
      return try checked(receipt, policy: policy, deviceIdentifier: deviceIdentifier)
    } catch {
      throw error.naming(receipt, at: .receipt)
    }
  }

  private func checked(
    _ receipt: [UInt8], policy: VerificationPolicy, deviceIdentifier: [UInt8]?
  ) throws(Refusal) -> VerifiedReceipt {
    let form = try ReceiptForm.der(of: receipt)
    let envelope = try ReceiptEnvelope(form.der)
    if form.hadIndefiniteLengths { try checkIndefiniteLengths(of: envelope) }
    let signer = try signer(of: envelope)
    let receipt = try Receipt(envelope)
    if form.hadIndefiniteLengths { try checkIndefiniteLengths(of: receipt, signer) }
    try signer.chain.checkValidity(at: receipt.creationDate)
    try policy.check(receipt, under: signer.anchor)
    try Self.checkScope(of: receipt, signer)
    if let deviceIdentifier { try receipt.checkDevice(deviceIdentifier) }
    var facts = try ReceiptFacts(
      of: receipt, in: envelope.der, authority: .receipt, signedDate: receipt.creationDate,
      machine: signer.chain.machine)
    return VerifiedReceipt(receipt: receipt, facts: facts.all(receipt), chains: [signer.chain])
  }

  /// Returns the signer after verifying its signature over the content.
  private func signer(of envelope: ReceiptEnvelope) throws(Refusal) -> TrustedReceiptSigner {
    let cacheKey = envelope.cacheKey
    guard let known = cache.signer(cacheKey: cacheKey) else {
      let signer = try validate(envelope, cacheKey: cacheKey)
      // Only after the signature check, so that forged input cannot enter the cache.
      cache.insert(signer)
      return signer
    }
    // Everything except content and signature equals, byte by byte, a receipt that OpenSSL has
    // accepted before.
    try Self.checkSignature(of: envelope, by: known.key)
    return known
  }
}

extension ReceiptVerifier {
  /// Validates a signer that is not cached, and its signature of this receipt.
  func validate(
    _ envelope: ReceiptEnvelope, cacheKey: [UInt8]
  ) throws(Refusal) -> TrustedReceiptSigner {
    // OpenSSL's parser recurses and accepts BER, so the structure is checked first.
    _ = try DERWalk(envelope.der)
    let digest = try envelope.checkAlgorithms()
    let certificates = try envelope.readCertificates()
    let message = try Self.message(of: envelope)
    let chain = try chain(
      of: certificates, signer: envelope.der[envelope.signerIdentifier.contents])
    let (key, anchor) = try chain.trustedKey(under: anchors, isOfReceipt: true) {
      (leaf) throws(Refusal) in
      try Self.key(of: leaf, digest: digest)
    }
    try Self.checkSignature(of: message, by: chain.leaf)
    return TrustedReceiptSigner(
      cacheKey: cacheKey, key: key, chain: chain, anchor: anchor)
  }

  /// - Throws: ``Refusal`` with ``Verdict/invalidSignature``.
  static func checkSignature(
    of envelope: ReceiptEnvelope, by key: CMSVerifyingKey
  ) throws(Refusal) {
    let isValid: Bool
    do throws(CryptographyError) {
      isValid = try envelope.der.withUnsafeBufferPointer { (buffer) throws(CryptographyError) in
        let bytes = UnsafeRawBufferPointer(buffer)
        return try key.isValidSignature(
          UnsafeRawBufferPointer(rebasing: bytes[envelope.signature.contents]),
          of: UnsafeRawBufferPointer(rebasing: bytes[envelope.content.contents]))
      }
    } catch {
      throw Refusal(error, as: .retryable, in: "signature")
    }
    guard isValid else { throw Self.invalidSignature }
  }

  private static func checkSignature(
    of message: CMSSignedData, by leaf: Certificate
  ) throws(Refusal) {
    let isValid: Bool
    do {
      isValid = try message.isSigned(by: leaf)
    } catch {
      throw Refusal(error, as: .retryable, in: "signature")
    }
    guard isValid else { throw Self.invalidSignature }
  }

  private static var invalidSignature: Refusal {
    Refusal(.invalidSignature, "the signature is not the leaf certificate's")
  }

  /// The receipt as OpenSSL parses it. Both parsers must agree.
  private static func message(of envelope: ReceiptEnvelope) throws(Refusal) -> CMSSignedData {
    let message: CMSSignedData
    do {
      message = try CMSSignedData(der: envelope.der)
    } catch {
      throw Refusal(error, as: .malformed, in: "receipt")
    }
    guard envelope.der[envelope.content.contents].elementsEqual(message.content),
      envelope.der[envelope.signature.contents].elementsEqual(message.signature)
    else { throw Refusal(.malformed, "the encoding of the receipt is ambiguous") }
    return message
  }

  /// Orders the certificates from the leaf to the root. In a receipt they are an unordered set (RFC
  /// 5652 section 10.2.3).
  ///
  /// - Parameter identifier: issuer and serial number of the signer, compared byte by byte. OpenSSL
  ///   treats similar names as equal.
  private func chain(
    of certificates: [Certificate], signer identifier: ArraySlice<UInt8>
  ) throws(Refusal) -> CertificateChain {
    let signer = certificates.firstIndex { identifier.elementsEqual($0.issuerAndSerialNumber) }
    guard let signer else {
      throw Refusal(.invalidCertificate, "the signer's certificate is missing")
    }
    var others = certificates
    let leaf = others.remove(at: signer)
    let root =
      others.firstIndex { anchors.anchor(of: $0.fingerprint) != nil }
      ?? others.firstIndex { $0.subject == $0.issuer }
    if let root { others.append(others.remove(at: root)) }
    return try CertificateChain([leaf] + others)
  }

  private static func key(
    of leaf: Certificate, digest: CMSDigest
  ) throws(Refusal) -> CMSVerifyingKey {
    let key: CMSVerifyingKey
    do {
      key = try CMSVerifyingKey(leaf, digest: digest)
    } catch {
      throw Refusal(error, as: .unsupportedAlgorithm, in: "leaf certificate")
    }
    guard VerificationLimits.receiptKeyBits.contains(key.bits) else {
      let range = VerificationLimits.receiptKeyBits
      throw Refusal(
        .unsupportedAlgorithm,
        "the signer's key has \(key.bits) bits, not \(range.lowerBound) to \(range.upperBound)")
    }
    return key
  }

  /// Refuses the form of Xcode before anything else is checked, unless the operator named one of
  /// the certificates. So a receipt of the App Store has one encoding.
  ///
  /// - Throws: ``Refusal`` with ``Verdict/malformed``.
  private func checkIndefiniteLengths(of envelope: ReceiptEnvelope) throws(Refusal) {
    for range in envelope.certificates {
      let fingerprint: CertificateFingerprint
      do {
        fingerprint = CertificateFingerprint(try SHA256.digest(of: Array(envelope.der[range])))
      } catch {
        throw Refusal(error, as: .retryable, in: "certificate")
      }
      if anchors.isNamedForXcode(fingerprint) { return }
    }
    throw Self.indefiniteLengths
  }

  /// - Throws: ``Refusal`` with ``Verdict/malformed`` unless the receipt is one of Xcode under a
  ///   root that the operator named.
  private func checkIndefiniteLengths(
    of receipt: Receipt, _ signer: TrustedReceiptSigner
  ) throws(Refusal) {
    guard receipt.environment == .xcode, let root = signer.chain.certificates.last,
      anchors.isNamedForXcode(root.fingerprint)
    else { throw Self.indefiniteLengths }
  }

  private static var indefiniteLengths: Refusal {
    DERReader.malformed(
      "indefinite lengths are accepted only from Xcode, under a root that the operator named")
  }

  /// - Throws: ``Refusal`` with ``Verdict/wrongEnvironment`` when a single root signed for an
  ///   environment of the App Store (R9).
  static func checkScope(
    of receipt: Receipt, _ signer: TrustedReceiptSigner
  ) throws(Refusal) {
    guard signer.chain.isSingleRoot, receipt.environment != .xcode else { return }
    throw Refusal(.wrongEnvironment, "a single certificate is accepted for Xcode only")
  }
}
