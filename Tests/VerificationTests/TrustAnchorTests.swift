import Cryptography
import EntitlementDomain
import StoreSimulator
import TestSupport
import Testing
import Verification

@Suite("Trusted roots")
struct TrustAnchorTests {
  private let workshop = Workshop.shared
  private let fingerprint = Workshop.shared.authority.rootFingerprint

  /// The verdict on a transaction of each environment under the workshop's root.
  private func verdicts(_ anchors: TrustAnchors) throws -> [StoreEnvironment: Verdict] {
    let policy = VerificationPolicy(expectingBundleID: nil, environment: nil, appAppleID: nil)
    var verdicts: [StoreEnvironment: Verdict] = [:]
    for environment in StoreEnvironment.allCases {
      let payload = Payload.transaction().with("environment", "\"\(environment.rawValue)\"")
      verdicts[environment] = verdict(
        JWSVerifier(anchors: anchors), try workshop.sign(payload), policy: policy)
    }
    return verdicts
  }

  private func expected(
    _ trusted: Set<StoreEnvironment>
  ) -> [StoreEnvironment: Verdict] {
    Dictionary(
      uniqueKeysWithValues: StoreEnvironment.allCases.map {
        ($0, trusted.contains($0) ? .ok : .wrongEnvironment)
      })
  }

  @Test("R9: A root counts for the environment that it is named for; a bare one not for Production")
  func environments() throws {
    let hex = fingerprint.digest.hexadecimal
    let spellings = [
      "sha256:\(hex)", "SHA256:\(hex.uppercased())",
      "sha256:"
        + stride(from: 0, to: hex.count, by: 2).map { hex.dropFirst($0).prefix(2) }
        .joined(separator: ":"),
      "/etc/root.pem", "root.der", "./a=b.pem", "/etc/production=c.pem",
    ]
    let prefixes: [(String, Set<StoreEnvironment>)] = [
      ("", [.sandbox, .xcode, .localTesting]), ("production=", [.production]),
      ("sandbox=", [.sandbox]), ("xcode=", [.xcode]), ("local-testing=", [.localTesting]),
      ("LocalTesting=", [.localTesting]), ("Production=", [.production]),
    ]
    for (prefix, trusted) in prefixes {
      for spelling in spellings {
        var anchors = TrustAnchors.apple
        try anchors.trust(setting: prefix + spelling) { path in
          #expect(path == spelling)
          return workshop.authority.root.certificate
        }
        #expect(try verdicts(anchors) == expected(trusted), "\(prefix)\(spelling)")
      }
    }
    #expect(try verdicts(.apple).values.allSatisfy { $0 == .untrustedChain })
  }

  @Test func `a root that is named several times stands for all its environments`() throws {
    let rows: [([String], Set<StoreEnvironment>, [String])] = [
      (["xcode=", "sandbox="], [.xcode, .sandbox], ["sandbox=", "xcode="]),
      (["", "production="], TrustAnchor.allEnvironments, ["", "production="]),
      (["production=", ""], TrustAnchor.allEnvironments, ["", "production="]),
      (["sandbox=", ""], TrustAnchor.defaultEnvironments, [""]),
      (
        ["local-testing=", "xcode=", "sandbox="], TrustAnchor.defaultEnvironments, [""]
      ),
      (["local-testing=", "local-testing="], [.localTesting], ["local-testing="]),
    ]
    for (prefixes, trusted, settings) in rows {
      var anchors = TrustAnchors.apple
      for prefix in prefixes {
        try anchors.trust(setting: "\(prefix)\(fingerprint)") { _ in [] }
      }
      #expect(try verdicts(anchors) == expected(trusted), "\(prefixes)")
      #expect(anchors.anchor(of: fingerprint) == .named(for: trusted))
      // As the option takes them again.
      #expect(anchors.settings == settings.map { "\($0)\(fingerprint)" })
    }
  }

