package import Cryptography

/// The certificates of an `x5c` header, judged apart from any moment.
package struct CertificateChain: Sendable {
  /// From the leaf to the root: each but the last is issued by the next one, once this was judged.
  ///
  /// Three; or one alone, a root that signs payloads itself, as StoreKit Testing in Xcode has it.
  package let certificates: [Certificate]

  private static let leafMark = "1.2.840.113635.100.6.11.1"
  private static let intermediateMark = "1.2.840.113635.100.6.2.1"

  /// - Throws: ``Refusal`` with ``Verdict/invalidCertificate`` unless there are three, or one.
  package init(_ certificates: [Certificate]) throws(Refusal) {
    guard certificates.count == 3 || certificates.count == 1 else {
      throw Refusal(
        .invalidCertificate, "\(certificates.count) certificates instead of three")
    }
    self.certificates = certificates
  }

  /// The one that speaks for the key that signs payloads.
  package var leaf: Certificate { certificates[0] }

  /// Whether the root signs payloads itself. Nothing but the operator's word speaks for it, so it
  /// is believed of environments alone that are on a developer's machine.
  package var isRootAlone: Bool { certificates.count == 1 }

  /// The leaf's key, once all of this is right; the moment of judgement is left to the caller.
  ///
  /// - Throws: ``Refusal`` with ``Verdict/invalidCertificate`` for Apple's marks, the key's curve
  ///   and one certificate that the operator did not name; ``Verdict/untrustedChain`` for
  ///   everything else.
  func trustedKey(
    under anchors: TrustAnchors
  ) throws(Refusal) -> (key: VerifyingKey, origin: TrustAnchors.Origin) {
    try trustedKey(under: anchors) { (_) throws(Refusal) in try verifyingKey() }
  }

  /// As ``trustedKey(under:)``, for a key of another kind.
  ///
  /// - Parameter read: reads the leaf's key, once its marks are right.
  func trustedKey<Key>(
    under anchors: TrustAnchors, reading read: (Certificate) throws(Refusal) -> Key
  ) throws(Refusal) -> (key: Key, origin: TrustAnchors.Origin) {
    let marks = [Self.leafMark, Self.intermediateMark]
    for certificate in certificates
    where certificate.hasUnknownCriticalExtension(besides: marks) {
      throw Refusal(
        .invalidCertificate, "a certificate has a critical extension that is not understood")
    }
    if isRootAlone {
      return (try read(leaf), try originOfRootAlone(under: anchors))
    }
    let (intermediate, root) = (certificates[1], certificates[2])
    try checkMarks(intermediate: intermediate)
    let key = try read(leaf)
    guard let origin = anchors.origin(of: root.fingerprint) else {
      throw Refusal(.untrustedChain, "the root certificate is not one that is trusted")
    }
    try checkUsage(intermediate: intermediate, root: root)
    // The two signature checks are the dear part, so they come last.
    try Self.check(
      intermediate, issuedBy: root, else: "the root certificate did not issue the intermediate one")
    try Self.check(
      leaf, issuedBy: intermediate, else: "the intermediate certificate did not issue the leaf")
    return (key, origin)
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

  /// Xcode's certificate has neither Apple's marks nor the usage of an authority, and its signature
  /// is its own: its fingerprint is all that there is to judge.
  private func originOfRootAlone(
    under anchors: TrustAnchors
  ) throws(Refusal) -> TrustAnchors.Origin {
    guard anchors.origin(of: leaf.fingerprint) == .operatorNamed else {
      throw Refusal(
        .invalidCertificate,
        "one certificate instead of three, and it is not a root that the operator named")
    }
    return .operatorNamed
  }

  private func checkMarks(intermediate: Certificate) throws(Refusal) {
    guard leaf.hasExtension(Self.leafMark) else {
      throw Refusal(.invalidCertificate, "the leaf certificate lacks Apple's mark for signing data")
    }
    guard intermediate.hasExtension(Self.intermediateMark) else {
      throw Refusal(
        .invalidCertificate, "the intermediate certificate lacks Apple's mark of an authority")
    }
  }

  private func checkUsage(intermediate: Certificate, root: Certificate) throws(Refusal) {
    for (certificate, name) in [(root, "root"), (intermediate, "intermediate")] {
      guard certificate.isAuthority, certificate.mayIssueCertificates else {
        throw Refusal(.untrustedChain, "the \(name) certificate may not issue certificates")
      }
    }
    // One authority stands between the root and the leaf (RFC 5280 section 4.2.1.9).
    guard (root.pathLengthLimit ?? 1) >= 1 else {
      throw Refusal(.untrustedChain, "the root certificate allows no intermediate one")
    }
    guard leaf.maySignData, !leaf.isAuthority else {
      throw Refusal(.untrustedChain, "the leaf certificate is not for signing data")
    }
  }
}
