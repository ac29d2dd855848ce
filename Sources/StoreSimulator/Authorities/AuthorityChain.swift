package import Cryptography

/// The certificate chain of an authority, with the same structure as Apple's. Each certificate is
/// issued by the one before.
struct AuthorityChain<Key: CertificateKey>: Sendable {
  let root: AuthorityMember<Key>
  let intermediate: AuthorityMember<Key>
  let leaf: AuthorityMember<Key>

  /// Generates certificates that are valid over the whole range of the simulated clock. The
  /// intermediate and the leaf have Apple's marker extensions.
  ///
  /// - Parameters:
  ///   - rootName: the common name of the root. The other common names are the same for every
  ///     authority.
  ///   - authorityKey: makes the keys of the root and the intermediate.
  ///   - leafKey: makes the key that signs data.
  static func generate(
    rootName: String, authorityKey: () throws(CryptographyError) -> Key,
    leafKey: () throws(CryptographyError) -> Key
  ) throws(CryptographyError) -> AuthorityChain {
    let rootKey = try authorityKey()
    let root = AuthorityMember(
      certificate: try builder(rootName, .authority(pathLength: nil)).certificate(for: rootKey),
      key: rootKey)
    let intermediateKey = try authorityKey()
    let intermediate = AuthorityMember(
      certificate: try builder(
        "Simulated Developer Relations Authority", .authority(pathLength: 0),
        mark: SigningAuthority.intermediateMark
      ).certificate(for: intermediateKey, issuedBy: root.issuer),
      key: intermediateKey)
    let key = try leafKey()
    let leaf = AuthorityMember(
      certificate: try builder(
        "Simulated App Store Receipts", .signing, mark: SigningAuthority.leafMark
      ).certificate(for: key, issuedBy: intermediate.issuer),
      key: key)
    return AuthorityChain(root: root, intermediate: intermediate, leaf: leaf)
  }

  /// Whether each certificate was issued by the one before.
  ///
  /// - Throws: ``SimulatorError/Code/cryptography`` when one is not a certificate.
  func isChained() throws(SimulatorError) -> Bool {
    try SimulatorError.wrapping { () throws(CryptographyError) in
      let rootCertificate = try Certificate(der: root.certificate)
      let intermediateCertificate = try Certificate(der: intermediate.certificate)
      let leafCertificate = try Certificate(der: leaf.certificate)
      guard try leafCertificate.isIssued(by: intermediateCertificate) else { return false }
      return try intermediateCertificate.isIssued(by: rootCertificate)
    }
  }

  private static func builder(
    _ commonName: String, _ purpose: CertificateBuilder.Purpose, mark: String? = nil
  ) -> CertificateBuilder {
    CertificateBuilder(
      subject: DistinguishedName(
        commonName: commonName, organizationalUnit: "Not for production",
        organization: "Simulated App Store", country: "US"),
      serialNumber: UInt64.random(in: 1...(.max)),
      validity: validitySeconds,
      purpose: purpose,
      extensions: mark.map { [CertificateBuilder.Extension(objectIdentifier: $0)] } ?? [])
  }

  /// From the App Store's first day, 2008-07-10, to the last second of the year 2099: wider than
  /// ``SimulatedCalendar/range``.
  static var validitySeconds: ClosedRange<Int64> { 1_215_648_000...4_102_444_799 }
}

/// A certificate in DER and its private key.
package struct AuthorityMember<Key: CertificateKey>: Sendable {
  package let certificate: [UInt8]
  package let key: Key

  package init(certificate: [UInt8], key: Key) {
    self.certificate = certificate
    self.key = key
  }

  /// The certificate in PEM.
  ///
  /// - Throws: ``SimulatorError/Code/cryptography``.
  func certificatePEM() throws(SimulatorError) -> [UInt8] {
    try SimulatorError.wrapping { () throws(CryptographyError) in
      try CertificatePEM.encode(certificate)
    }
  }

  package var issuer: CertificateBuilder.Issuer {
    CertificateBuilder.Issuer(certificate: certificate, key: key)
  }
}
