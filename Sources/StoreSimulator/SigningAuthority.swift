package import Cryptography

/// A certificate authority in the shape of Apple's: a P-384 root, a P-384 intermediate and a P-256
/// leaf with Apple's certificate marks. What it signs is genuine to whoever trusts its root, and to
/// nobody else.
package struct SigningAuthority: Sendable {
  /// A certificate in DER and its private key.
  package struct Member: Sendable {
    package let certificate: [UInt8]
    package let key: SigningKey

    package init(certificate: [UInt8], key: SigningKey) {
      self.certificate = certificate
      self.key = key
    }
  }

  /// The extension that marks a leaf as a signer of App Store data.
  package static let leafMark = "1.2.840.113635.100.6.11.1"
  /// The extension that marks an intermediate as Apple's for developers.
  package static let intermediateMark = "1.2.840.113635.100.6.2.1"

  package let root: Member
  package let intermediate: Member
  package let leaf: Member
  /// SHA-256 of the root certificate.
  package let rootFingerprint: CertificateFingerprint
  /// The protected header in base64url: the same bytes for every payload of this authority.
  package let headerSegment: [UInt8]

  /// - Throws: ``SimulatorError/Code/cryptography`` when the root is not a certificate.
  package init(root: Member, intermediate: Member, leaf: Member) throws(SimulatorError) {
    self.root = root
    self.intermediate = intermediate
    self.leaf = leaf
    rootFingerprint = try SimulatorError.wrapping { () throws(CryptographyError) in
      try Certificate(der: root.certificate).fingerprint
    }
    headerSegment = Self.headerSegment(
      chain: [leaf.certificate, intermediate.certificate, root.certificate])
  }

  /// New keys and certificates, valid over the whole range of the simulated clock.
  ///
  /// - Throws: ``SimulatorError/Code/cryptography``.
  package static func generate() throws(SimulatorError) -> SigningAuthority {
    let members = try SimulatorError.wrapping { () throws(CryptographyError) in
      try generateMembers()
    }
    return try SigningAuthority(
      root: members.root, intermediate: members.intermediate, leaf: members.leaf)
  }

  /// Signs a payload with ES256 under a header with the three certificates in `x5c`.
  ///
  /// - Parameter payloadJSON: any bytes; they are signed as they are.
  /// - Returns: a compact JWS (RFC 7515 §7.1).
  /// - Throws: ``SimulatorError/Code/cryptography``.
  package func sign(payloadJSON: [UInt8]) throws(SimulatorError) -> String {
    let separator = UInt8(ascii: ".")
    var text = headerSegment
    text.append(separator)
    text += Base64Form.urlWithoutPadding.encode(payloadJSON)
    let signature = try SimulatorError.wrapping { () throws(CryptographyError) in
      try leaf.key.signature(over: text)
    }
    text.append(separator)
    text += Base64Form.urlWithoutPadding.encode(signature)
    return String(decoding: text, as: UTF8.self)
  }

  /// - Parameter chain: leaf, intermediate and root, in DER.
  private static func headerSegment(chain: [[UInt8]]) -> [UInt8] {
    var header = JSONObjectWriter()
    header.set("alg", "ES256")
    header.set(
      "x5c", chain.map { String(decoding: Base64Form.standard.encode($0), as: UTF8.self) })
    return Base64Form.urlWithoutPadding.encode(header.bytes)
  }

  private struct Members {
    let root: Member
    let intermediate: Member
    let leaf: Member
  }

  private static func generateMembers() throws(CryptographyError) -> Members {
    let rootKey = try SigningKey.generate(.p384)
    let root = Member(
      certificate: try builder("Simulated App Store Root", .authority(pathLength: nil))
        .certificate(for: rootKey),
      key: rootKey)
    let intermediateKey = try SigningKey.generate(.p384)
    let intermediate = Member(
      certificate: try builder(
        "Simulated Developer Relations Authority", .authority(pathLength: 0),
        mark: intermediateMark
      ).certificate(for: intermediateKey, issuedBy: root.issuer),
      key: intermediateKey)
    let leafKey = try SigningKey.generate(.p256)
    let leaf = Member(
      certificate: try builder("Simulated App Store Receipts", .signing, mark: leafMark)
        .certificate(for: leafKey, issuedBy: intermediate.issuer),
      key: leafKey)
    return Members(root: root, intermediate: intermediate, leaf: leaf)
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
  private static let validitySeconds: ClosedRange<Int64> = 1_215_648_000...4_102_444_799
}

extension SigningAuthority.Member {
  package var issuer: CertificateBuilder.Issuer {
    CertificateBuilder.Issuer(certificate: certificate, key: key)
  }
}

extension SimulatorError {
  /// Runs `body` and tells its failure in this module's words.
  static func wrapping<Result>(
    _ body: () throws(CryptographyError) -> Result
  ) throws(SimulatorError) -> Result {
    do {
      return try body()
    } catch {
      throw SimulatorError(.cryptography, error.message)
    }
  }
}
