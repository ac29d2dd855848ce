import AppStorePayloads
import Cryptography
import EntitlementDomain
import StoreSimulator
import TestSupport
import Testing
import Verification

/// StoreKit Testing in Xcode signs with one self-signed certificate. Its basic constraints mark it
/// as a CA, but its key usage is digital signatures, and it has no marker extensions of Apple.
@Suite("Payloads of Xcode and local tests")
struct XcodeTests {
  /// 2024-01-01T00:00:00Z, when the payloads of the workshop are signed.
  private static let signed: Int64 = 1_704_067_200

  private static func certificate(
    for key: SigningKey, validity: ClosedRange<Int64> = signed...signed + 31_536_000,
    purpose: CertificateBuilder.Purpose = .localSigning,
    extensions: [CertificateBuilder.Extension] = []
  ) throws -> [UInt8] {
    try CertificateBuilder(
      subject: DistinguishedName(
        commonName: "Local Testing", organizationalUnit: "Not for production",
        organization: "Local Testing", country: "US"),
      serialNumber: 1, validity: validity, purpose: purpose, extensions: extensions
    ).certificate(for: key)
  }

  private func jws(
    _ payload: Payload, key: SigningKey, certificate: [UInt8]
  ) throws -> [UInt8] {
    var header = Header(certificates: [certificate])
    header.more = #","kid":"Apple_Xcode_Key","typ":"JWT""#
    return try Workshop.shared.sign(payload, header: header, key: key)
  }

  private func verifier(trusting certificates: [[UInt8]]) throws -> JWSVerifier {
    var anchors = TrustAnchors.apple
    for certificate in certificates {
      try anchors.trust(certificateFile: certificate, for: TrustAnchor.allEnvironments)
    }
    return JWSVerifier(anchors: anchors)
  }

  private static let local = VerificationPolicy(apps: [
    VerificationPolicy.App(
      bundleID: "com.example.scribe", environments: Set(StoreEnvironment.allCases))
  ])

  private static func payloads(_ environment: String?) -> [Payload] {
    let value = environment.map { "\"\($0)\"" }
    return [
      Payload.transaction().with("environment", value),
      Payload.renewalInfo().with("environment", value),
      Payload.appTransaction().with("receiptType", value),
    ]
  }

  @Test func `a certificate alone counts where the operator named it, for local environments`()
    throws
  {
    let key = try SigningKey.generate(.p256)
    let certificate = try Self.certificate(for: key)
    let named = try verifier(trusting: [certificate])
    let table: [(String?, Verdict)] = [
      ("Xcode", .ok), ("LocalTesting", .ok), ("Sandbox", .wrongEnvironment),
      ("Production", .wrongEnvironment), ("xcode", .wrongEnvironment), (nil, .wrongEnvironment),
    ]
    for (environment, expected) in table {
      for payload in Self.payloads(environment) {
        let jws = try jws(payload, key: key, certificate: certificate)
        #expect(verdict(named, jws, policy: Self.local) == expected)
        // The same without any expectation, as a person looks at it.
        let open = VerificationPolicy(expectingBundleID: nil, environment: nil, appAppleID: nil)
        #expect(verdict(named, jws, policy: open) == expected)
        // Without the named root it is not trusted, whatever the payload.
        #expect(verdict(JWSVerifier(), jws, policy: Self.local) == .invalidCertificate)
      }
    }
  }

