import Cryptography
import EntitlementDomain
import StoreSimulator
import TestSupport
import Testing
import Verification

@Suite("Certificates of the header")
struct CertificateChainTests {
  let workshop = Workshop.shared
  let twin = Workshop.twin

  private func verdict(ofCertificates certificates: [[UInt8]], key: SigningKey? = nil) throws
    -> Verdict
  {
    let header = Header(certificates: certificates)
    return VerificationTests.verdict(
      workshop.verifier, try workshop.sign(header: header, key: key))
  }

  @Test func `certificates swapped, removed, doubled or added are refused`() throws {
    let leaf = workshop.authority.leaf.certificate
    let intermediate = workshop.authority.intermediate.certificate
    let root = workshop.authority.root.certificate
    let table: [([[UInt8]], Verdict)] = [
      ([leaf, intermediate, root], .ok),
      ([], .invalidCertificate),
      ([leaf], .invalidCertificate),
      ([leaf, intermediate], .invalidCertificate),
      ([leaf, root], .invalidCertificate),
      ([leaf, intermediate, root, root], .invalidCertificate),
      ([intermediate, leaf, root], .invalidCertificate),
      ([root, intermediate, leaf], .invalidCertificate),
      ([leaf, leaf, root], .invalidCertificate),
      ([leaf, root, root], .invalidCertificate),
      ([leaf, root, intermediate], .invalidCertificate),
      ([leaf, intermediate, intermediate], .untrustedChain),
      ([leaf, intermediate, leaf], .untrustedChain),
      (Array(repeating: leaf, count: 9), .invalidCertificate),
    ]
    for (certificates, expected) in table {
      #expect(try verdict(ofCertificates: certificates) == expected)
    }
  }

