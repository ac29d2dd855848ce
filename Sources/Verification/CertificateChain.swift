package import Cryptography
package import EntitlementDomain

/// The certificate chain of a JWS or a receipt. It is validated independently of the time.
package struct CertificateChain: Sendable {
  /// From the leaf to the root. After validation, each certificate is issued by the next one.
  ///
  /// Three certificates, or a single root that signs payloads itself, as in StoreKit Testing in
  /// Xcode.
  package let certificates: [Certificate]

  private static let leafMarker = "1.2.840.113635.100.6.11.1"
  private static let intermediateMarker = "1.2.840.113635.100.6.2.1"
  private static let extendedKeyUsage = "2.5.29.37"

  /// - Throws: ``Refusal`` with ``Verdict/invalidCertificate`` unless there are three certificates
  ///   or one.
  package init(_ certificates: [Certificate]) throws(Refusal) {
    guard certificates.count == 3 || certificates.count == 1 else {
      throw Refusal(
        .invalidCertificate, "\(certificates.count) certificates instead of three")
    }
    self.certificates = certificates
  }

  /// The certificate of the signing key.
  package var leaf: Certificate { certificates[0] }

  /// Whether the root signs payloads itself. Only the operator's configuration vouches for it, so
  /// it is accepted only for environments of a developer's machine.
  package var isSingleRoot: Bool { certificates.count == 1 }

  /// The developer's machine that a single root stands for (R94); nil for three certificates.
  var machine: SigningMachine? {
    isSingleRoot ? SigningMachine(fingerprint: leaf.fingerprint.digest.hexadecimal) : nil
  }

  /// Validates the chain and returns the key of the leaf. Validity periods are checked separately.
  ///
  /// - Throws: ``Refusal`` with ``Verdict/invalidCertificate`` for a missing marker extension,
  ///   another curve, or a single certificate that the operator did not name;
  ///   ``Verdict/untrustedChain`` otherwise.
  func trustedKey(
    under anchors: TrustAnchors
  ) throws(Refusal) -> (key: VerifyingKey, anchor: TrustAnchor) {
    try trustedKey(under: anchors) { (_) throws(Refusal) in try verifyingKey() }
  }

  /// As ``trustedKey(under:)``, for a key of another kind.
  ///
  /// - Parameters:
  ///   - isOfReceipt: whether it signed a receipt. Xcode does that with a certificate for code
  ///     signing.
  ///   - read: reads the leaf's key after the marker extensions were checked.
  func trustedKey<Key>(
    under anchors: TrustAnchors, isOfReceipt: Bool = false,
    reading read: (Certificate) throws(Refusal) -> Key
  ) throws(Refusal) -> (key: Key, anchor: TrustAnchor) {
    var evaluated = [Self.leafMarker, Self.intermediateMarker]
    if isOfReceipt, isSingleRoot, leaf.maySignCode, anchors.isNamedForXcode(leaf.fingerprint) {
      evaluated.append(Self.extendedKeyUsage)
    }
    for certificate in certificates
    where certificate.hasUnknownCriticalExtension(except: evaluated) {
      throw Refusal(
        .invalidCertificate, "a certificate has a critical extension that is not supported")
    }
    if isSingleRoot {
      return (try read(leaf), try anchorOfSingleRoot(under: anchors))
    }
    let (intermediate, root) = (certificates[1], certificates[2])
    try checkMarkers(intermediate: intermediate)
    let key = try read(leaf)
    guard let anchor = anchors.anchor(of: root.fingerprint) else {
      throw Refusal(.untrustedChain, "the root certificate is not trusted")
    }
    try checkUsage(intermediate: intermediate, root: root)
    // The two signature checks are expensive, so they come last.
    try Self.check(
      intermediate, issuedBy: root, else: "the root certificate did not issue the intermediate one")
    try Self.check(
      leaf, issuedBy: intermediate, else: "the intermediate certificate did not issue the leaf")
    return (key, anchor)
  }

  private static func check(
    _ certificate: Certificate, issuedBy issuer: Certificate, else detail: String
  ) throws(Refusal) {
    let isIssued: Bool
    do {
      isIssued = try certificate.isIssued(by: issuer)
    } catch {
      throw Refusal(error, as: .untrustedChain, in: "chain")
    }
    guard isIssued else { throw Refusal(.untrustedChain, detail) }
  }

  private func verifyingKey() throws(Refusal) -> VerifyingKey {
    do {
      return try leaf.verifyingKey()
    } catch {
      throw Refusal(error, as: .invalidCertificate, in: "leaf certificate")
    }
  }

  /// Xcode's certificate has no marker extensions and no CA key usage, and it is self-signed. So
  /// only its fingerprint is checked.
  private func anchorOfSingleRoot(under anchors: TrustAnchors) throws(Refusal) -> TrustAnchor {
    guard let anchor = anchors.anchor(of: leaf.fingerprint), anchor.isNamed else {
      throw Refusal(
        .invalidCertificate,
        "one certificate instead of three, and the operator did not name it as a root")
    }
    return anchor
  }

  private func checkMarkers(intermediate: Certificate) throws(Refusal) {
    guard leaf.hasExtension(Self.leafMarker) else {
      throw Refusal(.invalidCertificate, "the leaf certificate lacks Apple's marker extension")
    }
    guard intermediate.hasExtension(Self.intermediateMarker) else {
      throw Refusal(
        .invalidCertificate, "the intermediate certificate lacks Apple's marker extension")
    }
  }

  private func checkUsage(intermediate: Certificate, root: Certificate) throws(Refusal) {
    for (certificate, name) in [(root, "root"), (intermediate, "intermediate")] {
      guard certificate.isAuthority, certificate.mayIssueCertificates else {
        throw Refusal(.untrustedChain, "the \(name) certificate may not issue certificates")
      }
    }
    // One CA follows between the root and the leaf (RFC 5280 section 4.2.1.9).
    guard (root.pathLengthLimit ?? 1) >= 1 else {
      throw Refusal(.untrustedChain, "the root certificate allows no intermediate certificate")
    }
    guard leaf.maySignData, !leaf.isAuthority else {
      throw Refusal(.untrustedChain, "the leaf certificate is not for signing data")
    }
  }
}

extension CertificateChain {
  /// Checks the validity periods of all certificates.
  ///
  /// - Throws: ``Refusal`` with ``Verdict/certificateExpired`` unless all certificates were valid
  ///   at `moment`, the first and the last moment included.
  package func checkValidity(at moment: Milliseconds) throws(Refusal) {
    for (index, certificate) in certificates.enumerated() {
      let validity = certificate.validity
      guard moment.rawValue >= validity.lowerBound else {
        throw Refusal(.certificateExpired, "the \(name(at: index)) certificate was not valid yet")
      }
      guard moment.rawValue <= validity.upperBound else {
        throw Refusal(.certificateExpired, "the \(name(at: index)) certificate was no longer valid")
      }
    }
  }

  private func name(at index: Int) -> String {
    if isSingleRoot { return "only" }
    return index == 0 ? "leaf" : index == certificates.count - 1 ? "root" : "intermediate"
  }
}

// Chains are equal when their certificates have the same fingerprints.
extension CertificateChain: Hashable {
  package static func == (left: Self, right: Self) -> Bool {
    left.certificates.elementsEqual(right.certificates) { $0.fingerprint == $1.fingerprint }
  }

  package func hash(into hasher: inout Hasher) {
    for certificate in certificates { hasher.combine(certificate.fingerprint) }
  }
}
