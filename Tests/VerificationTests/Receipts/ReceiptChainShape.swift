import Cryptography
import StoreSimulator

/// How a receipt authority is to be made, wrong in one respect. All share the keys of the workshop:
/// making them takes time.
struct ReceiptChainShape: Sendable {
  var rootPurpose = CertificateBuilder.Purpose.authority(pathLength: nil)
  var intermediatePurpose = CertificateBuilder.Purpose.authority(pathLength: 0)
  var leafPurpose = CertificateBuilder.Purpose.signing
  /// Of the root and the intermediate.
  var issuersHaveKeyUsage = true
  var leafMark: String? = SigningAuthority.leafMark
  var intermediateMark: String? = SigningAuthority.intermediateMark
  /// Seconds since the Unix epoch.
  var leafValidity: ClosedRange<Int64> = 1_600_000_000...1_900_000_000
  var intermediateValidity: ClosedRange<Int64> = 1_600_000_000...1_900_000_000
  var rootValidity: ClosedRange<Int64> = 1_600_000_000...1_900_000_000
  /// The intermediate certificate is signed by a key that is not the root's.
  var intermediateIsForged = false
  /// The leaf is signed by a key that is not the intermediate one's.
  var leafIsForged = false

  /// - Parameter leafKey: the workshop's unless given.
  func authority(leafKey: RSASigningKey? = nil) throws -> ReceiptAuthority {
    let keys = ReceiptWorkshop.authority
    let root = try member(
      "Root", keys.root.key, rootPurpose, rootValidity, nil, hasKeyUsage: issuersHaveKeyUsage,
      issuer: nil)
    let intermediate = try member(
      "Intermediate", keys.intermediate.key, intermediatePurpose, intermediateValidity,
      intermediateMark, hasKeyUsage: issuersHaveKeyUsage,
      issuer: CertificateBuilder.Issuer(
        certificate: root.certificate, key: intermediateIsForged ? keys.leaf.key : root.key))
    let leaf = try member(
      "Leaf", leafKey ?? keys.leaf.key, leafPurpose, leafValidity, leafMark, hasKeyUsage: true,
      issuer: CertificateBuilder.Issuer(
        certificate: intermediate.certificate,
        key: leafIsForged ? keys.root.key : intermediate.key))
    return try ReceiptAuthority(root: root, intermediate: intermediate, leaf: leaf)
  }

  private func member(
    _ name: String, _ key: RSASigningKey, _ purpose: CertificateBuilder.Purpose,
    _ validity: ClosedRange<Int64>, _ mark: String?, hasKeyUsage: Bool,
    issuer: CertificateBuilder.Issuer?
  ) throws -> ReceiptAuthority.Member {
    let extensions = mark.map { [CertificateBuilder.Extension(objectIdentifier: $0)] } ?? []
    let builder = CertificateBuilder(
      subject: DistinguishedName(commonName: "Receipt Test \(name)"),
      serialNumber: UInt64.random(in: 1...1 << 62), validity: validity, purpose: purpose,
      hasKeyUsage: hasKeyUsage, extensions: extensions)
    return ReceiptAuthority.Member(
      certificate: try builder.certificate(for: key, issuedBy: issuer), key: key)
  }
}
