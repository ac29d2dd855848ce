import Cryptography
import EntitlementDomain

extension ReceiptVerifier {
  /// Judges a signer that is not known yet, and its signature over this receipt.
  func judge(
    _ envelope: ReceiptEnvelope, surroundings: [UInt8]
  ) throws(Refusal) -> TrustedReceiptSigner {
    // OpenSSL's parser recurses, and takes what is no DER.
    _ = try DERWalk(envelope.der)
    let digest = try envelope.checkAlgorithms()
    let certificates = try envelope.readCertificates()
    let message = try Self.message(of: envelope)
    let chain = try chain(
      of: certificates, signer: envelope.der[envelope.signerIdentifier.contents])
    let (key, origin) = try chain.trustedKey(under: anchors) { (leaf) throws(Refusal) in
      try Self.key(of: leaf, digest: digest)
    }
    try Self.checkSignature(of: message, by: chain.leaf)
    return TrustedReceiptSigner(
      surroundings: surroundings, key: key, chain: chain, origin: origin)
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

  /// The receipt as OpenSSL reads it, which must be as it is read here.
  private static func message(of envelope: ReceiptEnvelope) throws(Refusal) -> CMSSignedData {
    let message: CMSSignedData
    do {
      message = try CMSSignedData(der: envelope.der)
    } catch {
      throw Refusal(error, as: .malformed, in: "receipt")
    }
    guard envelope.der[envelope.content.contents].elementsEqual(message.content),
      envelope.der[envelope.signature.contents].elementsEqual(message.signature)
    else { throw Refusal(.malformed, "the receipt can be read in two ways") }
    return message
  }

  /// The certificates in the order from the leaf to the root: those of a receipt are a set, which
  /// has none (RFC 5652 section 10.2.3).
  ///
  /// - Parameter identifier: what names the signer's, byte by byte. OpenSSL takes names that are
  ///   alike for the same.
  private func chain(
    of certificates: [Certificate], signer identifier: ArraySlice<UInt8>
  ) throws(Refusal) -> CertificateChain {
    let signer = certificates.firstIndex { identifier.elementsEqual($0.issuerAndSerialNumber) }
    guard let signer else {
      throw Refusal(.invalidCertificate, "none of the certificates is the signer's")
    }
    var others = certificates
    let leaf = others.remove(at: signer)
    let root =
      others.firstIndex { anchors.origin(of: $0.fingerprint) != nil }
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

  /// - Throws: ``Refusal`` with ``Verdict/wrongEnvironment`` when a root alone signed for more than
  ///   a developer's machine (R9).
  static func checkScope(
    of receipt: Receipt, _ signer: TrustedReceiptSigner
  ) throws(Refusal) {
    guard signer.chain.isRootAlone, receipt.environment != .xcode else { return }
    throw Refusal(.wrongEnvironment, "a certificate alone is accepted for Xcode only")
  }
}

extension ReceiptEnvelope {
  /// - Throws: ``Refusal`` with ``Verdict/invalidCertificate`` when there is none, or one cannot be
  ///   read.
  func readCertificates() throws(Refusal) -> [Certificate] {
    guard !certificates.isEmpty else {
      throw Refusal(.invalidCertificate, "the receipt holds no certificate")
    }
    var read: [Certificate] = []
    for (index, range) in certificates.enumerated() {
      do {
        read.append(try Certificate(der: Array(der[range])))
      } catch {
        throw Refusal(error, as: .invalidCertificate, in: "certificate \(index + 1)")
      }
    }
    return read
  }
}
