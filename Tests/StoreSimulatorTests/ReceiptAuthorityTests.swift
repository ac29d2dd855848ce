import Cryptography
import EntitlementDomain
import Foundation
import StoreSimulator
import TestSupport
import Testing

@Suite("The receipt authority of the simulated App Store")
struct ReceiptAuthorityTests {
  @Test("Its certificates have Apple's structure and extensions, with RSA keys")
  func shape() throws {
    let authority = try ReceiptAuthority.generate()
    let root = try Certificate(der: authority.root.certificate)
    let intermediate = try Certificate(der: authority.intermediate.certificate)
    let leaf = try Certificate(der: authority.leaf.certificate)
    #expect(leaf.hasExtension("1.2.840.113635.100.6.11.1"))
    #expect(intermediate.hasExtension("1.2.840.113635.100.6.2.1"))
    #expect(!root.hasExtension("1.2.840.113635.100.6.2.1"))
    #expect(try leaf.isIssued(by: intermediate) && intermediate.isIssued(by: root))
    #expect(root.isAuthority && intermediate.isAuthority && !leaf.isAuthority)
    #expect(leaf.maySignData && !intermediate.maySignData)
    #expect(authority.rootFingerprint == root.fingerprint)
    for certificate in [root, intermediate, leaf] {
      #expect(certificate.validity.contains(SimulatedCalendar.range.lowerBound.rawValue))
      #expect(certificate.validity.contains(SimulatedCalendar.range.upperBound.rawValue))
    }
    // No P-256 key: such a leaf signs no JWS.
    #expect(throws: CryptographyError.self) { try leaf.verifyingKey() }
  }

