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
      digest: PayloadDigest(words: (UInt64(digest), 0)))
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

  @Test("R51: a JWS stands above a receipt, and that above an archived response, whatever else")
  func authority() {
    for (index, lesser) in Self.ordered.enumerated() {
      for greater in Self.ordered[...index] {
        for (low, high) in [
          (FactAuthority.archivedResponse, FactAuthority.receipt), (.receipt, .signedTransaction),
          (.archivedResponse, .signedTransaction),
        ] {
          #expect(lesser.weighed(as: low) < greater.weighed(as: high))
        }
      }
    }
    #expect(FactAuthority.receipt.isSigned && FactAuthority.signedTransaction.isSigned)
    #expect(!FactAuthority.archivedResponse.isSigned)
  }

  @Test("The authority of each kind of fact can be set, and the rest stays the same")
  func settingAuthority() {
    let facts = [
      Fact.transaction(Given.period(1, from: 0)), .renewalInfo(Given.renewal(signed: 1)),
      .appTransaction(Given.app()),
    ]
    for fact in facts {
      #expect(fact.authority == .signedTransaction)
      for authority in [FactAuthority.archivedResponse, .receipt] {
        var other = fact
        other.authority = authority
        #expect(other.authority == authority)
        #expect(other.precedence == fact.precedence.weighed(as: authority))
        #expect(other != fact)
        other.authority = .signedTransaction
        #expect(other == fact)
      }
    }
  }

  @Test("R67: a digest is the first 16 bytes of a SHA-256, and compares as they do")
  func digest() {
    let bytes = (0..<16).map { UInt8($0 * 7) }
    let digest = PayloadDigest(bytes)
    #expect(digest.bytes == bytes)
    #expect(digest.hexadecimal == "00070e151c232a31383f464d545b6269")
    let words: (UInt64, UInt64) = (0x0007_0e15_1c23_2a31, 0x383f_464d_545b_6269)
    #expect(PayloadDigest(words: words) == digest)
    #expect(PayloadDigest(sha256: (words.0, words.1, .max, 1)) == digest)
    for index in bytes.indices {
      var larger = bytes
      larger[index] += 1
      #expect(digest < PayloadDigest(larger))
      #expect(digest != PayloadDigest(larger))
    }
  }
}

extension FactPrecedence {
  fileprivate func weighed(as authority: FactAuthority) -> FactPrecedence {
    FactPrecedence(
      authority: authority, signedDate: signedDate, isRevoked: isRevoked, isUpgraded: isUpgraded,
      digest: digest)
  }
}
