import Cryptography
import EntitlementDomain
import StoreSimulator
import TestSupport
import Testing
import Verification

@Suite("Input that was damaged or made up")
struct HostileInputTests {
  let workshop = Workshop.shared

  @Test func `random bytes are refused`() {
    var generator = SeededRandom(for: "random bytes")
    let verifier = workshop.verifier
    for _ in 0..<2_000 {
      let length = Int.random(in: 0..<300, using: &generator)
      let bytes = (0..<length).map { _ in UInt8.random(in: 0...255, using: &generator) }
      #expect(verdict(verifier, bytes) != .ok)
    }
  }

  @Test func `random parts in the form of a JWS are refused`() {
    var generator = SeededRandom(for: "random parts")
    let verifier = workshop.verifier
    let tokens = [
      "{", "}", "[", "]", ",", ":", "\"", "\\", "\\u", "alg", "ES256", "x5c", "transactionId",
      "signedDate", "1e9", "-", "0", "null", "true", "\u{E9}", " ",
    ]
    for _ in 0..<2_000 {
      let parts = (0..<3).map { _ in
        let text = (0..<Int.random(in: 0..<20, using: &generator))
          .map { _ in tokens[Int.random(in: 0..<tokens.count, using: &generator)] }.joined()
        return Base64Form.urlWithoutPadding.encode(Array(text.utf8))
      }
      #expect(verdict(verifier, Array(parts.joined(separator: [UInt8(ascii: ".")]))) != .ok)
    }
  }

  @Test func `certificates with any byte altered never trap and are refused`() throws {
    let verifier = workshop.verifier
    let good = [
      workshop.authority.leaf.certificate, workshop.authority.intermediate.certificate,
      workshop.authority.root.certificate,
    ]
    var generator = SeededRandom(for: "altered certificates")
    for index in good.indices {
      for position in stride(from: 0, to: good[index].count, by: 3) {
        var certificates = good
        certificates[index][position] ^= UInt8.random(in: 1...255, using: &generator)
        let jws = try workshop.sign(header: Header(certificates: certificates))
        #expect(verdict(verifier, jws) != .ok, "certificate \(index), byte \(position)")
      }
    }
  }

  @Test func `nesting of ten thousand levels is refused`() throws {
    for (open, close) in [("[", "]"), (#"{"a":"#, "}")] {
      let json =
        #"{"transactionId":"# + String(repeating: open, count: 10_000) + "1"
        + String(repeating: close, count: 10_000) + "}"
      #expect(verdict(workshop.verifier, try workshop.sign(Array(json.utf8))) == .malformed)
    }
  }
}