  @Test("It is saved next to the signing authority, in files that only the owner can read")
  func reload() throws {
    let directory = try TemporaryDirectory()
    let signing = try SigningAuthority.loadOrCreate(inDirectory: directory.path)
    // As a version without receipts left it.
    #expect(try directory.files(in: "").count == 6)
    let made = try ReceiptAuthority.loadOrCreate(inDirectory: directory.path)
    let loaded = try ReceiptAuthority.loadOrCreate(inDirectory: directory.path)
    #expect(loaded.rootFingerprint == made.rootFingerprint)
    let receipt = SimulatedReceipt(creationDate: 1_700_000_000_000)
    #expect(try loaded.sign(receipt) == made.sign(receipt))
    #expect(
      try SigningAuthority.loadOrCreate(inDirectory: directory.path).rootFingerprint
        == signing.rootFingerprint)
    #expect(made.rootFingerprint != signing.rootFingerprint)
    let files = try directory.files(in: "")
    #expect(files.count == 12)
    for file in files { #expect(try directory.permissions(of: file) == 0o600, "\(file)") }
    #expect(
      try Certificate.certificates(inFile: loaded.rootPEM()).first?.fingerprint
        == made.rootFingerprint)
  }

  @Test("Concurrent callers get the same authority")
  func together() async throws {
    let directory = try TemporaryDirectory()
    let path = directory.path
    let fingerprints = try await withThrowingTaskGroup(of: CertificateFingerprint.self) { group in
      for _ in 0..<4 {
        group.addTask { try ReceiptAuthority.loadOrCreate(inDirectory: path).rootFingerprint }
      }
      return try await group.reduce(into: Set()) { $0.insert($1) }
    }
    #expect(fingerprints.count == 1)
  }

  @Test(
    "An incomplete authority is refused and not changed, and the error gives advice",
    arguments: ["receipt-root.key.pem", "receipt-root.pem", "receipt-leaf.key.pem"])
  func incomplete(file: String) throws {
    let directory = try TemporaryDirectory()
    _ = try ReceiptAuthority.loadOrCreate(inDirectory: directory.path)
    try directory.removeFile(file)
    let error = #expect(throws: SimulatorError.self) {
      try ReceiptAuthority.loadOrCreate(inDirectory: directory.path)
    }
    #expect(error?.code == .damagedAuthority)
    #expect(error?.message.contains(file) == true)
    #expect(error?.message.contains("receipt-*.pem") == true)
    #expect(try directory.files(in: "").count == 5)
  }

  @Test("Files that do not belong together, or are of another kind, are refused")
  func mixed() throws {
    let directory = try TemporaryDirectory()
    _ = try SigningAuthority.loadOrCreate(inDirectory: "\(directory.path)/one")
    _ = try ReceiptAuthority.loadOrCreate(inDirectory: "\(directory.path)/one")
    _ = try ReceiptAuthority.loadOrCreate(inDirectory: "\(directory.path)/two")
    let copies = [
      // A P-256 key, a key without its certificate, then a root that issued nothing here.
      ("one/leaf.key.pem", "one/receipt-leaf.key.pem"),
      ("two/receipt-leaf.key.pem", "one/receipt-leaf.key.pem"),
      ("two/receipt-root.key.pem", "two/receipt-intermediate.key.pem"),
    ]
    for (original, copy) in copies {
      try directory.copyFile(original, to: copy)
      let error = #expect(throws: SimulatorError.self) {
        try ReceiptAuthority.loadOrCreate(
          inDirectory: "\(directory.path)/\(copy.prefix { $0 != "/" })")
      }
      #expect(error?.code == .damagedAuthority, "\(copy)")
    }
    let three = try TemporaryDirectory()
    _ = try ReceiptAuthority.loadOrCreate(inDirectory: "\(three.path)/one")
    _ = try ReceiptAuthority.loadOrCreate(inDirectory: "\(three.path)/two")
    for file in ["receipt-root.key.pem", "receipt-root.pem"] {
      try three.copyFile("two/\(file)", to: "one/\(file)")
    }
    let error = #expect(throws: SimulatorError.self) {
      try ReceiptAuthority.loadOrCreate(inDirectory: "\(three.path)/one")
    }
    #expect(error?.message.contains("do not belong together") == true)
  }

  @Test("An RSA key read back from PEM is the same key, and the kinds are told apart")
  func keyInPEM() throws {
    let key = try RSASigningKey.generate()
    let copy = try RSASigningKey(privateKeyPEM: key.privateKeyPEM())
    let builder = SigningTests.builder("own")
    let certificate = try builder.certificate(for: key)
    #expect(copy.belongs(toCertificate: certificate))
    #expect(try !RSASigningKey.generate().belongs(toCertificate: certificate))
    #expect(try builder.certificate(for: copy) == certificate)
    let elliptic = try SigningKey.generate(.p256).privateKeyPEM()
    for (read, pem) in [
      ("RSA", elliptic), ("RSA", Array("nothing".utf8)),
      ("EC", try key.privateKeyPEM()),
    ] {
      let error = #expect(throws: CryptographyError.self) {
        if read == "RSA" {
          _ = try RSASigningKey(privateKeyPEM: pem)
        } else {
          _ = try SigningKey(privateKeyPEM: pem)
        }
      }
      #expect(error?.code == .malformedPrivateKey)
    }
  }

  @Test("A key cannot sign with the certificate of another key")
  func foreignKey() throws {
    let authority = try ReceiptAuthority.generate()
    let builder = CMSBuilder(
      signerCertificate: authority.leaf.certificate, signerKey: authority.root.key,
      embeddedCertificates: [])
    let error = #expect(throws: CryptographyError.self) {
      try builder.signedData(over: [1, 2, 3], digest: .sha256)
    }
    #expect(error?.code == .signingFailed)
  }

  @Test(
    "An RSA key that is shorter than Apple's is refused",
    .enabled(if: OpenSSL.isInstalled, "the program openssl is not installed"))
  func shortKey() throws {
    let directory = try TemporaryDirectory()
    for (length, isTaken) in [(1_024, false), (2_048, true), (3_072, true)] {
      let path = "\(directory.path)/\(length).pem"
      let made = try OpenSSLProgram.run([
        "genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:\(length)", "-out", path,
      ])
      #expect(made.code == 0)
      let pem = Array(try Data(contentsOf: URL(filePath: path)))
      #expect(((try? RSASigningKey(privateKeyPEM: pem)) != nil) == isTaken, "\(length)")
    }
  }
}
