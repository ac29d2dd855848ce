import TestSupport
import Testing

@testable import Verification

@Suite("Indefinite lengths")
struct IndefiniteFormTests {
  private func outcome(_ bytes: [UInt8]) -> Result<[UInt8], Refusal> {
    Result { () throws(Refusal) in try IndefiniteForm.der(of: bytes) }
  }

  @Test(
    arguments: [
      ("nothing inside", [0x30, 0x80, 0, 0], [0x30, 0]),
      ("one element", [0x30, 0x80, 0x02, 1, 7, 0, 0], [0x30, 3, 0x02, 1, 7]),
      (
        "indefinite in indefinite", [0x30, 0x80, 0xA0, 0x80, 0x05, 0, 0, 0, 0x02, 1, 7, 0, 0],
        [0x30, 7, 0xA0, 2, 0x05, 0, 0x02, 1, 7]
      ),
      (
        "an octet string in segments",
        [0x30, 0x80, 0x24, 0x80, 0x04, 2, 1, 2, 0x04, 0, 0x04, 1, 3, 0, 0, 0, 0],
        [0x30, 5, 0x04, 3, 1, 2, 3]
      ),
      ("an octet string without a segment", [0x24, 0x80, 0, 0], [0x04, 0]),
      (
        "definite is copied as it is", [0x30, 0x80, 0x24, 3, 0x04, 1, 9, 0, 0],
        [0x30, 5, 0x24, 3, 0x04, 1, 9]
      ),
    ] as [(String, [UInt8], [UInt8])])
  func `are written as definite ones`(name: String, bytes: [UInt8], der: [UInt8]) {
    #expect(outcome(bytes) == .success(der))
    #expect(IndefiniteForm.isUsed(by: bytes))
    #expect(!IndefiniteForm.isUsed(by: der))
  }

  @Test(arguments: [127, 128, 255, 256, 65_535, 65_536, 1_000_000])
  func `get the shortest length`(count: Int) throws {
    let octets = [UInt8](repeating: 5, count: count)
    let segments = stride(from: 0, to: count, by: 999).flatMap { start in
      DERNode.octets(Array(octets[start..<min(start + 999, count)])).encoded
    }
    #expect(
      outcome([0x24, 0x80] + segments + [0, 0]) == .success(DERNode.octets(octets).encoded))
  }

  @Test(
    arguments: [
      ("nothing", []), ("no end", [0x30, 0x80]), ("half an end", [0x30, 0x80, 0]),
      ("no end inside", [0x30, 0x80, 0x30, 0x80, 0, 0]),
      ("bytes after the end", [0x30, 0x80, 0, 0, 0]),
      ("another element after the end", [0x30, 0x80, 0, 0, 0x05, 0]),
      ("a primitive element", [0x04, 0x80, 0x04, 1, 1, 0, 0]),
      ("a primitive element inside", [0x30, 0x80, 0x02, 0x80, 0, 0, 0, 0]),
      ("a tag of several octets", [0x3F, 0x80, 1, 0, 0]),
      ("a segment that is no octet string", [0x24, 0x80, 0x0C, 1, 0x41, 0, 0]),
      ("a segment in segments", [0x24, 0x80, 0x24, 0x80, 0x04, 1, 1, 0, 0, 0, 0]),
      ("a definite segment in segments", [0x24, 0x80, 0x24, 3, 0x04, 1, 1, 0, 0]),
      ("an element that is longer than the rest", [0x30, 0x80, 0x04, 9, 1, 0, 0]),
      ("a length that is not the shortest", [0x30, 0x80, 0x04, 0x81, 1, 1, 0, 0]),
      ("an end with contents", [0x30, 0x80, 0, 1, 1]),
    ] as [(String, [UInt8])])
  func `are refused in any other form`(name: String, bytes: [UInt8]) {
    guard case .failure(let refusal) = outcome(bytes) else {
      Issue.record("accepted")
      return
    }
    #expect(refusal.verdict == .malformed)
  }

  @Test func `nest up to the limit`() {
    func nest(_ depth: Int) -> [UInt8] {
      (0..<depth).flatMap { _ in [0x30, 0x80] as [UInt8] } + Array(repeating: 0, count: 2 * depth)
    }
    let limit = VerificationLimits.receiptIndefiniteDepth
    #expect(throws: Never.self) { try IndefiniteForm.der(of: nest(limit)) }
    for depth in [limit + 1, 100_000] {
      let refusal = #expect(throws: Refusal.self) { try IndefiniteForm.der(of: nest(depth)) }
      #expect(refusal?.detail == "not DER: more than 16 nested indefinite lengths")
    }
  }

  @Test func `the number of elements is limited`() {
    let limit = VerificationLimits.receiptElements
    func set(_ count: Int) -> [UInt8] {
      [0x31, 0x80] + (0..<count).flatMap { _ in [0x05, 0] as [UInt8] } + [0, 0]
    }
    func string(_ count: Int) -> [UInt8] {
      [0x24, 0x80] + (0..<count).flatMap { _ in [0x04, 1, 7] as [UInt8] } + [0, 0]
    }
    for make in [set, string] {
      #expect(throws: Never.self) { try IndefiniteForm.der(of: make(limit - 1)) }
      let refusal = #expect(throws: Refusal.self) { try IndefiniteForm.der(of: make(limit)) }
      #expect(refusal?.detail.contains("elements") == true)
    }
  }

  @Test func `random bytes give DER of the same octets, or a refusal`() throws {
    var random = SeededRandom(for: "random bytes give DER of the same octets, or a refusal")
    let likely: [UInt8] = [0x30, 0x80, 0x24, 0x04, 0x00, 0x00, 0x00, 0x01, 0x02, 0xA0, 0x31]
    var accepted = 0
    for _ in Rounds(20_000, of: "random indefinite lengths") {
      let tail = (0..<Int.random(in: 0...24, using: &random)).map { _ in
        likely.randomElement(using: &random) ?? 0
      }
      guard case .success(let der) = outcome([0x30, 0x80] + tail + [0, 0]) else { continue }
      accepted += 1
      // What was converted is not converted again, and is one element.
      var reader = DERReader(der)
      #expect(try reader.next().tag == 0x30)
      #expect(reader.isAtEnd)
    }
    #expect(accepted > 0)
  }
}
