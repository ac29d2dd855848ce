import Cryptography
import TestSupport
import Testing

@testable import AccessControl

@Suite("Tokens")
struct AccessTokenTests {
  @Test("A new token has the documented form, and no two are equal")
  func form() throws {
    let tokens = (0..<1_000).map { _ in AccessToken() }
    #expect(Set(tokens.map(\.text)).count == 1_000)
    for token in tokens {
      #expect(token.text.wholeMatch(of: /entl_[0-9A-Za-z]{8}_[0-9A-Za-z]{49}/) != nil)
      #expect(id(of: token.text) == token.id)
      #expect(AccessToken.isID(token.id))
    }
  }

  @Test("A changed, shortened or lengthened token has no id")
  func damage() {
    let text = AccessToken().text
    for index in text.indices {
      var damaged = text
      let other: Character = text[index] == "x" ? "y" : "x"
      damaged.replaceSubrange(index...index, with: String(other))
      #expect(id(of: damaged) == nil)
    }
    for length in 0..<text.count { #expect(id(of: String(text.prefix(length))) == nil) }
    #expect(id(of: text + "0") == nil)
    #expect(id(of: "") == nil)
  }

  @Test("Random bytes have no id")
  func random() {
    var generator = SeededRandom(for: "tokens")
    for _ in 0..<10_000 {
      let bytes = (0..<AccessToken.length).map { _ in UInt8.random(in: 0...255, using: &generator) }
      #expect(bytes.withUnsafeBytes { AccessToken.id(in: $0) } == nil, "seed \(generator.seed)")
    }
  }

  @Test("The comparison finds every difference of a bit")
  func comparison() {
    for length in [0, 1, 7, 8, 9, 71] {
      let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 37) }
      #expect(areEqual(bytes, bytes))
      #expect(!areEqual(bytes, bytes + [0]))
      for bit in 0..<length * 8 {
        var other = bytes
        other[bit / 8] ^= 1 << UInt8(bit % 8)
        #expect(!areEqual(bytes, other))
      }
    }
  }

  private func areEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
    left.withUnsafeBytes { left in right.withUnsafeBytes { ConstantTime.areEqual(left, $0) } }
  }

  private func id(of text: String) -> String? {
    Array(text.utf8).withUnsafeBytes { AccessToken.id(in: $0) }
  }
}