  @Test(
    arguments: [
      ("", .unusableFile), ("sandbox=", .unusableFile), ("nothing.pem", .unusableFile),
      ("xcode=nothing.pem", .unusableFile), ("text.pem", .unusableFile),
      ("sha256:", .malformedFingerprint), ("sha256:00", .malformedFingerprint),
      ("SHA256:" + String(repeating: "g", count: 64), .malformedFingerprint),
      ("production=sha256:" + String(repeating: "0", count: 63), .malformedFingerprint),
      ("=sha256:00", .unknownEnvironment), ("prod=root.pem", .unknownEnvironment),
      ("tests=sha256:00", .unknownEnvironment), ("xcode =root.pem", .unknownEnvironment),
      ("a=b.pem", .unknownEnvironment), ("production,sandbox=root.pem", .unknownEnvironment),
      ("sha1:" + String(repeating: "0", count: 40), .unusableFile),
    ] as [(String, RootSettingError.Code)])
  func `what names no root is refused with the reason, and trusts nothing`(
    text: String, code: RootSettingError.Code
  ) {
    struct NoFile: Error {}
    var anchors = TrustAnchors.apple
    let error = #expect(throws: RootSettingError.self) {
      try anchors.trust(setting: text) { path in
        guard path == "text.pem" else { throw NoFile() }
        return Array("text".utf8)
      }
    }
    #expect(error?.code == code)
    #expect(anchors == .apple)
    if code == .unknownEnvironment {
      #expect(
        error?.description
          == "unknown environment; known: production, sandbox, xcode, local-testing")
    }
  }

  @Test func `a single certificate of Xcode counts for the environment that it is named for`()
    throws
  {
    let key = try SigningKey.generate(.p256)
    let certificate = try CertificateBuilder(
      subject: DistinguishedName(commonName: "Local Testing"), serialNumber: 1,
      validity: 1_600_000_000...1_900_000_000, purpose: .localSigning
    ).certificate(for: key)
    let policy = VerificationPolicy(expectingBundleID: nil, environment: nil, appAppleID: nil)
    let rows: [(String, [StoreEnvironment: Verdict])] = [
      ("", expected([.xcode, .localTesting])), ("xcode=", expected([.xcode])),
      ("local-testing=", expected([.localTesting])), ("sandbox=", expected([])),
      ("production=", expected([])),
    ]
    for (prefix, expected) in rows {
      var anchors = TrustAnchors.apple
      try anchors.trust(setting: prefix + "c.der") { _ in certificate }
      for environment in StoreEnvironment.allCases {
        let payload = Payload.transaction().with("environment", "\"\(environment.rawValue)\"")
        let jws = try workshop.sign(
          payload, header: Header(certificates: [certificate]), key: key)
        #expect(
          verdict(JWSVerifier(anchors: anchors), jws, policy: policy) == expected[environment],
          "\(prefix) \(environment)")
      }
    }
  }

  @Test func `the payloads inside a notification count by their own root`() throws {
    // The notification is under a root for Sandbox, the transaction inside under one for Xcode.
    let twin = Workshop.twin
    let inner = String(decoding: try twin.sign(.transaction()), as: UTF8.self)
    let jws = try workshop.sign(
      .notification(
        data: Payload.notificationData().with("signedTransactionInfo", "\"\(inner)\"")))
    for (environment, outcome): (StoreEnvironment, Verdict) in [
      (.sandbox, .ok), (.xcode, .wrongEnvironment),
    ] {
      var anchors = TrustAnchors.apple
      anchors.trust(fingerprint, for: [.sandbox])
      anchors.trust(twin.authority.rootFingerprint, for: [environment])
      #expect(verdict(JWSVerifier(anchors: anchors), jws) == outcome)
    }
  }

  @Test func `roots are trusted by fingerprint, by PEM and by DER`() throws {
    let jws = try workshop.sign(.transaction())
    var anchors = TrustAnchors.apple
    #expect(verdict(JWSVerifier(anchors: anchors), jws) == .untrustedChain)
    anchors.trust(workshop.authority.rootFingerprint, for: [.sandbox])
    #expect(verdict(JWSVerifier(anchors: anchors), jws) == .ok)
    let files = [
      workshop.authority.root.certificate, try workshop.authority.rootPEM(),
      Array("# a comment\n".utf8) + (try Workshop.twin.authority.rootPEM())
        + (try workshop.authority.rootPEM()),
    ]
    for file in files {
      var anchors = TrustAnchors.apple
      try anchors.trust(certificateFile: file, for: TrustAnchor.allEnvironments)
      #expect(verdict(JWSVerifier(anchors: anchors), jws) == .ok)
    }
  }

  @Test(arguments: ["", "text", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"])
  func `a file without a certificate is refused`(text: String) {
    var anchors = TrustAnchors.apple
    #expect(throws: CryptographyError.self) {
      try anchors.trust(certificateFile: Array(text.utf8), for: TrustAnchor.allEnvironments)
    }
    #expect(anchors == .apple)
  }

  @Test(arguments: ["", "# a comment\n"])
  func `a damaged block among good ones refuses the whole file`(between: String) throws {
    let begin = "-----BEGIN CERTIFICATE-----\n"
    let end = "-----END CERTIFICATE-----\n"
    let root = String(decoding: try workshop.authority.rootPEM(), as: UTF8.self)
    let good = String(decoding: try Workshop.twin.authority.rootPEM(), as: UTF8.self)
    let damaged = [
      begin + end, begin + "A*AA\n" + end, begin, begin + "AAAA\n", begin + root,
      root.replacing(begin, with: ""), root.replacing("-----BEGIN", with: "----BEGIN"),
      root.replacing(end, with: ""), root.replacing("END CERTIFICATE", with: "END CERTIFICAT"),
      begin + String(root.dropFirst(begin.count + 1)),
    ]
    for block in damaged {
      for file in [good + between + block + between + root, good + between + block] {
        var anchors = TrustAnchors.apple
        let error = #expect(throws: CryptographyError.self, "\(block)") {
          try anchors.trust(certificateFile: Array(file.utf8), for: TrustAnchor.allEnvironments)
        }
        #expect(error?.code == .malformedPEM || error?.code == .malformedCertificate)
        #expect(anchors == .apple)
      }
    }
    var anchors = TrustAnchors.apple
    try anchors.trust(
      certificateFile: Array((good + between + root + between).utf8),
      for: TrustAnchor.allEnvironments)
    #expect(anchors.anchor(of: workshop.authority.rootFingerprint)?.isNamed == true)
  }

  @Test func `naming a root of Apple's leaves it Apple's`() throws {
    var anchors = TrustAnchors.apple
    let fingerprint = try CertificateFingerprint(
      parsing: "SHA256:63343ABFB89A6A03EBB57E9B3F5FA7BE7C4F5C756F3017B3A8C488C3653E9179")
    anchors.trust(fingerprint, for: TrustAnchor.allEnvironments)
    #expect(anchors.anchor(of: fingerprint) == .apple)
    #expect(anchors == .apple)
  }
}
