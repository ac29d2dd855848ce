import Cryptography
import EntitlementDomain
import StoreSimulator
import TestSupport
import Testing
import Verification

@Suite("The text of a JWS: base64, algorithm and critical members")
struct TextFormTests {
  let workshop = Workshop.shared
  let verifier = Workshop.shared.verifier

  private static let dot = UInt8(ascii: ".")
  private static let urlAlphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
  private static let standardAlphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// Ways to write base64 otherwise, or wrongly; `foreign` are characters of the other alphabet.
  private static func misspellings(of text: [UInt8], foreign: [String]) -> [[UInt8]] {
    let middle = text.count / 2
    var spellings: [[UInt8]] = []
    for inserted in foreign + [" ", "\n", "\r\n", "\t", "\u{0}", "=", "%2B", "\u{E9}", "*"] {
      let bytes = Array(inserted.utf8)
      spellings.append(bytes + text)
      spellings.append(text[..<middle] + bytes + text[middle...])
      spellings.append(text + bytes)
    }
    return spellings + foreign.map { Array($0.utf8) + text.dropFirst() }
  }

  /// The same value with other bits left over in the last character; nil when none are left over.
  private static func withStrayBits(_ text: [UInt8], alphabet: [UInt8]) -> [UInt8]? {
    let padding = text.reversed().prefix { $0 == UInt8(ascii: "=") }.count
    let end = text.count - padding
    guard end % 4 > 1, let value = alphabet.firstIndex(of: text[end - 1]) else { return nil }
    var changed = text
    changed[end - 1] = alphabet[value ^ 1]
    return changed
  }

  /// A valid transaction whose three parts leave bits over in their last characters.
  private func partsWithBitsLeftOver() throws -> [[UInt8]] {
    var header = Header(x5c: workshop.chain)
    while header.segment.utf8.count % 4 == 0 { header.more += " " }
    var payload = Payload.transaction()
    if payload.bytes.count % 3 == 0 { payload = payload.with("unread", "1") }
    if payload.bytes.count % 3 == 0 { payload = payload.with("unread", "11") }
    return try workshop.sign(payload, header: header).split(separator: Self.dot).map(Array.init)
  }

  private func joined(_ parts: [[UInt8]]) -> [UInt8] {
    Array(parts.joined(separator: [Self.dot]))
  }

