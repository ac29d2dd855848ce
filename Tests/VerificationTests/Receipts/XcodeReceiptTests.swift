import AppStorePayloads
import Cryptography
import EntitlementDomain
import StoreSimulator
import TestSupport
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

  // The form of Xcode: indefinite lengths, and a certificate for code signing.

  private static let xcode = Result { try XcodeAuthority.generate() }

  private static var content: ReceiptContent { ReceiptWorkshop.content.with(.text(0, "Xcode")) }

  private static func xcodeVerifier() throws -> ReceiptVerifier {
    var anchors = ReceiptWorkshop.anchors
    anchors.trust(try xcode.get().receiptFingerprint, for: [.xcode, .localTesting])
    return ReceiptVerifier(anchors: anchors)
  }

  /// The structure of `der` with indefinite lengths, as far down as Xcode writes them.
  private static func indefinite(_ der: [UInt8]) -> [UInt8] {
    func open(_ tag: UInt8, _ contents: [UInt8]) -> [UInt8] { [tag, 0x80] + contents + [0, 0] }
    let tree = MessageTree(der)
    let octets = tree.content.children[1].children[0]
    let content = open(
      0x30,
      tree.content.children[0].encoded + open(0xA0, open(0x24, octets.encoded)))
    let parts = tree.signedData
    let signedData = open(
      0x30,
      parts[0].encoded + parts[1].encoded + content + parts[3].encoded + parts[4].encoded)
    return open(0x30, tree.root.children[0].encoded + open(0xA0, signedData))
  }

  @Test func `a receipt of Xcode is accepted under the certificate that the operator named`() throws
  {
    let authority = try Self.xcode.get()
    let signed = try authority.sign(receiptContent: Self.content.encoded)
    #expect(Array(signed.prefix(2)) == [0x30, 0x80])
    let verifier = try Self.xcodeVerifier()
    let verified = try verifier.verify(signed, policy: Self.policy)
    #expect(verified.receipt.environment == .xcode)
    #expect(verified.facts.count == 2)
    // In base64, and once more while the signer is cached.
    for form in [Base64Form.standard.encode(signed), signed] {
      #expect(verdict(verifier, form, policy: Self.policy) == .ok)
    }
    #expect(verifier.cache.count == 1)
    // What is stored is DER, and is accepted again.
    guard case .document(let stored) = try verified.facts[0].get().signed.proof else { return }
    #expect(!IndefiniteForm.isUsed(by: stored))
    let again = try verifier.verify(stored, policy: Self.policy)
    #expect(again.receipt == verified.receipt)
    #expect(try again.facts.map { try $0.get().fact } == verified.facts.map { try $0.get().fact })
    #expect(
      try authority.sign(receiptContent: Self.content.encoded, form: .der) == stored)
    #expect(try InspectedReceipt(signed).receipt == verified.receipt)
  }

  @Test func `R94: the facts of a receipt have the mark of its machine`() throws {
    let authority = try Self.xcode.get()
    let mark = "@" + authority.receiptFingerprint.digest.hexadecimal.prefix(8)
    let verified = try Self.xcodeVerifier().verify(
      try authority.sign(receiptContent: Self.content.encoded), policy: Self.policy)
    let item = try #require(verified.receipt.items.first)
    let purchase = try #require(item.transactionID?.rawValue)
    let original = try #require(item.originalTransactionID?.rawValue)
    #expect(
      try verified.facts.map { try $0.get().fact.key.identifier }
        == ["receipt:\(original)\(mark)", purchase + mark])
    #expect(try verified.facts[1].get().fact.chain?.rawValue == original + mark)
    for signed in verified.facts {
      let (fact, payload) = (try signed.get().fact, try signed.get().signed.payload)
      #expect(
        try PayloadDecoder.fact(
          kind: fact.kind, payload: payload, digest: fact.digest, bundleID: "com.example.scribe",
          authority: .receipt
        ).stored(under: fact.key.identifier) == fact)
    }
  }

  @Test(arguments: ["+0300", "+03:00", ".0+0300", ".0+03:00"])
  func `R4: dates may have an offset without its colon`(offset: String) throws {
    func dated(_ content: ReceiptContent) -> ReceiptContent {
      let date = "2020-10-16T14:29:30\(offset)"
      let purchase = [1_704, 1_706, 1_708].reduce(ReceiptWorkshop.purchase) {
        $0.with(.date($1, date))
      }
      return [12, 18, 21].reduce(content) { $0.with(.date($1, date)) }.without(17)
        .adding(.purchase(purchase))
    }
    let signed = try Self.xcode.get().sign(receiptContent: dated(Self.content).encoded)
    let receipt = try Self.xcodeVerifier().verify(signed, policy: Self.policy).receipt
    let moment: Milliseconds = 1_602_847_770_000
    #expect(receipt.creationDate == moment)
    #expect(receipt.originalPurchaseDate == moment)
    #expect(receipt.expirationDate == moment)
    #expect(receipt.items.map(\.purchaseDate) == [moment])
    #expect(receipt.items.map(\.originalPurchaseDate) == [moment])
    #expect(receipt.items.map(\.expiresDate) == [moment])
    // Receipts of the App Store have RFC 3339.
    let apple = try ReceiptWorkshop.sign(dated(ReceiptWorkshop.content))
    #expect(
      verdict(ReceiptWorkshop.verifier, apple)
        == (offset.hasSuffix("03:00") ? .ok : .malformed))
  }

  @Test func `content in many segments is read whole`() throws {
    let content = (0..<200).reduce(Self.content.without(17)) { content, number in
      content.adding(.purchase(ReceiptWorkshop.purchase.with(.text(1_703, "\(5_000 + number)"))))
    }
    let signed = try Self.xcode.get().sign(receiptContent: content.encoded)
    let verified = try Self.xcodeVerifier().verify(signed, policy: Self.policy)
    #expect(
      verified.receipt.items.map(\.transactionID?.rawValue) == (0..<200).map { "\(5_000 + $0)" })
  }

  @Test func `its form is accepted under no other root, and for no other environment`() throws {
    let signed = try Self.xcode.get().sign(receiptContent: Self.content.encoded)
    let der = try Self.xcode.get().sign(receiptContent: Self.content.encoded, form: .der)
    for verifier in [ReceiptVerifier(), ReceiptWorkshop.verifier] {
      #expect(verdict(verifier, signed, policy: Self.policy) == .malformed)
      #expect(verdict(verifier, der, policy: Self.policy) == .invalidCertificate)
    }
    let verifier = try Self.xcodeVerifier()
    for type in ["Production", "ProductionSandbox", "ProductionVPP", "Unheard of"] {
      let content = ReceiptWorkshop.content.with(.text(0, type)).encoded
      let other = try Self.xcode.get().sign(receiptContent: content)
      #expect(verdict(verifier, other, policy: Self.policy) == .malformed, "\(type)")
      let definite = try Self.xcode.get().sign(receiptContent: content, form: .der)
      #expect(verdict(verifier, definite, policy: Self.policy) == .wrongEnvironment, "\(type)")
    }
    // A simulator's chain of three: for Xcode alone.
    let chain = Self.indefinite(try ReceiptWorkshop.sign())
    #expect(verdict(verifier, chain, policy: Self.policy) == .malformed)
    let xcode = Self.indefinite(try ReceiptWorkshop.sign(Self.content))
    #expect(verdict(verifier, xcode, policy: Self.policy) == .ok)
    #expect(verdict(ReceiptVerifier(), xcode, policy: Self.policy) == .malformed)
    #expect(verdict(ReceiptVerifier(), chain, policy: Self.policy) == .malformed)
  }

  @Test func `a named certificate beside another signer's opens nothing`() throws {
    // The signer is the workshop's, whose root is not named here.
    var anchors = TrustAnchors.apple
    anchors.trust(try Self.xcode.get().receiptFingerprint, for: [.xcode, .localTesting])
    let named = DERNode(parsing: try Self.xcode.get().receipts.certificate)
    var tree = MessageTree(try ReceiptWorkshop.sign(Self.content))
    tree.certificates[2] = named
    #expect(
      verdict(ReceiptVerifier(anchors: anchors), Self.indefinite(tree.encoded), policy: Self.policy)
        != .ok)
    tree.certificates = [tree.certificates[0], named]
    #expect(
      verdict(ReceiptVerifier(anchors: anchors), Self.indefinite(tree.encoded), policy: Self.policy)
        == .invalidCertificate)
  }

  @Test(
    arguments: [
      ("codeSigning", true, Verdict.ok), ("codeSigning", false, .ok),
      ("codeSigning and another", true, .ok), ("serverAuth", true, .invalidCertificate),
      ("serverAuth", false, .ok), ("any", true, .invalidCertificate),
      ("unknown", true, .invalidCertificate),
    ])
  func `of critical extended key usages only code signing is accepted`(
    usage: String, isCritical: Bool, expected: Verdict
  ) throws {
    let serverAuth: [UInt8] = [0x06, 8, 0x2B, 6, 1, 5, 5, 7, 3, 1]
    let codeSigning: [UInt8] = [0x06, 8, 0x2B, 6, 1, 5, 5, 7, 3, 3]
    let identifiers: [UInt8] =
      switch usage {
      case "codeSigning": codeSigning
      case "codeSigning and another": serverAuth + codeSigning
      case "serverAuth": serverAuth
      case "any": [0x06, 4, 0x55, 0x1D, 0x25, 0]
      default: [0x06, 3, 0x2A, 3, 4]
      }
    let certificate = try CertificateBuilder(
      subject: DistinguishedName(commonName: "StoreKit"), serialNumber: 1,
      validity: 1_600_000_000...1_900_000_000, purpose: .localSigning,
      extensions: [
        .init(
          objectIdentifier: "2.5.29.37", isCritical: isCritical,
          value: [0x30, UInt8(identifiers.count)] + identifiers)
      ]
    ).certificate(for: ReceiptWorkshop.authority.leaf.key)
    let receipt = try Self.receipt(certificate, type: "Xcode")
    let verifier = try Self.verifier(trusting: certificate)
    #expect(verdict(verifier, receipt, policy: Self.policy) == expected)
    #expect(
      verdict(verifier, Self.indefinite(receipt), policy: Self.policy) == expected)
    #expect(
      verdict(try Self.verifier(trusting: nil), receipt, policy: Self.policy)
        == .invalidCertificate)
  }

  @Test func `another critical extension is not accepted beside code signing`() throws {
    let certificate = try CertificateBuilder(
      subject: DistinguishedName(commonName: "StoreKit"), serialNumber: 1,
      validity: 1_600_000_000...1_900_000_000, purpose: .localReceiptSigning,
      extensions: [.init(objectIdentifier: "1.2.3.4", isCritical: true)]
    ).certificate(for: ReceiptWorkshop.authority.leaf.key)
    let receipt = try Self.receipt(certificate, type: "Xcode")
    #expect(
      verdict(try Self.verifier(trusting: certificate), receipt, policy: Self.policy)
        == .invalidCertificate)
  }

  @Test func `no byte of it can be changed, and nothing cut`() throws {
    let signed = try Self.xcode.get().sign(receiptContent: Self.content.encoded)
    let verifier = try Self.xcodeVerifier()
    let original = try verifier.verify(signed, policy: Self.policy).receipt
    var random = SeededRandom(for: "no byte of it can be changed, and nothing cut")
    for index in signed.indices {
      var changed = signed
      changed[index] ^= UInt8.random(in: 1...255, using: &random)
      // Some octets are not signed, such as NULL parameters; they change nothing that is read.
      if let verified = try? verifier.verify(changed, policy: Self.policy) {
        #expect(verified.receipt == original, "byte \(index)")
      }
      #expect(verdict(verifier, Array(signed[..<index]), policy: Self.policy) != .ok)
    }
    for tail in [[0], [0, 0], [0x05, 0]] as [[UInt8]] {
      #expect(verdict(verifier, signed + tail, policy: Self.policy) == .malformed)
    }
  }

  @Test func `a long one is refused unread`() throws {
    let limit = VerificationLimits.receiptLength
    let segment = DERNode.octets(Array(repeating: 0x41, count: 1_000)).encoded
    let long: [UInt8] =
      [0x30, 0x80, 0x24, 0x80] + Array(repeating: segment, count: 2_000).flatMap { $0 }
    #expect(
      refusal(try Self.xcodeVerifier(), long)
        == Refusal(.malformed, "longer than \(limit) bytes"))
  }
}
