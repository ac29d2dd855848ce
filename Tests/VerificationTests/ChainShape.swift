import Cryptography
import StoreSimulator

/// How an authority is to be made, wrong in one respect.
struct ChainShape {
  var rootPurpose = CertificateBuilder.Purpose.authority(pathLength: nil)
  var intermediatePurpose = CertificateBuilder.Purpose.authority(pathLength: 0)
  var leafPurpose = CertificateBuilder.Purpose.signing
  var rootHasKeyUsage = true
  var intermediateHasKeyUsage = true
  var leafHasKeyUsage = true
  var leafMark: String? = SigningAuthority.leafMark
  var leafMarkIsCritical = false
  var intermediateMark: String? = SigningAuthority.intermediateMark
  var rootCurve = SigningCurve.p384
  var intermediateCurve = SigningCurve.p384
  var leafCurve = SigningCurve.p256
  var leafCriticalExtension: CriticalExtension?
  var intermediateCriticalExtension: CriticalExtension?
  /// Seconds since the Unix epoch.
  var leafValidity: ClosedRange<Int64> = 1_600_000_000...1_900_000_000
  var intermediateValidity: ClosedRange<Int64> = 1_600_000_000...1_900_000_000
  var rootValidity: ClosedRange<Int64> = 1_600_000_000...1_900_000_000
  /// Common names, from the root to the leaf.
  var names = ["Test Root", "Test Intermediate", "Test Leaf"]

  /// An extension that is marked as critical.
  enum CriticalExtension {
    case unknown
    case policies
    case extendedUsage
    case nameConstraints

    var item: CertificateBuilder.Extension {
      switch self {
      case .unknown:
        CertificateBuilder.Extension(objectIdentifier: "1.2.3.4", isCritical: true)
      case .policies:
        // anyPolicy (RFC 5280 section 4.2.1.4).
        CertificateBuilder.Extension(
          objectIdentifier: "2.5.29.32", isCritical: true,
          value: [0x30, 0x08, 0x30, 0x06, 0x06, 0x04, 0x55, 0x1D, 0x20, 0x00])
      case .extendedUsage:
        // codeSigning (section 4.2.1.12).
        CertificateBuilder.Extension(
          objectIdentifier: "2.5.29.37", isCritical: true,
          value: [0x30, 0x0A, 0x06, 0x08, 0x2B, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x03])
      case .nameConstraints:
        // Only DNS names under "x" (section 4.2.1.10).
        CertificateBuilder.Extension(
          objectIdentifier: "2.5.29.30", isCritical: true,
          value: [0x30, 0x07, 0xA0, 0x05, 0x30, 0x03, 0x82, 0x01, 0x78])
      }
    }
  }

  /// - Parameter named: the root, where it is not to be made.
  func authority(under named: SigningAuthority.Member? = nil) throws -> SigningAuthority {
    let root =
      if let named { named } else {
        try member(
          names[0], rootCurve, rootPurpose, rootValidity, hasKeyUsage: rootHasKeyUsage,
          extensions: [], issuer: nil)
      }
    let intermediate = try member(
      names[1], intermediateCurve, intermediatePurpose, intermediateValidity,
      hasKeyUsage: intermediateHasKeyUsage,
      extensions: mark(intermediateMark) + critical(intermediateCriticalExtension), issuer: root)
    let leaf = try member(
      names[2], leafCurve, leafPurpose, leafValidity, hasKeyUsage: leafHasKeyUsage,
      extensions: mark(leafMark, isCritical: leafMarkIsCritical) + critical(leafCriticalExtension),
      issuer: intermediate)
    return try SigningAuthority(root: root, intermediate: intermediate, leaf: leaf)
  }

  private func mark(
    _ identifier: String?, isCritical: Bool = false
  ) -> [CertificateBuilder.Extension] {
    identifier.map {
      [CertificateBuilder.Extension(objectIdentifier: $0, isCritical: isCritical)]
    } ?? []
  }

  private func critical(_ item: CriticalExtension?) -> [CertificateBuilder.Extension] {
    item.map { [$0.item] } ?? []
  }

  private func member(
    _ name: String, _ curve: SigningCurve, _ purpose: CertificateBuilder.Purpose,
    _ validity: ClosedRange<Int64>, hasKeyUsage: Bool,
    extensions: [CertificateBuilder.Extension], issuer: SigningAuthority.Member?
  ) throws -> SigningAuthority.Member {
    let key = try SigningKey.generate(curve)
    let builder = CertificateBuilder(
      subject: DistinguishedName(commonName: name), serialNumber: UInt64.random(in: 1...1 << 62),
      validity: validity, purpose: purpose, hasKeyUsage: hasKeyUsage, extensions: extensions)
    return SigningAuthority.Member(
      certificate: try builder.certificate(for: key, issuedBy: issuer?.issuer), key: key)
  }
}
