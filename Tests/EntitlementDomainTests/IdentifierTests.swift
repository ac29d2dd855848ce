import EntitlementDomain
import Testing

@Suite("Identifiers")
struct IdentifierTests {
  @Test("They compare byte by byte, unlike text that only looks the same")
  func bytes() {
    let composed = AccountID("caf\u{e9}")
    let decomposed = AccountID("cafe\u{301}")
    #expect(composed.rawValue == decomposed.rawValue)
    #expect(composed != decomposed)
    #expect(Set([composed, decomposed]).count == 2)
    #expect(decomposed < composed)
    #expect(AccountID("10") < AccountID("9"))
  }
}
