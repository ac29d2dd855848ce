import EntitlementDomain
import TestSupport
import Testing
import Verification

@Suite("Walking over DER")
struct DERWalkTests {
  private func nested(_ depth: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    for _ in 0..<depth { bytes = [0x30] + DERNode.length(bytes.count) + bytes }
    return bytes
  }

  @Test func `elements and depth are counted`() throws {
    let tree = DERNode(0x30, [.integer(1), DERNode(0x31, [.octets([1, 2])]), .empty(0x30)])
    let walk = try DERWalk(tree.encoded)
    #expect(walk.elements == 5)
    #expect(walk.depth == 3)
    #expect(try DERWalk([0x05, 0x00]).depth == 1)
  }

  @Test func `depth is bounded`() throws {
    let limit = VerificationLimits.receiptDepth
    #expect(try DERWalk(nested(limit)).depth == limit)
    for depth in [limit + 1, 10_000] {
      #expect(throws: Refusal.self) { try DERWalk(nested(depth)) }
    }
  }

  @Test func `the number of elements is bounded`() throws {
    let limit = VerificationLimits.receiptElements
    let most = DERNode(0x30, Array(repeating: .octets([]), count: limit - 1))
    #expect(try DERWalk(most.encoded).elements == limit)
    let more = DERNode(0x30, Array(repeating: .octets([]), count: limit))
    #expect(throws: Refusal.self) { try DERWalk(more.encoded) }
    // 4 MiB of the shortest elements.
    let many = DERNode(0x30, Array(repeating: .octets([]), count: 2_097_152))
    #expect(throws: Refusal.self) { try DERWalk(many.encoded) }
  }

  @Test func `the contents of octet strings are not visited`() throws {
    #expect(try DERWalk(DERNode.octets([0x30, 0x80]).encoded).elements == 1)
  }

  @Test func `one element is all that there may be`() {
    #expect(throws: Refusal.self) { try DERWalk([0x05, 0x00, 0x05, 0x00]) }
    #expect(throws: Refusal.self) { try DERWalk([]) }
    #expect(throws: Refusal.self) { try DERWalk([0x30, 0x03, 0x05, 0x00, 0x05]) }
    #expect(throws: Refusal.self) { try DERWalk([0x30, 0x02, 0x05, 0x01, 0x00]) }
  }

  @Test func `random bytes never trap`() {
    var generator = SeededRandom(for: "DER of random bytes")
    for _ in 0..<3_000 {
      _ = try? DERWalk(generator.bytes(upTo: 200))
      // With identifiers and lengths that are likely.
      let likely = (0..<Int.random(in: 0...60, using: &generator)).map { _ in
        [0x30, 0x31, 0x02, 0x04, 0x0C, 0x80, 0x81, 0x82, 0xA0, 0x00, 0x01, 0x02, 0x05]
          .randomElement(
            using: &generator) ?? UInt8(0)
      }
      _ = try? DERWalk(likely)
      _ = try? Receipt(content: likely)
    }
  }
}
