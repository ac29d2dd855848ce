import Cryptography
import EntitlementDomain
import StoreSimulator
import Testing

@testable import Verification

@Suite("The certificates of receipts")
struct ReceiptChainTests {
  private let authority = ReceiptWorkshop.authority

  /// Of its own making, with Apple's mark for leaves and an RSA key of 1,024 bits.
  private static let shortKey = decoded(
    """
    MIICHTCCAYagAwIBAgIUf2pg3bmgqg5mDbAl2r1UH5OIr/cwDQYJKoZIhvcNAQELBQAwEDEOMAwGA1UEAwwFU2hv
    cnQwIBcNMjYxMTIxMjIxNTExWhgPMjA4MTA4MjQyMjE1MTFaMBAxDjAMBgNVBAMMBVNob3J0MIGfMA0GCSqGSIb3
    DQEBAQUAA4GNADCBiQKBgQDDBnXEjnjBp9h3ZoOmf6LwvTpiXv0sQI7/1MK6/PbH3qb4lkcQlNzcyA3NPKooFkBp
    Fz05CcHbhFCrJolFgvw/l6Dyv3IvkXdLfgurE3zYunb6g/HFWvlGm/ohWs3245oYQ35yPWYyFhZ4zio7M5S768EV
    5br45J71/IwpLS/+pwIDAQABo3IwcDAdBgNVHQ4EFgQU59WoRz8ins4qDlwojETFG0A2uVcwHwYDVR0jBBgwFoAU
    59WoRz8ins4qDlwojETFG0A2uVcwEAYKKoZIhvdjZAYLAQQCBQAwDgYDVR0PAQH/BAQDAgeAMAwGA1UdEwEB/wQC
    MAAwDQYJKoZIhvcNAQELBQADgYEAmQivAvWitsYFDNfMjO31plZlEdVfIWBT9g3r8mIdCHaoP4yHQixhG9xPpIVF
    l5yrOsE0ZSfI3gPGB10kHtZhfLk7ytP2AP3/XIrA0U4/nLjJyNLeoWGF7eqSWEZO8IhtYQ+O/j0BREVLAI3iooJm
    OSi6FQ5RiVypGQr0kMeUSjI=
    """)

  /// As the one above, with a key of 2,048 bits that is for PSS alone.
  private static let pssKey = decoded(
    """
    MIIDijCCAj2gAwIBAgIUfQr078lO65bRMnKYOlu2l33sQqIwQgYJKoZIhvcNAQEKMDWgDzANBglghkgBZQMEAgEF
    AKEcMBoGCSqGSIb3DQEBCDANBglghkgBZQMEAgEFAKIEAgIA3jAQMQ4wDAYDVQQDDAVTaG9ydDAgFw0yNjExMjEy
    MjE1MTFaGA8yMDgxMDgyNDIyMTUxMVowEDEOMAwGA1UEAwwFU2hvcnQwggEgMAsGCSqGSIb3DQEBCgOCAQ8AMIIB
    CgKCAQEAn1I0oeyUIAWLHbPAINawF3rNqWs6ie1lkrhpoG9TTZrPbRGryym+8BUrZZDC/bGDbKvisIkhI2NU5+Ft
    AvNSgaYpCjinV3KB9z2aHVhPhuHoDZ02R2pbkcTgFYyGKozhBAwBD7JKsnQ/t6Xw0+gplQNCqyv0jdvPrCIy0kDE
    lCW3K0XJy2bY/pk0tfg0AaKquL6QTdjyuTSP5R3TXAFBUSkF1ypAeGmPswl79h6IjNDHk2iIMdsBPTA0I1t5SbmE
    CnFg50dGUWVbT+VFE4R/nILofnRmSijQLUZTEFW+mp19FO30G67iwqUmbYR30N8GlJklpANGz8UnU7VOW3/bAwID
    AQABo3IwcDAdBgNVHQ4EFgQUPddB21SX7Yl1BGuTNdG/t8iLoc0wHwYDVR0jBBgwFoAUPddB21SX7Yl1BGuTNdG/
    t8iLoc0wEAYKKoZIhvdjZAYLAQQCBQAwDgYDVR0PAQH/BAQDAgeAMAwGA1UdEwEB/wQCMAAwQgYJKoZIhvcNAQEK
    MDWgDzANBglghkgBZQMEAgEFAKEcMBoGCSqGSIb3DQEBCDANBglghkgBZQMEAgEFAKIEAgIA3gOCAQEAQGS7qP3N
    dZI+0QA1RhBCvpuEq/SZio9peVhI7lUHOnCB4JHuaX/QQQFCkWkcfEVet1da2m1MQ8b/Qot1mej3l7H2lYGtv1yO
    OyT03xVH1uXcawkkvyfjyemfpcGd4qPjKsjqfZBpTZYRmh1lzWoywDw2D9eaxsNXYg8YHd3N1FH0mEUZNCUmPvZu
    V8SSOtaGgMxjIt5bSkQYxMmeeQupYZgK8U5gPqtCWq83+lbh7aK7gRJaT9YF54Qr2cLhAnakO5Mkmpy6E5eDK9g/
    cPfAHRg27EnOKSBxnrY714+cw3hcMy9W2kHev1YJtJLkxSsHVepAJD5uhNOL0bB2MP6ChQ==
    """)

