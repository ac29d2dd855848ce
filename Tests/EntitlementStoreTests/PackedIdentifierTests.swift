import EntitlementStore
import TestSupport
import Testing

@Suite("Packed identifiers")
struct PackedIdentifierTests {
  @Test(
    "Numbers take half a byte a digit, UUIDs 17 bytes, other texts one byte more",
    arguments: [
      ("2000000123456789", [0x20, 0x00, 0x00, 0x01, 0x23, 0x45, 0x67, 0x89]),
      ("704", [0x70, 0x4f]),
      ("0", [0x0f]),
      ("007", [0x00, 0x7f]),
      (
        "55aed4e5-4f40-4341-8705-54c19cce45e8",
        [
          0xfe, 0x55, 0xae, 0xd4, 0xe5, 0x4f, 0x40, 0x43, 0x41, 0x87, 0x05, 0x54, 0xc1, 0x9c, 0xce,
          0x45, 0xe8,
        ]
      ),
      ("", [0xff]),
      ("a1", [0xff, 0x61, 0x31]),
      ("12 ", [0xff, 0x31, 0x32, 0x20]),
      ("é", [0xff, 0xc3, 0xa9]),
    ] as [(String, [UInt8])])
  func forms(text: String, bytes: [UInt8]) throws {
    #expect(PackedIdentifier.bytes(of: text) == bytes)
    #expect(try PackedIdentifier.text(of: bytes) == text)
  }

  @Test(
    "What only resembles a UUID is a text",
    arguments: [
      "55AED4E5-4F40-4341-8705-54C19CCE45E8", "55aed4e54f40-4341-8705-54c19cce45e8-",
      "55aed4e5-4f40-4341-8705-54c19cce45eg", "55aed4e5-4f40-4341-8705-54c19cce45e",
      "-5aed4e5-4f40-4341-8705-54c19cce45e8",
    ])
  func almostUUIDs(text: String) throws {
    let bytes = PackedIdentifier.bytes(of: text)
    #expect(bytes.count == text.utf8.count + 1)
    #expect(try PackedIdentifier.text(of: bytes) == text)
  }

  @Test("Every text comes back, and equal bytes are equal texts")
  func everyTextComesBack() throws {
    var random = SeededRandom(for: "packed identifiers")
    let alphabets = ["0123456789", "0123456789abcdef-", "09fe\u{0}é—"].map(Array.init)
    var texts: [[UInt8]: String] = [:]
    for _ in 0..<20_000 {
      let alphabet = alphabets[Int.random(in: 0..<alphabets.count, using: &random)]
      let length = Int.random(in: 0...20, using: &random)
      let text = String(
        (0..<length).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &random)] })
      let bytes = PackedIdentifier.bytes(of: text)
      #expect(try PackedIdentifier.text(of: bytes) == text)
      #expect(texts.updateValue(text, forKey: bytes) ?? text == text)
    }
  }

  @Test("Numbers of one length, and UUIDs, keep their order")
  func order() {
    let numbers = ["0999", "1000", "2000", "2001", "9999"].map(PackedIdentifier.bytes)
    #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0.lexicographicallyPrecedes($1) })
    let first = PackedIdentifier.bytes(of: "0f000000-0000-4000-8000-000000000000")
    let second = PackedIdentifier.bytes(of: "a0000000-0000-4000-8000-000000000000")
    #expect(first.lexicographicallyPrecedes(second))
  }

  @Test(
    "Other bytes are refused",
    arguments: [
      [], [0xa0], [0x1a], [0x1f, 0x10], [0xf1], [0xfe], [0xfe, 0x00], [0xff, 0xc3],
      [0xfd, 0x31],
    ] as [[UInt8]])
  func refusals(bytes: [UInt8]) {
    #expect(throws: StoreError.self) { try PackedIdentifier.text(of: bytes) }
  }
}
