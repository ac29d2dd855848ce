import Cryptography
import EntitlementDomain
import StoreSimulator
import TestSupport
import Testing

@testable import Verification

/// Every text that differs in one bit from one that is accepted is refused: in its header with its
/// certificates, its payload, its signature and the dots between them.
@Suite("Every single bit counts")
struct BitFlipTests {
  let workshop = Workshop.shared

  /// - Parameters:
  ///   - share: which quarter of the text is altered, so that tests run side by side.
  ///   - hasTable: whether signatures are checked with a table of the signer's key.
  private func expectRefusals(of jws: [UInt8], share: Int, hasTable: Bool) throws {
    let verifier = workshop.verifier
    #expect(verdict(verifier, jws) == .ok)
    let signer = try #require(verifier.cache.mostRecent)
    if hasTable { try #require(signer.key.makeTable()) }
    let quarter = (jws.count + 3) / 4
    for index in jws.indices.dropFirst(share * quarter).prefix(quarter) {
      for bit in 0..<8 {
        var altered = jws
        altered[index] ^= 1 << UInt8(bit)
        let outcome = verdict(verifier, altered)
        // Payloads that are not authentic get no verdict about app or environment.
        let isAboutContent = [.ok, .wrongApp, .wrongEnvironment, .retryable].contains(outcome)
        #expect(!isAboutContent, "byte \(index), bit \(bit): \(outcome.name)")
      }
    }
  }

  @Test(arguments: 0..<4, [false, true])
  func `of a transaction`(share: Int, hasTable: Bool) throws {
    try expectRefusals(of: try workshop.sign(.transaction()), share: share, hasTable: hasTable)
  }

  @Test func `of the payload and the signature of a notification`() throws {
    let inner = String(decoding: try workshop.sign(.transaction()), as: UTF8.self)
    let data = Payload.notificationData().with("signedTransactionInfo", "\"\(inner)\"")
    let jws = try workshop.sign(Payload.notification(data: data))
    let verifier = workshop.verifier
    #expect(verdict(verifier, jws) == .ok)
    let header = try #require(jws.firstIndex(of: UInt8(ascii: ".")))
    // Each bit of the outer payload in turn would take long: every seventh byte, each with another
    // bit, reaches all of its parts, the inner payload's among them.
    for (number, index) in (header..<jws.count).enumerated() {
      for bit in number % 7 == 0 ? [number / 7 % 8] : [] {
        var altered = jws
        altered[index] ^= 1 << UInt8(bit)
        #expect(verdict(verifier, altered) != .ok, "byte \(index), bit \(bit)")
      }
    }
  }

  @Test func `of a payload inside a notification, under an outer signature that is right`() throws {
    let inner = try workshop.sign(.transaction())
    let verifier = workshop.verifier
    for index in stride(from: 0, to: inner.count, by: 5) {
      var altered = inner
      altered[index] ^= 1
      // Alterations that leave no JSON string are not this test's.
      guard altered[index] >= 0x20, altered[index] < 0x7F, altered[index] != UInt8(ascii: "\""),
        altered[index] != UInt8(ascii: "\\")
      else { continue }
      let text = String(decoding: altered, as: UTF8.self)
      let data = Payload.notificationData().with("signedTransactionInfo", "\"\(text)\"")
      let jws = try workshop.sign(Payload.notification(data: data))
      #expect(verdict(verifier, jws) != .ok, "byte \(index)")
    }
  }

  @Test func `a text cut at any length, or with a byte more, is refused`() throws {
    let jws = try workshop.sign(.transaction())
    let verifier = workshop.verifier
    for length in 0..<jws.count {
      #expect(verdict(verifier, Array(jws[..<length])) != .ok, "cut at \(length)")
    }
    for byte in 0...UInt8.max {
      #expect(verdict(verifier, jws + [byte]) != .ok)
      #expect(verdict(verifier, [byte] + jws) != .ok)
    }
  }
}
