import Cryptography
import StoreSimulator
import TestSupport
import Testing

@Suite("Hashes, base64 and certificates")
struct CryptographyTests {
  @Test(arguments: [
    ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
    ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    (
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
    ),
  ])
  func `SHA-256 agrees with FIPS 180-4`(text: String, expected: String) throws {
    // Twice: the second time the context is used again.
    for _ in 0..<2 {
      #expect(try SHA256.digest(of: Array(text.utf8)).hexadecimal == expected)
    }
    #expect(SHA256Digest(hexadecimal: expected)?.hexadecimal == expected)
  }

  @Test func `a series gives the digests of its messages`() throws {
    // Two at once: each has a context of its own.
    let (first, second) = (SHA256.Series(), SHA256.Series())
    for length in 0..<200 {
      let message = [UInt8](repeating: 7, count: length)
      let digest = try SHA256.digest(of: message)
      #expect(try first.digest(of: message) == digest)
      #expect(try second.digest(of: message) == digest)
    }
  }

  @Test func `digests made at once on many threads are right`() async throws {
    let expected = try (0..<64).map { try SHA256.digest(of: [UInt8(truncatingIfNeeded: $0)]) }
    await withTaskGroup { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<50 {
            for (byte, digest) in expected.enumerated() {
              #expect(
                (try? SHA256.digest(of: [UInt8(truncatingIfNeeded: byte)])) == digest)
            }
          }
        }
      }
    }
  }

  @Test(arguments: [Base64Form.urlWithoutPadding, .standard])
  func `every length is read back as it was written`(form: Base64Form) throws {
    var generator = SeededRandom(for: "base64")
    for length in 0..<200 {
      let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
      #expect(try form.decode(form.encode(bytes)) == bytes)
    }
  }

  @Test(arguments: [
    ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"),
    ("fooba", "Zm9vYmE"), ("foobar", "Zm9vYmFy"),
  ])
  func `the vectors of RFC 4648 hold with and without padding`(plain: String, text: String) throws {
    let padded = text + String(repeating: "=", count: (4 - text.count % 4) % 4)
    #expect(try Base64Form.urlWithoutPadding.decode(text.utf8) == Array(plain.utf8))
    #expect(try Base64Form.standard.decode(padded.utf8) == Array(plain.utf8))
    #expect(Base64Form.urlWithoutPadding.encode(Array(plain.utf8)) == Array(text.utf8))
    #expect(Base64Form.standard.encode(Array(plain.utf8)) == Array(padded.utf8))
  }

  @Test func `each value has one text and no other`() {
    // All texts of up to three characters: exactly the canonical ones are decoded.
    let characters = Array("AQgw-_+/=\n ZB".utf8)
    for form in [Base64Form.urlWithoutPadding, .standard] {
      var texts: [[UInt8]] = [[]]
      for _ in 0..<4 {
        for text in texts {
          if let bytes = try? form.decode(text) { #expect(form.encode(bytes) == text) }
        }
        texts = texts.flatMap { text in characters.map { text + [$0] } }
      }
    }
  }

  @Test func `a certificate says what was put into it`() throws {
    let authority = Workshop.shared.authority
    let leaf = try Certificate(der: authority.leaf.certificate)
    let intermediate = try Certificate(der: authority.intermediate.certificate)
    let root = try Certificate(der: authority.root.certificate)
    #expect(!leaf.isAuthority && leaf.maySignData && !leaf.mayIssueCertificates)
    #expect(intermediate.isAuthority && intermediate.mayIssueCertificates)
    #expect(intermediate.pathLengthLimit == 0 && root.pathLengthLimit == nil)
    #expect(leaf.hasExtension(SigningAuthority.leafMark))
    #expect(!leaf.hasExtension(SigningAuthority.intermediateMark))
    #expect(!leaf.hasExtension("not an identifier"))
    #expect(try leaf.isIssued(by: intermediate) && intermediate.isIssued(by: root))
    #expect(try !leaf.isIssued(by: root) && !intermediate.isIssued(by: leaf))
    #expect(leaf.issuer == intermediate.subject)
    #expect(leaf.validity == 1_215_648_000_000...4_102_444_799_000)
    #expect(throws: CryptographyError.self) { try root.verifyingKey() }
  }

  @Test func `a key accepts its own signatures and no others`() throws {
    let authority = Workshop.shared.authority
    let key = try Certificate(der: authority.leaf.certificate).verifyingKey()
    for count in [0, 1, 63, 64, 65, 10_000] {
      let message = [UInt8](repeating: 7, count: count)
      let signature = try authority.leaf.key.signature(over: message)
      #expect(try key.isValidSignature(signature, of: message))
      #expect(try !key.isValidSignature(signature, of: message + [0]))
      #expect(try !key.isValidSignature(signature.reversed(), of: message))
      #expect(try !key.isValidSignature(signature + [0], of: message))
    }
  }

  @Test func `a certificate cut at any length is refused`() {
    let der = Workshop.shared.authority.leaf.certificate
    for length in 0..<der.count {
      #expect(throws: CryptographyError.self) { try Certificate(der: Array(der[..<length])) }
    }
  }
}
