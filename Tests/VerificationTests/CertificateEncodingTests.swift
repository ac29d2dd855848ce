import Cryptography
import EntitlementDomain
import StoreSimulator
import TestSupport
import Testing
import Verification

@Suite("Certificates written otherwise")
struct CertificateEncodingTests {
  let workshop = Workshop.shared

  private var certificates: [[UInt8]] {
    [workshop.authority.leaf, workshop.authority.intermediate, workshop.authority.root]
      .map(\.certificate)
  }

  /// The content of a sequence with a length of two bytes, as certificates have.
  private static func content(of der: [UInt8]) throws -> [UInt8] {
    try #require(der.prefix(2) == [0x30, 0x82])
    return Array(der.dropFirst(4))
  }

  private static func length(_ count: Int) -> [UInt8] {
    [0x82, UInt8(count >> 8), UInt8(count & 255)]
  }

  /// The same certificate in BER: the outer length with redundant bytes, and indefinite.
  private static func reencodedOutside(_ der: [UInt8]) throws -> [[UInt8]] {
    let content = try content(of: der)
    let short = length(content.count)
    return [
      [0x30, 0x83, 0x00] + short.dropFirst() + content,
      [0x30, 0x84, 0x00, 0x00] + short.dropFirst() + content,
      [0x30, 0x80] + content + [0x00, 0x00],
    ]
  }

  /// The same with the signature's bit string in BER: its length with a byte more.
  private static func reencodedSignature(_ der: [UInt8]) throws -> [UInt8] {
    var certificate = DERNode(parsing: der)
    let signature = try #require(certificate.children.last)
    try #require(signature.tag == 0x03 && signature.value.count < 0x80)
    let length = [0x81, UInt8(signature.value.count)]
    certificate.children[2] = DERNode(raw: [signature.tag] + length + signature.value)
    return certificate.encoded
  }

  /// The same with the signed part in BER: its length has a redundant byte.
  private static func reencodedInside(_ der: [UInt8]) throws -> [UInt8] {
    let content = try content(of: der)
    try #require(content.prefix(2) == [0x30, 0x82])
    let changed = [0x30, 0x83, 0x00] + content.dropFirst(2)
    return [0x30] + length(changed.count) + changed
  }

  private func verdict(replacing index: Int, by certificate: [UInt8]) throws -> Verdict {
    var certificates = certificates
    certificates[index] = certificate
    let jws = try workshop.sign(header: Header(certificates: certificates))
    return VerificationTests.verdict(workshop.verifier, jws)
  }

  @Test(arguments: 0..<3)
  func `a certificate in BER instead of DER is invalid`(index: Int) throws {
    for other in try Self.reencodedOutside(certificates[index]) {
      #expect(try verdict(replacing: index, by: other) == .invalidCertificate)
    }
    let signature = try Self.reencodedSignature(certificates[index])
    #expect(try verdict(replacing: index, by: signature) == .invalidCertificate)
    // The signed part is kept as received, so the signature or the fingerprint is wrong.
    let inside = try verdict(replacing: index, by: try Self.reencodedInside(certificates[index]))
    #expect([.invalidCertificate, .untrustedChain].contains(inside))
  }

  @Test(arguments: 0..<3)
  func `lengths that lie are invalid`(index: Int) throws {
    let der = certificates[index]
    for length in [
      [0x00], [0x7F], [0x80], [0x81, 0xFF], [0x82, 0x00, 0x00], [0x82, 0xFF, 0xFF],
      [0x84] + [
        0x7F, 0xFF, 0xFF, 0xFF,
      ], [0x88] + [UInt8](repeating: 0xFF, count: 8), [0xFF],
    ] as [[UInt8]] {
      let other = [0x30] + length + der.dropFirst(4)
      #expect(try verdict(replacing: index, by: other) == .invalidCertificate)
    }
    for other in [
      [], [0x30], [0x30, 0x00], [0x05, 0x00], der + der, der + [0x00], Array(der.dropFirst()),
      Array(repeating: 0x30, count: 4_000), Array("-----BEGIN CERTIFICATE-----".utf8),
    ] as [[UInt8]] {
      #expect(try verdict(replacing: index, by: other) == .invalidCertificate)
    }
  }

  @Test func `a chain that only bears Apple's names is not trusted`() throws {
    let shape = ChainShape(names: [
      "Apple Root CA - G3", "Apple Worldwide Developer Relations Certification Authority",
      "Prod ECC Mac App Store and iTunes Store Receipt Signing",
    ])
    let jws = try Workshop(authority: try shape.authority()).sign(.transaction())
    #expect(VerificationTests.verdict(workshop.verifier, jws) == .untrustedChain)
    #expect(VerificationTests.verdict(JWSVerifier(), jws) == .untrustedChain)
  }

  @Test func `a root counts by its fingerprint, not by its own signature`() throws {
    var certificates = certificates
    certificates[2][certificates[2].count - 1] ^= 1
    let jws = try workshop.sign(header: Header(certificates: certificates))
    // An altered certificate has another fingerprint, which is not named.
    #expect(VerificationTests.verdict(workshop.verifier, jws) == .untrustedChain)
    // Named as it is, nothing else vouches for it (RFC 5280 section 6.1.1).
    var anchors = TrustAnchors.apple
    try anchors.trust(certificateFile: certificates[2], for: TrustAnchor.allEnvironments)
    #expect(VerificationTests.verdict(JWSVerifier(anchors: anchors), jws) == .ok)
  }

  @Test func `certificates of two authorities do not mix, even if both are trusted`() throws {
    let twin = Workshop.twin.authority
    var anchors = workshop.anchors
    anchors.trust(twin.rootFingerprint, for: TrustAnchor.allEnvironments)
    let verifier = JWSVerifier(anchors: anchors)
    let own = certificates
    let other = [twin.leaf, twin.intermediate, twin.root].map(\.certificate)
    for mask in 0..<8 {
      let mixed = (0..<3).map { mask & 1 << $0 == 0 ? own[$0] : other[$0] }
      let key = mask & 1 == 0 ? workshop.authority.leaf.key : twin.leaf.key
      let jws = try workshop.sign(header: Header(certificates: mixed), key: key)
      let expected: Verdict = mask == 0 || mask == 7 ? .ok : .untrustedChain
      #expect(VerificationTests.verdict(verifier, jws) == expected, "mask \(mask)")
    }
  }
}
