package import Cryptography

/// A certificate authority with the structure of the one for Apple's legacy receipts: a root, an
/// intermediate and a leaf with RSA keys. The intermediate and the leaf have Apple's marker
/// extensions. Only verifiers that trust its root accept its signatures.
package struct ReceiptAuthority: Sendable {
  package typealias Member = AuthorityMember<RSASigningKey>

  /// The hash function of a receipt's signature.
  package enum Digest: String, Hashable, Sendable, CaseIterable {
    case sha256
    /// For receipts before 2023.
    case sha1
  }

  package let root: Member
  package let intermediate: Member
  package let leaf: Member
  /// SHA-256 of the root certificate.
  package let rootFingerprint: CertificateFingerprint

  /// - Throws: ``SimulatorError/Code/cryptography`` when the root is not a certificate.
  package init(root: Member, intermediate: Member, leaf: Member) throws(SimulatorError) {
    self.root = root
    self.intermediate = intermediate
    self.leaf = leaf
    rootFingerprint = try SimulatorError.wrapping { () throws(CryptographyError) in
      try Certificate(der: root.certificate).fingerprint
    }
  }

  init(_ chain: AuthorityChain<RSASigningKey>) throws(SimulatorError) {
    try self.init(root: chain.root, intermediate: chain.intermediate, leaf: chain.leaf)
  }

  var chain: AuthorityChain<RSASigningKey> {
    AuthorityChain(root: root, intermediate: intermediate, leaf: leaf)
  }

  /// Generates keys and certificates that are valid over the whole range of the simulated clock.
  /// Takes some tenths of a second.
  ///
  /// - Throws: ``SimulatorError/Code/cryptography``.
  package static func generate() throws(SimulatorError) -> ReceiptAuthority {
    let makeKey = { () throws(CryptographyError) in try RSASigningKey.generate() }
    return try ReceiptAuthority(
      try SimulatorError.wrapping { () throws(CryptographyError) in
        try AuthorityChain.generate(
          rootName: "Simulated App Store Receipt Root", authorityKey: makeKey, leafKey: makeKey)
      })
  }

  /// Signs a receipt, as an app finds it on its device. The same receipt gives the same bytes.
  ///
  /// - Returns: CMS SignedData in DER, with the three certificates embedded.
  /// - Throws: ``SimulatorError/Code/cryptography``.
  package func sign(
    _ receipt: SimulatedReceipt, digest: Digest = .sha256
  ) throws(SimulatorError) -> [UInt8] {
    try sign(content: try receipt.content(), digest: digest)
  }

  /// Signs any content as if it were a receipt's.
  ///
  /// - Parameter embedding: the certificates to embed, in DER; nil for all three.
  /// - Returns: CMS SignedData in DER.
  /// - Throws: ``SimulatorError/Code/cryptography``.
  package func sign(
    content: [UInt8], digest: Digest = .sha256, embedding certificates: [[UInt8]]? = nil
  ) throws(SimulatorError) -> [UInt8] {
    let builder = CMSBuilder(
      signerCertificate: leaf.certificate, signerKey: leaf.key,
      embeddedCertificates: certificates
        ?? [leaf.certificate, intermediate.certificate, root.certificate])
    return try SimulatorError.wrapping { () throws(CryptographyError) in
      try builder.signedData(over: content, digest: digest.ofMessage)
    }
  }
}

extension ReceiptAuthority.Digest {
  fileprivate var ofMessage: CMSDigest {
    switch self {
    case .sha256: .sha256
    case .sha1: .sha1
    }
  }
}

extension ReceiptAuthority {
  /// Loads the authority from the directory of a ``SigningAuthority``, or generates and saves one
  /// there.
  ///
  /// Keys and certificates are PEM files that only their owner can read.
  ///
  /// - Throws: ``SimulatorError/Code/file``, ``SimulatorError/Code/damagedAuthority`` when some of
  ///   the files are missing or do not belong together, ``SimulatorError/Code/cryptography``.
  package static func loadOrCreate(inDirectory path: String) throws(SimulatorError)
    -> ReceiptAuthority
  {
    let chain = try AuthorityChain.loadOrCreate(in: files(in: path)) {
      () throws(SimulatorError) in try generate().chain
    }
    return try ReceiptAuthority(chain)
  }

  /// The root certificate in PEM, for a file with the trust anchor.
  ///
  /// - Throws: ``SimulatorError/Code/cryptography``.
  package func rootPEM() throws(SimulatorError) -> [UInt8] {
    try root.certificatePEM()
  }

  private static func files(in path: String) -> AuthorityChain<RSASigningKey>.Files {
    AuthorityChain.Files(
      directory: PrivateDirectory(path: path), prefix: "receipt-",
      advice: "remove the other receipt-*.pem files to generate new ones")
  }
}
