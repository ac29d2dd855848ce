package import Cryptography

/// A certificate authority in the shape of Apple's: a P-384 root, a P-384 intermediate and a P-256
/// leaf with Apple's certificate marks. What it signs is genuine to whoever trusts its root, and to
/// nobody else.
package struct SigningAuthority: Sendable {
  package typealias Member = AuthorityMember<SigningKey>

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

  init(_ chain: AuthorityChain<SigningKey>) throws(SimulatorError) {
    try self.init(root: chain.root, intermediate: chain.intermediate, leaf: chain.leaf)
  }

  var chain: AuthorityChain<SigningKey> {
    AuthorityChain(root: root, intermediate: intermediate, leaf: leaf)
  }

  /// New keys and certificates, valid over the whole range of the simulated clock.
  ///
  /// - Throws: ``SimulatorError/Code/cryptography``.
  package static func generate() throws(SimulatorError) -> SigningAuthority {
    try SigningAuthority(
      try SimulatorError.wrapping { () throws(CryptographyError) in
        try AuthorityChain.generate(
          rootName: "Simulated App Store Root",
          authorityKey: { () throws(CryptographyError) in try SigningKey.generate(.p384) },
          leafKey: { () throws(CryptographyError) in try SigningKey.generate(.p256) })
      })
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