  @Test(arguments: ["Xcode", "LocalTesting"])
  func `R4: dates with a fraction are rounded down, and read alike when they are stored`(
    environment: String
  ) throws {
    let key = try SigningKey.generate(.p256)
    let certificate = try Self.certificate(for: key)
    let named = try verifier(trusting: [certificate])
    for (payload, date) in zip(
      Self.payloads(environment), ["signedDate", "signedDate", "receiptCreationDate"])
    {
      let fractional = payload.with(date, "1704067200056.485")
      let jws = try jws(fractional, key: key, certificate: certificate)
      let verified = try named.verify(jws, policy: Self.local, now: 0)
      let decoded = try Self.fact(of: verified)
      #expect(decoded.precedence.signedDate == 1_704_067_200_056)
      #expect(
        try PayloadDecoder.fact(
          kind: decoded.kind, payload: verified.signed.payload, digest: decoded.digest,
          bundleID: "com.example.scribe"
        ).stored(under: decoded.key.identifier) == decoded)
    }
  }

  private static func fact(of payload: VerifiedPayload) throws -> Fact {
    switch payload.content {
    case .transaction(let fact): return .transaction(fact)
    case .renewalInfo(let info): return .renewalInfo(info.bound(to: "com.example.scribe"))
    case .appTransaction(let fact): return .appTransaction(fact)
    case .notification: throw Refusal(.malformed, "not a fact")
    }
  }

  @Test(arguments: ["Xcode", "LocalTesting"])
  func `R94: all ids of a machine's facts have its mark, and are read back with it`(
    environment: String
  ) throws {
    let machines = try (0..<2).map { _ in
      let key = try SigningKey.generate(.p256)
      return (key, try Self.certificate(for: key))
    }
    let named = try verifier(trusting: machines.map(\.1))
    for payload in Self.payloads(environment) {
      var payload = payload.with("appTransactionId", #""0""#)
      if payload.members["transactionId"] != nil {
        payload = payload.with("previousOriginalTransactionId", #""1""#)
          .with("webOrderLineItemId", #""2""#)
      }
      let facts = try machines.map { key, certificate in
        let jws = try jws(payload, key: key, certificate: certificate)
        return try Self.fact(of: try named.verify(jws, policy: Self.local, now: 0))
      }
      let unmarked = try PayloadDecoder.fact(
        kind: facts[0].kind, payload: Array(payload.json.utf8), digest: facts[0].digest,
        bundleID: "com.example.scribe")
      for (fact, machine) in zip(facts, machines) {
        let digits = try SHA256.digest(of: machine.1).hexadecimal.prefix(8)
        let marked = try Self.ids(of: unmarked).map { "\($0)@\(digits)" }
        #expect(!marked.isEmpty)
        #expect(try Self.ids(of: fact) == marked)
        #expect(unmarked.stored(under: fact.key.identifier) == fact)
      }
    }
  }

  /// All ids that the App Store gives; on a machine of a developer, they begin at 0.
  private static func ids(of fact: Fact) throws -> [String] {
    switch fact {
    case .transaction(let fact):
      return [
        fact.transactionID.rawValue, fact.originalTransactionID.rawValue,
        try #require(fact.previousOriginalTransactionID).rawValue,
        try #require(fact.webOrderLineItemID).rawValue,
        try #require(fact.appTransactionID).rawValue,
      ]
    case .renewalInfo(let fact):
      return [
        fact.originalTransactionID.rawValue, try #require(fact.appTransactionID).rawValue,
      ]
    case .appTransaction(let fact): return [try #require(fact.appTransactionID).rawValue]
    }
  }

  @Test func `R94: what a chain of three certificates signs for Xcode has no mark`() throws {
    for payload in Self.payloads("Xcode") {
      let workshop = Workshop.shared
      let verified = try workshop.verifier.verify(
        try workshop.sign(payload), policy: Self.local, now: 0)
      #expect(!(try Self.fact(of: verified)).key.identifier.contains("@"))
    }
  }

  @Test func `R4: a fraction counts for the validity of the certificate, rounded down`() throws {
    let key = try SigningKey.generate(.p256)
    let certificate = try Self.certificate(for: key, validity: Self.signed...Self.signed + 60)
    let named = try verifier(trusting: [certificate])
    let first = Self.signed * 1_000
    for (moment, expected) in [
      ("\(first - 1).999", Verdict.certificateExpired), ("\(first).001", .ok),
      ("\(first + 60_000).999", .ok), ("\(first + 60_001).0", .certificateExpired),
    ] {
      let payload = Payload.transaction().with("environment", #""Xcode""#)
        .with("signedDate", moment)
      let jws = try jws(payload, key: key, certificate: certificate)
      #expect(verdict(named, jws, policy: Self.local) == expected, "\(moment)")
    }
  }

  @Test func `R4: the App Store's environments sign no fractions`() throws {
    // Whoever signs: the payload decides, not the certificate.
    let workshop = Workshop.shared
    for environment in ["Production", "Sandbox"] {
      for payload in Self.payloads(environment) {
        for date in ["signedDate", "receiptCreationDate", "originalPurchaseDate", "renewalDate"] {
          let changed = payload.with(date, "1704067200000.5")
          guard
            verdict(workshop.verifier, try workshop.sign(changed), policy: Self.local) != .malformed
          else { continue }
          // Fields that a kind does not have are ignored.
          #expect(payload.members[date] == nil, "\(environment) \(date)")
        }
      }
    }
    let local = Payload.transaction().with("environment", #""Xcode""#)
      .with("signedDate", "1704067200000.5")
    #expect(verdict(workshop.verifier, try workshop.sign(local), policy: Self.local) == .ok)
    #expect(verdict(JWSVerifier(), try workshop.sign(local), policy: Self.local) == .untrustedChain)
  }

  @Test func `a payload without an environment is no local one, even to look at`() throws {
    let key = try SigningKey.generate(.p256)
    let certificate = try Self.certificate(for: key)
    let jws = try jws(
      Payload.transaction().with("environment", nil), key: key, certificate: certificate)
    let refusal = #expect(throws: Refusal.self) {
      try verifier(trusting: [certificate]).authenticate(
        jws, policy: VerificationPolicy(expectingBundleID: nil, environment: nil, appAppleID: nil),
        now: 0)
    }
    #expect(refusal?.verdict == .wrongEnvironment)
  }

  @Test func `the policy's environments count for it as for any other`() throws {
    let key = try SigningKey.generate(.p256)
    let certificate = try Self.certificate(for: key)
    let payload = Payload.transaction().with("environment", #""Xcode""#)
    let jws = try jws(payload, key: key, certificate: certificate)
    let named = try verifier(trusting: [certificate])
    #expect(verdict(named, jws) == .wrongEnvironment)
    let other = VerificationPolicy(apps: [
      VerificationPolicy.App(bundleID: "com.example.other", environments: [.xcode])
    ])
    #expect(verdict(named, jws, policy: other) == .wrongApp)
  }

  @Test func `the signature is always checked`() throws {
    let key = try SigningKey.generate(.p256)
    let certificate = try Self.certificate(for: key)
    let named = try verifier(trusting: [certificate])
    let payload = Payload.transaction().with("environment", #""Xcode""#)
    let forged = try jws(payload, key: try .generate(.p256), certificate: certificate)
    #expect(verdict(named, forged, policy: Self.local) == .invalidSignature)
    let valid = try jws(payload, key: key, certificate: certificate)
    let dots = valid.indices.filter { valid[$0] == UInt8(ascii: ".") }
    for index in dots[0]..<valid.count {
      var altered = valid
      altered[index] ^= 4
      #expect(verdict(named, altered, policy: Self.local) != .ok, "byte \(index)")
    }
  }

  @Test func `another certificate of the same key or name is not the one that was named`() throws {
    let key = try SigningKey.generate(.p256)
    let named = try verifier(trusting: [try Self.certificate(for: key)])
    let payload = Payload.transaction().with("environment", #""Xcode""#)
    for other in [
      try Self.certificate(for: key, validity: Self.signed...Self.signed + 1),
      try Self.certificate(for: try .generate(.p256)),
    ] {
      let jws = try jws(payload, key: key, certificate: other)
      #expect(verdict(named, jws, policy: Self.local) == .invalidCertificate)
    }
  }

  @Test func `it counts from its first to its last moment`() throws {
    let key = try SigningKey.generate(.p256)
    let certificate = try Self.certificate(for: key, validity: Self.signed...Self.signed + 60)
    let named = try verifier(trusting: [certificate])
    let first = Self.signed * 1_000
    let table: [(Int64, Verdict)] = [
      (first - 1, .certificateExpired), (first, .ok), (first + 60_000, .ok),
      (first + 60_001, .certificateExpired),
    ]
    for (moment, expected) in table {
      let payload = Payload.transaction().with("environment", #""Xcode""#)
        .with("signedDate", "\(moment)")
      let jws = try jws(payload, key: key, certificate: certificate)
      #expect(verdict(named, jws, policy: Self.local) == expected)
    }
  }

  @Test func `marks, authority and key usage are not asked of it, its key and its rest are`()
    throws
  {
    let payload = Payload.transaction().with("environment", #""Xcode""#)
    let key = try SigningKey.generate(.p256)
    func verdict(_ certificate: [UInt8], _ key: SigningKey) throws -> Verdict {
      VerificationTests.verdict(
        try verifier(trusting: [certificate]),
        try jws(payload, key: key, certificate: certificate), policy: Self.local)
    }
    for purpose in [
      CertificateBuilder.Purpose.localSigning, .signing, .authority(pathLength: 0),
    ] {
      #expect(try verdict(try Self.certificate(for: key, purpose: purpose), key) == .ok)
    }
    let unknown = CertificateBuilder.Extension(objectIdentifier: "1.2.3.4", isCritical: true)
    #expect(
      try verdict(try Self.certificate(for: key, extensions: [unknown]), key)
        == .invalidCertificate)
    let larger = try SigningKey.generate(.p384)
    #expect(try verdict(try Self.certificate(for: larger), larger) == .invalidCertificate)
    // Trusted by its fingerprint: what it says of itself adds nothing (RFC 5280 section 6.1.1).
    var certificate = try Self.certificate(for: key)
    certificate[certificate.count - 1] ^= 1
    #expect(try verdict(certificate, key) == .ok)
  }

  @Test func `the certificate has the shape of the one that Xcode makes`() throws {
    let key = try SigningKey.generate(.p256)
    let certificate = try Certificate(der: try Self.certificate(for: key))
    #expect(certificate.isAuthority && certificate.pathLengthLimit == 0)
    #expect(certificate.maySignData && !certificate.mayIssueCertificates)
    #expect(!certificate.hasExtension(SigningAuthority.leafMark))
    #expect(certificate.subject == certificate.issuer)
  }

  @Test func `it issues no others`() throws {
    // A leaf and an intermediate with all marks below the operator's one: still no chain.
    let key = try SigningKey.generate(.p256)
    let root = SigningAuthority.Member(certificate: try Self.certificate(for: key), key: key)
    let authority = try ChainShape().authority(under: root)
    let workshop = Workshop(authority: authority)
    let payload = Payload.transaction().with("environment", #""Xcode""#)
    #expect(
      verdict(workshop.verifier, try workshop.sign(payload), policy: Self.local)
        == .untrustedChain)
  }
}