  @Test(arguments: 0..<3)
  func `each part has one spelling in base64url`(part: Int) throws {
    let parts = try partsWithBitsLeftOver()
    #expect(verdict(verifier, joined(parts)) == .ok)
    var others = Self.misspellings(of: parts[part], foreign: ["+", "/"])
    others.append(parts[part] + Array("==".utf8))
    // A remainder of one character stands for no byte.
    others.append(parts[part].dropLast(parts[part].count % 4 - 1))
    others.append(
      try #require(Self.withStrayBits(parts[part], alphabet: Self.urlAlphabet)))
    others.append([])
    for other in others {
      var changed = parts
      changed[part] = other
      #expect(verdict(verifier, joined(changed)) == .malformed)
    }
  }

  @Test(arguments: 0..<3)
  func `each certificate has one spelling in base64`(index: Int) throws {
    let workshop = try workshopWithBitsLeftOver()
    let verifier = workshop.verifier
    let text = Array(workshop.chain[index].utf8)
    var others = Self.misspellings(of: text, foreign: ["-", "_"])
    others.append(text.filter { $0 != UInt8(ascii: "=") })
    others.append(try #require(Self.withStrayBits(text, alphabet: Self.standardAlphabet)))
    others.append(text + Array("====".utf8))
    others.append([])
    for other in others {
      var chain = workshop.chain
      chain[index] = Self.jsonText(other)
      let jws = try workshop.sign(header: Header(x5c: chain))
      #expect(verdict(verifier, jws) == .invalidCertificate, "\(chain[index].prefix(8))")
    }
    // JSON has many spellings of a string; what it reads is what counts. Xcode escapes slashes.
    var chain = workshop.chain
    chain[index] = chain[index].replacing("/", with: #"\/"#)
    #expect(verdict(verifier, try workshop.sign(header: Header(x5c: chain))) == .ok)
  }

  /// An authority whose certificates all need padding. The lengths of their signatures vary.
  private func workshopWithBitsLeftOver() throws -> Workshop {
    while true {
      let authority = try SigningAuthority.generate()
      let members = [authority.leaf, authority.intermediate, authority.root]
      if members.allSatisfy({ $0.certificate.count % 3 != 0 }) {
        return Workshop(authority: authority)
      }
    }
  }

  private static func jsonText(_ bytes: [UInt8]) -> String {
    var text = ""
    for scalar in String(decoding: bytes, as: UTF8.self).unicodeScalars {
      switch scalar {
      case "\n": text += #"\n"#
      case "\r": text += #"\r"#
      case "\t": text += #"\t"#
      case "\0": text += #"\u0000"#
      default: text.unicodeScalars.append(scalar)
      }
    }
    return text
  }

  @Test(arguments: [
    #""none""#, #""None""#, #""HS256""#, #""es256""#, #""ES256 ""#, #""ES256\u0000""#, #""ES384""#,
    #""ES512""#, #""ES256K""#, #""RS256""#, #""PS256""#, #""EdDSA""#, #""""#, "null", "256", "true",
    "{}", #"["ES256"]"#, nil,
  ])
  func `an algorithm is ES256 to the letter`(alg: String?) throws {
    var header = Header(x5c: workshop.chain)
    header.alg = alg
    let jws = try workshop.sign(header: header)
    #expect(verdict(verifier, jws) == .unsupportedAlgorithm)
    // Neither a secret that is public nor no signature at all helps.
    for signature in ["", "AA"] {
      let parts = jws.split(separator: Self.dot).map(Array.init)
      let changed = joined([parts[0], parts[1], Array(signature.utf8)])
      #expect(
        verdict(verifier, changed) == (signature.isEmpty ? .malformed : .unsupportedAlgorithm))
    }
  }

  @Test func `an algorithm whose name is spelled with escapes is the same`() throws {
    var header = Header(x5c: workshop.chain)
    header.alg = #""\u0045S256""#
    #expect(verdict(verifier, try workshop.sign(header: header)) == .ok)
  }

  @Test(arguments: [
    #","crit":[]"#, #","crit":null"#, #","crit":["b64"],"b64":false"#, #","crit":["exp"],"exp":1"#,
    #","crit":"""#, #","\u0063rit":[]"#, #","b64":false"#, #","b64":true"#, #","b64":null"#,
  ])
  func `critical header parameters and b64 are unsupported`(
    members: String
  ) throws {
    var header = Header(x5c: workshop.chain)
    header.more = members
    #expect(verdict(verifier, try workshop.sign(header: header)) == .unsupportedAlgorithm)
  }

  @Test(arguments: [
    #","alg":"ES256""#, #","alg":"none""#, #","\u0061lg":"ES256""#, #","x5c":[]"#, #","n":1,"n":1"#,
    #","n":{"a":1,"a":1}"#, #","n":{"a":1,"\u0061":1}"#,
  ])
  func `a header that names something twice is malformed`(members: String) throws {
    var header = Header(x5c: workshop.chain)
    header.more = members
    #expect(verdict(verifier, try workshop.sign(header: header)) == .malformed)
  }

  @Test(arguments: [
    #","kid":"Apple_Xcode_Key","typ":"JWT""#, #","jku":"https://example.com/keys""#,
    #","jwk":{"kty":"EC"}"#, #","x5u":"https://example.com/chain""#, #","x5t":"AA""#,
    #","n":[1.5,{"deep":null}]"#,
  ])
  func `other members of a header are ignored, also those that name keys`(
    members: String
  ) throws {
    var header = Header(x5c: workshop.chain)
    header.more = members
    #expect(verdict(verifier, try workshop.sign(header: header)) == .ok)
  }

  @Test func `the verdict names the first cause in the order of the checks`() throws {
    let forged = Workshop.twin
    var header = Header(x5c: forged.chain)
    header.alg = #""none""#
    let payload = Payload.transaction().with("bundleId", #""com.example.other""#)
      .with("environment", #""Production""#)
    // Everything is wrong; then one thing after the other is put right.
    var text = try workshop.sign(payload.with("signedDate", "1.5"), header: header)
    #expect(verdict(verifier, text) == .malformed)
    text = try workshop.sign(payload.with("signedDate", "9000000000000"), header: header)
    #expect(verdict(verifier, text) == .unsupportedAlgorithm)
    header = Header(x5c: forged.chain.dropLast())
    text = try workshop.sign(payload.with("signedDate", "9000000000000"), header: header)
    #expect(verdict(verifier, text) == .invalidCertificate)
    header = Header(x5c: forged.chain)
    text = try workshop.sign(payload.with("signedDate", "9000000000000"), header: header)
    #expect(verdict(verifier, text) == .untrustedChain)
    header = Header(x5c: workshop.chain)
    let key = forged.authority.leaf.key
    text = try workshop.sign(
      payload.with("signedDate", "9000000000000"), header: header, key: key)
    #expect(verdict(verifier, text) == .certificateExpired)
    text = try workshop.sign(payload, header: header, key: key)
    #expect(verdict(verifier, text) == .invalidSignature)
    text = try workshop.sign(payload, header: header)
    #expect(verdict(verifier, text) == .wrongApp)
    text = try workshop.sign(
      payload.with("bundleId", #""com.example.scribe""#), header: header)
    #expect(verdict(verifier, text) == .wrongEnvironment)
    text = try workshop.sign(header: header)
    #expect(verdict(verifier, text) == .ok)
  }

  @Test func `every refusal tells its reason in one sentence`() throws {
    var header = Header(x5c: workshop.chain)
    header.alg = #""none""#
    let texts = [
      Array("a.b".utf8), try workshop.sign(header: header),
      try workshop.sign(header: Header(x5c: [])),
      try Workshop.twin.sign(.transaction()),
      try workshop.sign(Payload.transaction().with("signedDate", "9000000000000")),
      try workshop.sign(
        header: Header(x5c: workshop.chain), key: Workshop.twin.authority.leaf.key),
      try workshop.sign(Payload.transaction().with("bundleId", #""com.example.other""#)),
      try workshop.sign(Payload.transaction().with("environment", #""Production""#)),
    ]
    var details: Set<String> = []
    for text in texts {
      let refusal = #expect(throws: Refusal.self) {
        try verifier.verify(text, policy: .scribe, now: Workshop.signedDate)
      }
      let detail = try #require(refusal?.detail)
      #expect(!detail.isEmpty && !detail.hasSuffix(".") && !detail.contains("\n"))
      details.insert(detail)
    }
    #expect(details.count == texts.count)
  }
}