  @Test func `certificates forged with the same names are refused`() throws {
    let own = workshop.authority
    let forged = twin.authority
    let key = forged.leaf.key
    // Entirely self-made, and each way of leading a forged leaf to the trusted root.
    for chain in [
      [forged.leaf, forged.intermediate, forged.root],
      [forged.leaf, forged.intermediate, own.root],
      [forged.leaf, own.intermediate, own.root],
      [own.leaf, forged.intermediate, own.root],
      [own.leaf, own.intermediate, forged.root],
    ] {
      #expect(
        try verdict(ofCertificates: chain.map(\.certificate), key: key) == .untrustedChain)
    }
  }

  @Test func `a certificate whose signature was altered is not issued`() throws {
    let members = [
      workshop.authority.leaf.certificate, workshop.authority.intermediate.certificate,
      workshop.authority.root.certificate,
    ]
    for index in members.indices {
      var certificates = members
      // The last byte belongs to the signature, and DER stays well formed.
      certificates[index][certificates[index].count - 1] ^= 1
      #expect(try verdict(ofCertificates: certificates) == .untrustedChain)
    }
  }

  @Test func `bytes after a certificate, or missing from it, make it invalid`() throws {
    let good = [
      workshop.authority.leaf.certificate, workshop.authority.intermediate.certificate,
      workshop.authority.root.certificate,
    ]
    for index in good.indices {
      for change in [{ $0 + [0] }, { $0.dropLast() }, { _ in [] }, { _ in [0x30, 0x80] }]
        as [([UInt8]) -> [UInt8]]
      {
        var certificates = good
        certificates[index] = change(good[index])
        #expect(try verdict(ofCertificates: certificates) == .invalidCertificate)
      }
    }
  }

  @Test(arguments: [
    "null", "{}", "\"\"", "1", "[1,2,3]", "[null,null,null]", #"["","",""]"#, #"["AA","AA","AA"]"#,
    "[[],[],[]]",
  ])
  func `x5c of another shape is invalid`(x5c: String) throws {
    let jws = try workshop.sign(header: Header(x5cJSON: x5c))
    #expect(VerificationTests.verdict(workshop.verifier, jws) == .invalidCertificate)
  }

  @Test func `certificates in another spelling of base64 are invalid`() throws {
    for change in [{ $0 + "\\n" }, { " " + $0 }, { $0 + "====" }, { $0 + "=" }]
      as [(String) -> String]
    {
      let header = Header(x5c: [change(workshop.chain[0])] + workshop.chain[1...])
      let jws = try workshop.sign(header: header)
      #expect(VerificationTests.verdict(workshop.verifier, jws) == .invalidCertificate)
    }
  }

  @Test func `an authority that is trusted must still be a whole one`() throws {
    let table: [(ChainShape, Verdict)] = [
      (ChainShape(), .ok),
      (ChainShape(rootPurpose: .authority(pathLength: 1)), .ok),
      (ChainShape(rootPurpose: .authority(pathLength: 0)), .untrustedChain),
      (ChainShape(rootPurpose: .signing), .untrustedChain),
      (ChainShape(intermediatePurpose: .signing), .untrustedChain),
      (ChainShape(leafPurpose: .authority(pathLength: nil)), .untrustedChain),
      (ChainShape(leafMark: nil), .invalidCertificate),
      (ChainShape(leafMark: SigningAuthority.intermediateMark), .invalidCertificate),
      (ChainShape(intermediateMark: SigningAuthority.leafMark), .invalidCertificate),
      (
        ChainShape(
          leafMark: SigningAuthority.intermediateMark, intermediateMark: SigningAuthority.leafMark),
        .invalidCertificate
      ),
      (ChainShape(leafPurpose: .localSigning), .untrustedChain),
      (ChainShape(intermediatePurpose: .localSigning), .untrustedChain),
      (ChainShape(rootPurpose: .localSigning), .untrustedChain),
      // Without a key usage nothing restricts an issuer's key (RFC 5280 section 4.2.1.3).
      (ChainShape(rootHasKeyUsage: false), .ok),
      (ChainShape(intermediateHasKeyUsage: false), .ok),
      (ChainShape(rootHasKeyUsage: false, intermediateHasKeyUsage: false), .ok),
      (ChainShape(rootPurpose: .signing, rootHasKeyUsage: false), .untrustedChain),
      (ChainShape(intermediatePurpose: .signing, intermediateHasKeyUsage: false), .untrustedChain),
      (ChainShape(rootPurpose: .authority(pathLength: 0), rootHasKeyUsage: false), .untrustedChain),
      (ChainShape(leafHasKeyUsage: false), .untrustedChain),
      // Issuers may use any curve: Apple's use P-384 today.
      (ChainShape(rootCurve: .p256, intermediateCurve: .p256), .ok),
      // Critical, but evaluated: Apple's marker extensions, and policies, of which any is accepted.
      (ChainShape(leafMarkIsCritical: true), .ok),
      (ChainShape(leafCriticalExtension: .policies), .ok),
      // Critical and known to OpenSSL, but not evaluated here.
      (ChainShape(leafCriticalExtension: .extendedUsage), .invalidCertificate),
      (ChainShape(intermediateCriticalExtension: .nameConstraints), .invalidCertificate),
      (ChainShape(intermediateMark: nil), .invalidCertificate),
      (ChainShape(leafCurve: .p384), .invalidCertificate),
      (ChainShape(leafCriticalExtension: .unknown), .invalidCertificate),
    ]
    for (shape, expected) in table {
      let authority = try shape.authority()
      let workshop = Workshop(authority: authority)
      let jws: [UInt8]
      if shape.leafCurve == .p256 {
        jws = try workshop.sign(.transaction())
      } else {
        // 96 bytes of signature: the certificate is checked first.
        jws = try workshop.sign(header: Header(x5c: workshop.chain))
      }
      #expect(VerificationTests.verdict(workshop.verifier, jws) == expected, "\(shape)")
    }
  }

  @Test func `each certificate counts from its first to its last moment`() throws {
    let first: Int64 = 1_700_000_000
    let last: Int64 = 1_710_000_000
    let wide: ClosedRange<Int64> = 1_600_000_000...1_900_000_000
    let narrow = first...last
    let shapes = [
      ChainShape(leafValidity: narrow, intermediateValidity: wide, rootValidity: wide),
      ChainShape(leafValidity: wide, intermediateValidity: narrow, rootValidity: wide),
      ChainShape(leafValidity: wide, intermediateValidity: wide, rootValidity: narrow),
    ]
    let moments: [(Int64, Verdict)] = [
      (first * 1_000 - 1, .certificateExpired), (first * 1_000, .ok), (last * 1_000, .ok),
      (last * 1_000 + 1, .certificateExpired), (.min, .certificateExpired),
      (.max, .certificateExpired),
    ]
    for shape in shapes {
      let workshop = Workshop(authority: try shape.authority())
      let verifier = workshop.verifier
      for (moment, expected) in moments {
        // The date of the payload is used, whatever the time is now.
        let dated = try workshop.sign(Payload.transaction().with("signedDate", "\(moment)"))
        #expect(VerificationTests.verdict(verifier, dated, now: 0) == expected)
        let app = try workshop.sign(
          Payload.appTransaction().with("receiptCreationDate", "\(moment)"))
        #expect(VerificationTests.verdict(verifier, app, now: 0) == expected)
        // Without a date the current time is used.
        let undated = try workshop.sign(
          Payload.notification(data: .notificationData()).with("signedDate", nil))
        #expect(
          VerificationTests.verdict(verifier, undated, now: Milliseconds(moment)) == expected)
      }
    }
  }
}
