package import Cryptography

/// A certificate authority with the structure of Apple's: a P-384 root, a P-384 intermediate and a
/// P-256 leaf with Apple's marker extensions. Only verifiers that trust its root accept its
/// signatures.
package struct SigningAuthority: SimulatedSigner {
  package typealias Member = AuthorityMember<SigningKey>

  /// The extension that marks a leaf as a signer of App Store data.
  package static let leafMark = "1.2.840.113635.100.6.11.1"
  /// The extension that marks an intermediate as an authority for developer relations.
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

  /// Generates keys and certificates that are valid over the whole range of the simulated clock.
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
  package func sign(payloadJSON: [UInt8]) throws(SimulatorError) -> String {
    try Self.sign(payloadJSON: payloadJSON, header: headerSegment, by: leaf.key)
  }

  /// - Parameter header: the header in base64url.
  static func sign(
    payloadJSON: [UInt8], header: [UInt8], by key: SigningKey
  ) throws(SimulatorError) -> String {
    let separator = UInt8(ascii: ".")
    var text = header
    text.append(separator)
    text += Base64Form.urlWithoutPadding.encode(payloadJSON)
    let signature = try SimulatorError.wrapping { () throws(CryptographyError) in
      try key.signature(over: text)
    }
    text.append(separator)
    text += Base64Form.urlWithoutPadding.encode(signature)
    return String(decoding: text, as: UTF8.self)
  }

  /// - Parameters:
  ///   - chain: leaf, intermediate and root, in DER; or one certificate that stands alone.
  ///   - keyIdentifier: `kid`, which the App Store does not write.
  static func headerSegment(chain: [[UInt8]], keyIdentifier: String? = nil) -> [UInt8] {
    var header = JSONObjectWriter()
    header.set("kid", keyIdentifier)
    header.set("typ", keyIdentifier == nil ? nil : "JWT")
    header.set("alg", "ES256")
    header.set(
      "x5c", chain.map { String(decoding: Base64Form.standard.encode($0), as: UTF8.self) })
    return Base64Form.urlWithoutPadding.encode(header.bytes)
  }
}

extension SigningAuthority {
  /// Loads the authority from a directory, or generates and saves one there, so that the
  /// fingerprint of the root stays the same between runs.
  ///
  /// Keys and certificates are PEM files that only their owner can read.
  ///
  /// - Throws: ``SimulatorError/Code/file``, ``SimulatorError/Code/damagedAuthority`` when some of
  ///   the files are missing or do not belong together, ``SimulatorError/Code/cryptography``.
  package static func loadOrCreate(inDirectory path: String) throws(SimulatorError)
    -> SigningAuthority
  {
    let chain = try AuthorityChain.loadOrCreate(in: files(in: path)) {
      () throws(SimulatorError) in try generate().chain
    }
    return try SigningAuthority(loaded: chain, in: path)
  }

  /// Loads the authority that ``loadOrCreate(inDirectory:)`` has saved in a directory.
  ///
  /// - Throws: as ``loadOrCreate(inDirectory:)``.
  package static func load(fromDirectory path: String) throws(SimulatorError) -> SigningAuthority {
    try SigningAuthority(loaded: try AuthorityChain.load(from: files(in: path)), in: path)
  }

  /// The root certificate in PEM, for a file with the trust anchor.
  ///
  /// - Throws: ``SimulatorError/Code/cryptography``.
  package func rootPEM() throws(SimulatorError) -> [UInt8] {
    try root.certificatePEM()
  }

  private init(loaded chain: AuthorityChain<SigningKey>, in path: String) throws(SimulatorError) {
    guard chain.leaf.key.curve == .p256 else {
      throw SimulatorError(.damagedAuthority, "the leaf's key in \(path) is not on P-256")
    }
    try self.init(chain)
  }

  private static func files(in path: String) -> AuthorityChain<SigningKey>.Files {
    AuthorityChain.Files(
      directory: PrivateDirectory(path: path), prefix: "",
      advice: "use a directory with a complete authority, or an empty one")
  }
}
