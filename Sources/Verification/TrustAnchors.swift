package import Cryptography

/// The trusted root certificates, by fingerprint.
package struct TrustAnchors: Hashable, Sendable {
  /// The origin of a trusted root.
  package enum Origin: Hashable, Sendable {
    /// A built-in root of Apple.
    case apple
    /// Named by the operator, for example for a simulator or for tests. Environments other than the
    /// App Store's are accepted only under these roots (R9).
    case operatorNamed
  }

  /// Apple Root CA - G3, which signs JWS, and Apple Inc. Root CA, which signs receipts.
  package static let apple: TrustAnchors = {
    var anchors = TrustAnchors(origins: [:])
    for words: (UInt64, UInt64, UInt64, UInt64) in [
      (0x6334_3abf_b89a_6a03, 0xebb5_7e9b_3f5f_a7be, 0x7c4f_5c75_6f30_17b3, 0xa8c4_88c3_653e_9179),
      (0xb0b1_730e_cbc7_ff45, 0x0514_2c49_f129_5e6e, 0xda6b_caed_7e2c_68c5, 0xbe91_b5a1_1001_f024),
    ] {
      anchors.origins[CertificateFingerprint(SHA256Digest(words: words))] = .apple
    }
    return anchors
  }()

  private var origins: [CertificateFingerprint: Origin]

  private init(origins: [CertificateFingerprint: Origin]) {
    self.origins = origins
  }

  /// Adds a root. Adding one of Apple's has no effect.
  package mutating func trust(_ fingerprint: CertificateFingerprint) {
    if origins[fingerprint] == nil { origins[fingerprint] = .operatorNamed }
  }

  /// Adds a root by its fingerprint: `sha256:` and 64 hexadecimal digits.
  ///
  /// - Throws: ``CryptographyError/Code/malformedFingerprint``.
  package mutating func trust(fingerprint text: String) throws(CryptographyError) {
    trust(try CertificateFingerprint(parsing: text))
  }

  /// Adds every certificate of a file: one in DER, or any number in PEM.
  ///
  /// - Throws: ``CryptographyError``. No root is added then.
  package mutating func trust(certificateFile contents: [UInt8]) throws(CryptographyError) {
    for certificate in try Certificate.certificates(inFile: contents) {
      trust(certificate.fingerprint)
    }
  }

  /// The roots that the operator named, sorted by fingerprint.
  package var named: [CertificateFingerprint] {
    origins.filter { $0.value == .operatorNamed }.keys
      .sorted { $0.description < $1.description }
  }

  /// The origin of a root; nil if it is not trusted.
  package func origin(of fingerprint: CertificateFingerprint) -> Origin? {
    origins[fingerprint]
  }

  /// Whether a root is one that the operator named, and not Apple's.
  func isNamedByOperator(_ fingerprint: CertificateFingerprint) -> Bool {
    origin(of: fingerprint) == .operatorNamed
  }
}