  private static func decoded(_ base64: String) -> [UInt8] {
    // The text above is base64.
    try! Base64Form.standard.decode(base64.utf8.filter { $0 != UInt8(ascii: "\n") })
  }

  private func receipt(embedding certificates: [[UInt8]]) throws -> [UInt8] {
    try ReceiptWorkshop.altered { tree in
      tree.certificates = certificates.map(DERNode.init(parsing:))
    }
  }

  private func outcome(of authority: ReceiptAuthority) throws -> Verdict {
    let verifier = ReceiptVerifier(anchors: ReceiptWorkshop.anchors(trusting: authority))
    return verdict(verifier, try ReceiptWorkshop.sign(by: authority))
  }

  @Test func `their order means nothing`() throws {
    let (leaf, middle, root) = (
      authority.leaf.certificate, authority.intermediate.certificate, authority.root.certificate
    )
    for order in [
      [leaf, middle, root], [leaf, root, middle], [middle, leaf, root], [middle, root, leaf],
      [root, leaf, middle], [root, middle, leaf],
    ] {
      #expect(verdict(ReceiptWorkshop.verifier, try receipt(embedding: order)) == .ok)
    }
  }

  @Test func `all three are needed, once, and no other`() throws {
    let (leaf, middle, root) = (
      authority.leaf.certificate, authority.intermediate.certificate, authority.root.certificate
    )
    let other = ReceiptWorkshop.twin.root.certificate
    let sets: [([[UInt8]], Verdict)] = [
      ([leaf], .invalidCertificate), ([leaf, root], .invalidCertificate),
      ([leaf, middle], .invalidCertificate), ([middle, root], .invalidCertificate),
      ([leaf, leaf, middle, root], .invalidCertificate),
      ([leaf, middle, root, root], .invalidCertificate),
      ([leaf, middle, root, other], .invalidCertificate),
      ([leaf, leaf, root], .invalidCertificate), ([leaf, root, root], .invalidCertificate),
      ([leaf, middle, middle], .untrustedChain), ([leaf, middle, other], .untrustedChain),
      ([leaf, ReceiptWorkshop.twin.intermediate.certificate, root], .untrustedChain),
    ]
    for (certificates, expected) in sets {
      let outcome = verdict(ReceiptWorkshop.verifier, try receipt(embedding: certificates))
      #expect(outcome == expected, "\(certificates.map(\.count)): \(outcome)")
    }
  }

  @Test func `another leaf of the same name speaks for another key`() throws {
    // The certificates of the twin have the names and serial numbers of their own.
    let twin = ReceiptWorkshop.twin
    let receipt = try ReceiptWorkshop.altered { tree in
      tree.certificates = [
        twin.leaf.certificate, authority.intermediate.certificate, authority.root.certificate,
      ].map(DERNode.init(parsing:))
    }
    #expect(verdict(ReceiptWorkshop.verifier, receipt) != .ok)
  }

