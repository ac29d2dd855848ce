package import Cryptography
package import EntitlementDomain

/// A trusted root certificate, and what is accepted under it.
package struct TrustAnchor: Hashable, Sendable {
  /// Whether the operator named it. Apple's are built in.
  package let isNamed: Bool
  /// The environments whose payloads are accepted under it (R9).
  package let environments: Set<StoreEnvironment>

  /// A root of Apple, which signs for the environments of the App Store.
  package static let apple = TrustAnchor(isNamed: false, environments: [.production, .sandbox])

  /// A root that the operator named, for example of Xcode or of a simulator.
  package static func named(for environments: Set<StoreEnvironment>) -> TrustAnchor {
    TrustAnchor(isNamed: true, environments: environments)
  }

  package static let allEnvironments = Set(StoreEnvironment.allCases)

  /// The environments of a root that is named without one. Production is not among them: a root of a
  /// simulator, which anyone can have made, must be named for it explicitly.
  package static let defaultEnvironments = allEnvironments.subtracting([.production])

  /// Checks whether payloads of an environment are accepted under this root (R9).
  ///
  /// - Throws: ``Refusal`` with ``Verdict/wrongEnvironment``.
  func check(_ environment: StoreEnvironment) throws(Refusal) {
    guard !environments.contains(environment) else { return }
    throw Refusal(
      .wrongEnvironment,
      isNamed
        ? "the operator did not name the root certificate for \(environment.rawValue)"
        : "\(environment.rawValue) is accepted only under a root that the operator named")
  }
}

/// The trusted root certificates, by fingerprint.
package struct TrustAnchors: Hashable, Sendable {
  /// Apple Root CA - G3, which signs JWS, and Apple Inc. Root CA, which signs receipts.
  package static let apple: TrustAnchors = {
    var anchors = TrustAnchors(anchors: [:])
    for words: (UInt64, UInt64, UInt64, UInt64) in [
      (0x6334_3abf_b89a_6a03, 0xebb5_7e9b_3f5f_a7be, 0x7c4f_5c75_6f30_17b3, 0xa8c4_88c3_653e_9179),
      (0xb0b1_730e_cbc7_ff45, 0x0514_2c49_f129_5e6e, 0xda6b_caed_7e2c_68c5, 0xbe91_b5a1_1001_f024),
    ] {
      anchors.anchors[CertificateFingerprint(SHA256Digest(words: words))] = .apple
    }
    return anchors
  }()

  /// No roots, not even Apple's.
  package static let none = TrustAnchors(anchors: [:])

  private var anchors: [CertificateFingerprint: TrustAnchor]

  private init(anchors: [CertificateFingerprint: TrustAnchor]) {
    self.anchors = anchors
  }

  /// Adds a root for some environments, to those that it was named for before. Adding one of Apple's
  /// has no effect.
  package mutating func trust(
    _ fingerprint: CertificateFingerprint, for environments: Set<StoreEnvironment>
  ) {
    let known = anchors[fingerprint]
    if known?.isNamed == false { return }
    anchors[fingerprint] = .named(for: environments.union(known?.environments ?? []))
  }

  /// Adds every certificate of a file: one in DER, or any number in PEM.
  ///
  /// - Throws: ``CryptographyError``. No root is added then.
  package mutating func trust(
    certificateFile contents: [UInt8], for environments: Set<StoreEnvironment>
  ) throws(CryptographyError) {
    for certificate in try Certificate.certificates(inFile: contents) {
      trust(certificate.fingerprint, for: environments)
    }
  }

  /// The roots that the operator named, sorted by fingerprint.
  package var named: [(fingerprint: CertificateFingerprint, anchor: TrustAnchor)] {
    anchors.filter { $0.value.isNamed }
      .map { (fingerprint: $0.key, anchor: $0.value) }
      .sorted { $0.fingerprint.description < $1.fingerprint.description }
  }

  /// Whether payloads of an environment are accepted under any root, Apple's included.
  package func trusts(_ environment: StoreEnvironment) -> Bool {
    anchors.values.contains { $0.environments.contains(environment) }
  }

  /// Nil if no root with this fingerprint is trusted.
  package func anchor(of fingerprint: CertificateFingerprint) -> TrustAnchor? {
    anchors[fingerprint]
  }

  /// Whether the operator named a root for Xcode.
  func isNamedForXcode(_ fingerprint: CertificateFingerprint) -> Bool {
    anchors[fingerprint].map { $0.isNamed && $0.environments.contains(.xcode) } ?? false
  }
}
