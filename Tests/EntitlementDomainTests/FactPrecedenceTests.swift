import EntitlementDomain
import Testing

@Suite("Versions of a fact")
struct FactPrecedenceTests {
  /// From the least to the greatest (R5).
  private static let ordered: [FactPrecedence] = [
    precedence(signed: 1, revoked: true, upgraded: true, digest: 9),
    precedence(signed: 2, digest: 1), precedence(signed: 2, digest: 2),
    precedence(signed: 2, upgraded: true, digest: 0),
    precedence(signed: 2, revoked: true, digest: 0),
    precedence(signed: 2, revoked: true, upgraded: true, digest: 0),
    precedence(signed: 3, digest: 0),
  ]

  private static func precedence(
    signed: Int64, revoked: Bool = false, upgraded: Bool = false, digest: UInt8
  ) -> FactPrecedence {
    FactPrecedence(
      signedDate: Milliseconds(signed), isRevoked: revoked, isUpgraded: upgraded,
      digest: PayloadDigest([digest] + [UInt8](repeating: 0, count: 31)))
  }

  @Test("R5: signed later, then revoked, then upgraded, then the larger digest stands")
  func order() {
    for (index, lesser) in Self.ordered.enumerated() {
      for (otherIndex, other) in Self.ordered.enumerated() {
        #expect((lesser < other) == (index < otherIndex))
        #expect((lesser == other) == (index == otherIndex))
      }
    }
  }

  @Test("A digest keeps its 32 bytes and compares as they do")
  func digest() {
    let bytes = (0..<32).map { UInt8($0 * 7 % 256) }
    #expect(PayloadDigest(bytes).bytes == bytes)
    var larger = bytes
    larger[31] += 1
    #expect(PayloadDigest(bytes) < PayloadDigest(larger))
    #expect(PayloadDigest(bytes).hexadecimal.hasPrefix("00070e15"))
  }
}
