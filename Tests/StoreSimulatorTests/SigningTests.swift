import Cryptography
import StoreSimulator
import Testing

@Suite("Generated keys and certificates")
struct SigningTests {
  static let message = Array("a payload".utf8)
  /// 2020-01-01 to 2030-01-01.
  static let decade: ClosedRange<Int64> = 1_577_836_800...1_893_456_000

  static func builder(
    _ name: String, _ purpose: CertificateBuilder.Purpose = .signing,
    extensions: [CertificateBuilder.Extension] = []
  ) -> CertificateBuilder {
    CertificateBuilder(
      subject: DistinguishedName(commonName: name, organization: "Example", country: "US"),
      serialNumber: 42, validity: decade, purpose: purpose, extensions: extensions)
  }

  @Test(
    "A signature has twice the curve's length and differs each time",
    arguments: SigningCurve.allCases)
  func signatureLength(curve: SigningCurve) throws {
    let key = try SigningKey.generate(curve)
    let first = try key.signature(over: Self.message)
    #expect(first.count == 2 * curve.scalarLength)
    #expect(try key.signature(over: Self.message) != first)
  }

  @Test("A P-256 signature is valid for its own message and key only")
  func verification() throws {
    let key = try SigningKey.generate(.p256)
    let certificate = try Certificate(der: Self.builder("leaf").certificate(for: key))
    let verifyingKey = try certificate.verifyingKey()
    var signature = try key.signature(over: Self.message)
    #expect(try verifyingKey.isValidSignature(signature, of: Self.message))
    #expect(try !verifyingKey.isValidSignature(signature, of: Self.message + [0]))
    signature[10] ^= 1
    #expect(try !verifyingKey.isValidSignature(signature, of: Self.message))
    let other = try SigningKey.generate(.p256).signature(over: Self.message)
    #expect(try !verifyingKey.isValidSignature(other, of: Self.message))
  }

  @Test("A key read back from PEM is the same key", arguments: SigningCurve.allCases)
  func keyInPEM(curve: SigningCurve) throws {
    let key = try SigningKey.generate(curve)
    let pem = try key.privateKeyPEM()
    #expect(String(decoding: pem, as: UTF8.self).hasPrefix("-----BEGIN PRIVATE KEY-----\n"))
    let copy = try SigningKey(privateKeyPEM: pem)
    #expect(copy.curve == curve)
    let certificate = try Self.builder("own").certificate(for: key)
    #expect(copy.belongs(toCertificate: certificate))
    #expect(try !SigningKey.generate(curve).belongs(toCertificate: certificate))
    #expect(!copy.belongs(toCertificate: [1, 2, 3]))
  }

  @Test(
    "A PEM without a plain private key is refused",
    arguments: [
      "", "not PEM", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
      "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n",
    ])
  func badKey(pem: String) {
    let error = #expect(throws: CryptographyError.self) {
      try SigningKey(privateKeyPEM: Array(pem.utf8))
    }
    #expect(error?.code == .malformedPrivateKey)
  }

  @Test("A generated chain is valid and has the given fields")
  func chain() throws {
    let rootKey = try SigningKey.generate(.p384)
    let root = try Self.builder("root", .authority(pathLength: 1)).certificate(for: rootKey)
    let leafKey = try SigningKey.generate(.p256)
    let mark = CertificateBuilder.Extension(objectIdentifier: "1.2.3.4.5")
    let leaf = try Self.builder("leaf", extensions: [mark])
      .certificate(for: leafKey, issuedBy: .init(certificate: root, key: rootKey))

    let parsedRoot = try Certificate(der: root)
    let parsedLeaf = try Certificate(der: leaf)
    #expect(try parsedLeaf.isIssued(by: parsedRoot))
    #expect(try parsedRoot.isIssued(by: parsedRoot))
    #expect(try !parsedRoot.isIssued(by: parsedLeaf))
    #expect(parsedRoot.isAuthority && parsedRoot.mayIssueCertificates && !parsedRoot.maySignData)
    #expect(!parsedLeaf.isAuthority && !parsedLeaf.mayIssueCertificates && parsedLeaf.maySignData)
    #expect(parsedRoot.pathLengthLimit == 1)
    #expect(parsedLeaf.hasExtension("1.2.3.4.5") && !parsedRoot.hasExtension("1.2.3.4.5"))
    #expect(parsedLeaf.validity.lowerBound == Self.decade.lowerBound * 1_000)
    #expect(parsedLeaf.validity.contains(Self.decade.upperBound * 1_000))
    #expect(!parsedLeaf.validity.contains((Self.decade.upperBound + 1) * 1_000))
    #expect(parsedLeaf.subject.contains("CN=leaf"))
    #expect(parsedLeaf.issuer == parsedRoot.subject)
  }

  @Test("A certificate of the same name that another key signed does not belong to the chain")
  func forgedIssuer() throws {
    let rootKey = try SigningKey.generate(.p384)
    let root = try Self.builder("root", .authority(pathLength: nil)).certificate(for: rootKey)
    let impostorKey = try SigningKey.generate(.p384)
    let leaf = try Self.builder("leaf").certificate(
      for: try SigningKey.generate(.p256),
      issuedBy: .init(certificate: root, key: impostorKey))
    #expect(try !Certificate(der: leaf).isIssued(by: Certificate(der: root)))
  }

  @Test("A certificate comes back from PEM byte by byte")
  func certificateInPEM() throws {
    let certificate = try Self.builder("own").certificate(for: try SigningKey.generate(.p256))
    let pem = try CertificatePEM.encode(certificate)
    #expect(try CertificatePEM.decode(pem) == certificate)
    #expect(throws: CryptographyError.self) { try CertificatePEM.encode(certificate + [0]) }
    let error = #expect(throws: CryptographyError.self) {
      try CertificatePEM.decode(Array("nothing".utf8))
    }
    #expect(error?.code == .malformedPEM)
  }
}
