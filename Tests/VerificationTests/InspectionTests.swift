import EntitlementDomain
import JSON
import StoreSimulator
import TestSupport
import Testing
import Verification

@Suite("Looking at a JWS without trusting it")
struct InspectionTests {
  let verifier = JWSVerifier()

  @Test func `a refused payload is still shown`() throws {
    let jws = try Workshop.shared.sign(.transaction())
    #expect(verdict(verifier, jws) == .untrustedChain)
    let inspected = try verifier.inspect(jws)
    #expect(inspected.kind == .transaction)
    #expect(
      inspected.payload.indented().contains(#""productId": "com.example.scribe.pro.monthly""#))
    #expect(inspected.header.indented().contains(#""alg": "ES256""#))
    #expect(inspected.certificates.count == 3)
    #expect(
      inspected.certificates.last?.fingerprint == Workshop.shared.authority.rootFingerprint)
    #expect(inspected.certificates.first?.issuer == inspected.certificates[1].subject)
  }

  @Test func `an unknown kind and unreadable certificates are shown without them`() throws {
    let jws = try Workshop.shared.sign(
      Payload(members: ["hello": "1"]), header: Header(x5c: ["AAAA"]))
    let inspected = try verifier.inspect(jws)
    #expect(inspected.kind == nil)
    #expect(inspected.certificates.isEmpty)
  }

  @Test(arguments: ["", "a.b", "e30.W10.AA", "W10.e30.AA", "e30.e30.A"])
  func `what cannot be read is malformed`(text: String) {
    let refusal = #expect(throws: Refusal.self) { try verifier.inspect(Array(text.utf8)) }
    #expect(refusal?.verdict == .malformed)
  }
}
