import EntitlementDomain
import TestSupport
import Testing

@Suite("Identifiers")
struct IdentifierTests {
  @Test("Identifiers compare byte by byte, and not by canonical equivalence")
  func bytes() {
    let composed = AccountID("caf\u{e9}")
    let decomposed = AccountID("cafe\u{301}")
    #expect(composed.rawValue == decomposed.rawValue)
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed]).count == 2)
    #expect(decomposed < composed)
    #expect(AccountID("10") < AccountID("9"))
  }

  /// Lengths around 8 and 16 bytes, where the storage and the comparison of strings change.
  private static let texts: [String] = [
    "", "\0", "a", "a\0", "b", "\u{7f}", "\u{80}", "\u{e9}", "e\u{301}", "\u{ffff}", "\u{1f600}",
    "1234567", "12345678", "123456789", "123456780", "12345678\0", "123456789012345",
    "1234567890123456", "12345678901234567", "1234567890123457", "x234567890123456",
    "\u{65e5}\u{672c}\u{8a9e}", "\u{65e5}\u{672c}\u{8a9e}2", "\u{212b}", "\u{c5}", "A\u{30a}",
  ]

  @Test("Equality, order and hash depend on the UTF-8 bytes")
  func likeBytes() {
    for left in Self.texts {
      for right in Self.texts {
        let (leftBytes, rightBytes) = (Array(left.utf8), Array(right.utf8))
        #expect((ProductID(left) == ProductID(right)) == (leftBytes == rightBytes))
        #expect(
          (ProductID(left) < ProductID(right)) == leftBytes.lexicographicallyPrecedes(rightBytes))
      }
    }
    #expect(Set(Self.texts.map { ProductID($0) }).count == Self.texts.count)
  }

  @Test("One byte that differs decides, at any position of a text of any length")
  func oneByte() {
    for length in 1...26 {
      let text = Array(repeating: UInt8(ascii: "a"), count: length)
      let lesser = ProductID(String(decoding: text, as: UTF8.self))
      for position in text.indices {
        var other = text
        other[position] = UInt8(ascii: "b")
        let greater = ProductID(String(decoding: other, as: UTF8.self))
        #expect(lesser != greater)
        #expect(lesser < greater)
        #expect(!(greater < lesser))
      }
    }
  }

  @Test("Random text compares as its bytes do")
  func random() {
    var random = SeededRandom(for: "identifiers")
    for _ in 0..<5_000 {
      let letters = ["a", "b", "\0", "\u{e9}", "e\u{301}", "\u{1f600}"]
      func text() -> String {
        (0..<Int.random(in: 0...20, using: &random)).map { _ in
          letters.randomElement(using: &random) ?? ""
        }.joined()
      }
      let left = text()
      let right = Bool.random(using: &random) ? text() : String(left.unicodeScalars)
      let (leftBytes, rightBytes) = (Array(left.utf8), Array(right.utf8))
      #expect(
        (ProductID(left) == ProductID(right)) == (leftBytes == rightBytes),
        "seed \(random.seed)")
      #expect(
        (ProductID(left) < ProductID(right)) == leftBytes.lexicographicallyPrecedes(rightBytes),
        "seed \(random.seed)")
      if leftBytes == rightBytes {
        #expect(ProductID(left).hashValue == ProductID(right).hashValue)
      }
    }
  }
}
