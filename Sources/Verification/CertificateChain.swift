import Cryptography

/// The three certificates of an `x5c` header, judged apart from any moment.
struct CertificateChain {
  let leaf: Certificate
  let intermediate: Certificate
  let root: Certificate

  private static let leafMark = "1.2.840.113635.100.6.11.1"
  private static let intermediateMark = "1.2.840.113635.100.6.2.1"

  /// - Throws: ``Refusal`` with ``Verdict/invalidCertificate`` unless there are three.
  init(_ certificates: [Certificate]) throws(Refusal) {
    guard certificates.count == 3 else {
      throw Refusal(
        .invalidCertificate, "x5c holds \(certificates.count) certificates instead of three")
    }
    (leaf, intermediate, root) = (certificates[0], certificates[1], certificates[2])
  }

  /// The leaf's key, once all of this is right; the moment of judgement is left to the caller.
  ///
  /// - Throws: ``Refusal`` with ``Verdict/invalidCertificate`` for Apple's marks and the key's
  ///   curve, ``Verdict/untrustedChain`` for everything else.
  func trustedKey(
    under anchors: TrustAnchors
  ) throws(Refusal) -> (key: VerifyingKey, origin: TrustAnchors.Origin) {
    try checkMarks()
    let key: VerifyingKey
    do {
      key = try leaf.verifyingKey()
    } catch {
      throw Refusal(error, as: .invalidCertificate, in: "leaf certificate")
    }
    guard let origin = anchors.origin(of: root.fingerprint) else {
      throw Refusal(.untrustedChain, "the root certificate is not one that is trusted")
    }
    try checkUsage()
    // The two signature checks are the dear part, so they come last.
    guard intermediate.isIssued(by: root) else {
      throw Refusal(.untrustedChain, "the root certificate did not issue the intermediate one")
    }
    guard leaf.isIssued(by: intermediate) else {
      throw Refusal(.untrustedChain, "the intermediate certificate did not issue the leaf")
    }
    return (key, origin)
  }

  private func checkMarks() throws(Refusal) {
    guard leaf.hasExtension(Self.leafMark) else {
      throw Refusal(.invalidCertificate, "the leaf certificate lacks Apple's mark for signing data")
    }
    guard intermediate.hasExtension(Self.intermediateMark) else {
      throw Refusal(
        .invalidCertificate, "the intermediate certificate lacks Apple's mark of an authority")
    }
    for certificate in [leaf, intermediate, root] where certificate.hasUnknownCriticalExtension {
      throw Refusal(
        .invalidCertificate, "a certificate has a critical extension that is not understood")
    }
  }

  private func checkUsage() throws(Refusal) {
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