  @Test func `certificates with the right names under another root are not believed`() throws {
    let twin = ReceiptWorkshop.twin
    let receipt = try ReceiptWorkshop.sign(by: twin)
    #expect(verdict(ReceiptWorkshop.verifier, receipt) == .untrustedChain)
    #expect(
      verdict(ReceiptVerifier(anchors: ReceiptWorkshop.anchors(trusting: twin)), receipt) == .ok)
    #expect(verdict(ReceiptVerifier(anchors: .apple), receipt) == .untrustedChain)
  }

  @Test(arguments: [
    ("nothing", ReceiptChainShape(), Verdict.ok),
    ("no key usage of the issuers", ReceiptChainShape(issuersHaveKeyUsage: false), .ok),
    ("no mark on the leaf", ReceiptChainShape(leafMark: nil), .invalidCertificate),
    ("no mark on the intermediate", ReceiptChainShape(intermediateMark: nil), .invalidCertificate),
    (
      "the marks exchanged",
      ReceiptChainShape(
        leafMark: SigningAuthority.intermediateMark, intermediateMark: SigningAuthority.leafMark),
      .invalidCertificate
    ),
    (
      "an intermediate that is no authority",
      ReceiptChainShape(intermediatePurpose: .signing), .untrustedChain
    ),
    ("a root that is no authority", ReceiptChainShape(rootPurpose: .signing), .untrustedChain),
    (
      "a root that allows no intermediate",
      ReceiptChainShape(rootPurpose: .authority(pathLength: 0)), .untrustedChain
    ),
    (
      "a leaf that is an authority",
      ReceiptChainShape(leafPurpose: .authority(pathLength: nil)), .untrustedChain
    ),
    (
      "an intermediate that the root did not sign",
      ReceiptChainShape(intermediateIsForged: true), .untrustedChain
    ),
    (
      "a leaf that the intermediate did not sign",
      ReceiptChainShape(leafIsForged: true), .untrustedChain
    ),
    (
      "a leaf that ended before the receipt was made",
      ReceiptChainShape(leafValidity: 1_600_000_000...1_704_067_199), .certificateExpired
    ),
    (
      "a leaf that ends as the receipt is made",
      ReceiptChainShape(leafValidity: 1_600_000_000...1_704_067_200), .ok
    ),
    (
      "a leaf that began after the receipt was made",
      ReceiptChainShape(leafValidity: 1_704_067_201...1_900_000_000), .certificateExpired
    ),
    (
      "an intermediate that ended before",
      ReceiptChainShape(intermediateValidity: 1_600_000_000...1_704_067_199), .certificateExpired
    ),
    (
      "a root that ended before",
      ReceiptChainShape(rootValidity: 1_600_000_000...1_704_067_199), .certificateExpired
    ),
    (
      "certificates that ended long ago, after the receipt was made",
      ReceiptChainShape(
        leafValidity: 1_600_000_000...1_710_000_000,
        intermediateValidity: 1_600_000_000...1_710_000_000,
        rootValidity: 1_600_000_000...1_710_000_000), .ok
    ),
  ])
  func `each fault has its verdict`(
    name: String, shape: ReceiptChainShape, expected: Verdict
  ) throws {
    #expect(try outcome(of: shape.authority()) == expected, "\(name)")
  }

  @Test func `keys that are too short, or of another kind, are not accepted`() throws {
    let leaves = [
      Self.shortKey, Self.pssKey, Array(Workshop.shared.authority.leaf.certificate),
    ]
    for leaf in leaves {
      let certificate = try Certificate(der: leaf)
      let name = DERNode(0x30, [DERNode(raw: certificate.issuerAndSerialNumber)])
      let receipt = try ReceiptWorkshop.altered { tree in
        tree.signer[1] = name
        tree.certificates = [
          leaf, authority.intermediate.certificate, authority.root.certificate,
        ].map(DERNode.init(parsing:))
      }
      #expect(verdict(ReceiptWorkshop.verifier, receipt) == .unsupportedAlgorithm)
    }
  }

  @Test func `an expired certificate of a receipt that is not authentic is not what counts`() throws
  {
    let shape = ReceiptChainShape(leafValidity: 1_600_000_000...1_704_067_199)
    let authority = try shape.authority()
    var tree = MessageTree(try ReceiptWorkshop.sign(by: authority))
    tree.signer[4].value[9] ^= 1
    let verifier = ReceiptVerifier(anchors: ReceiptWorkshop.anchors(trusting: authority))
    #expect(verdict(verifier, tree.encoded) == .invalidSignature)
  }

  @Test func `the chain of an accepted receipt goes with it`() throws {
    let verified = try ReceiptWorkshop.verifier.verify(
      try ReceiptWorkshop.sign(), policy: .scribe)
    #expect(
      verified.chains.map { $0.certificates.map(\.fingerprint) }
        == [
          try [authority.leaf, authority.intermediate, authority.root].map {
            try Certificate(der: $0.certificate).fingerprint
          }
        ])
  }
}
