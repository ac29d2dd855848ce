import Cryptography
import EntitlementDomain
import StoreSimulator
import Testing

@testable import Verification

/// StoreKit Testing in Xcode signs with one certificate that it made itself.
@Suite("Receipts of Xcode")
struct XcodeReceiptTests {
  private static let policy = VerificationPolicy(apps: [
    VerificationPolicy.App(
      bundleID: "com.example.scribe", environments: Set(StoreEnvironment.allCases))
  ])

  private static func certificate() throws -> [UInt8] {
    try CertificateBuilder(
      subject: DistinguishedName(commonName: "StoreKit Testing"), serialNumber: 1,
      validity: 1_600_000_000...1_900_000_000, purpose: .localSigning
    ).certificate(for: ReceiptWorkshop.authority.leaf.key)
  }

  private static func receipt(_ certificate: [UInt8], type: String) throws -> [UInt8] {
    let builder = CMSBuilder(
      signerCertificate: certificate, signerKey: ReceiptWorkshop.authority.leaf.key,
      embeddedCertificates: [certificate])
    return try builder.signedData(
      over: ReceiptWorkshop.content.with(.text(0, type)).encoded, digest: .sha256)
  }

  private static func verifier(trusting certificate: [UInt8]?) throws -> ReceiptVerifier {
    var anchors = ReceiptWorkshop.anchors
    if let certificate {
      try anchors.trust(certificateFile: certificate, for: TrustAnchor.allEnvironments)
    }
    return ReceiptVerifier(anchors: anchors)
  }

  @Test func `a certificate alone is believed where the operator named it, for Xcode only`() throws
  {
    let certificate = try Self.certificate()
    let verifier = try Self.verifier(trusting: certificate)
    let types: [(String, Verdict)] = [
      ("Xcode", .ok), ("Production", .wrongEnvironment), ("ProductionSandbox", .wrongEnvironment),
      ("ProductionVPP", .wrongEnvironment), ("Unheard of", .wrongEnvironment),
    ]
    for (type, expected) in types {
      let receipt = try Self.receipt(certificate, type: type)
      #expect(verdict(verifier, receipt, policy: Self.policy) == expected, "\(type)")
    }
  }

  @Test func `no other certificate is trusted`() throws {
    let certificate = try Self.certificate()
    let receipt = try Self.receipt(certificate, type: "Xcode")
    #expect(
      verdict(try Self.verifier(trusting: nil), receipt, policy: Self.policy)
        == .invalidCertificate)
    var tree = MessageTree(receipt)
    tree.signer[4].value[0] ^= 1
    #expect(
      verdict(try Self.verifier(trusting: certificate), tree.encoded, policy: Self.policy)
        == .invalidSignature)
  }

  @Test func `the app is checked before the scope of a single certificate`() throws {
    let certificate = try Self.certificate()
    let receipt = try Self.receipt(certificate, type: "Production")
    let policy = VerificationPolicy(apps: [
      VerificationPolicy.App(
        bundleID: "com.example.other", environments: Set(StoreEnvironment.allCases))
    ])
    #expect(
      verdict(try Self.verifier(trusting: certificate), receipt, policy: policy) == .wrongApp)
  }

  @Test func `a policy without Xcode refuses it`() throws {
    let certificate = try Self.certificate()
    let receipt = try Self.receipt(certificate, type: "Xcode")
    #expect(verdict(try Self.verifier(trusting: certificate), receipt) == .wrongEnvironment)
  }
}
