import Cryptography
import EntitlementDomain
import Locks
import StoreSimulator
import TestSupport
import Testing

@testable import Verification

@Suite("Tables of signers' keys")
struct SignerTablesTests {
  let workshop = Workshop.shared
  private let threshold = VerificationLimits.verificationsForTable

  private func signer(_ number: Int) throws -> TrustedSigner {
    let authority = workshop.authority
    return try TrustedSigner(
      header: Array("header \(number)".utf8),
      key: try Certificate(der: authority.leaf.certificate).verifyingKey(),
      chain: try CertificateChain(
        [authority.leaf, authority.intermediate, authority.root].map {
          try Certificate(der: $0.certificate)
        }), anchor: .named(for: [.sandbox]))
  }

  @Test func `a signer that is seen often gets one, and its verdicts stay the same`() throws {
    let verifier = workshop.verifier
    let genuine = try workshop.sign(.transaction())
    let forged = withAlteredSignature(genuine)
    for _ in 1..<threshold {
      #expect(verdict(verifier, genuine) == .ok)
      #expect(verdict(verifier, forged) == .invalidSignature)
    }
    verifier.tables.settle()
    let signer = try #require(verifier.cache.mostRecent)
    #expect(!signer.key.hasTable)
    // Invalid signatures were not counted.
    #expect(verdict(verifier, genuine) == .ok)
    verifier.tables.settle()
    #expect(signer.key.hasTable)
    #expect(verdict(verifier, genuine) == .ok)
    #expect(verdict(verifier, forged) == .invalidSignature)
  }

  @Test func `their number is bounded, and the signer that is used least loses its own`() throws {
    let clock = LockedValue(ContinuousClock.now)
    let tables = SignerTables(now: { clock.withLock(\.self) })
    let signers = try (0...VerificationLimits.signerTables).map { try signer($0) }
    func use(_ signer: TrustedSigner, times: Int) {
      for _ in 0..<times { tables.verified(by: signer) }
    }
    for signer in signers.dropLast() {
      use(signer, times: threshold)
      tables.settle()
      #expect(signer.key.hasTable)
      clock.withLock { $0 += VerificationLimits.tableInterval }
    }
    // All but one are used since.
    for (index, signer) in signers.dropLast().enumerated() where index != 3 {
      use(signer, times: 10)
    }
    use(signers[signers.count - 1], times: threshold)
    tables.settle()
    #expect(signers.indices.filter { !signers[$0].key.hasTable } == [3])
    #expect(tables.signers.count == VerificationLimits.signerTables)
  }

  @Test func `they are made one after the other, with time between them`() throws {
    let clock = LockedValue(ContinuousClock.now)
    let tables = SignerTables(now: { clock.withLock(\.self) })
    let (first, second) = (try signer(1), try signer(2))
    for signer in [first, second] {
      for _ in 0..<threshold { tables.verified(by: signer) }
      tables.settle()
    }
    #expect(first.key.hasTable && !second.key.hasTable)
    clock.withLock { $0 += VerificationLimits.tableInterval }
    // Its next turn is when it was seen as often again.
    for _ in 1..<threshold { tables.verified(by: second) }
    tables.settle()
    #expect(!second.key.hasTable)
    tables.verified(by: second)
    tables.settle()
    #expect(second.key.hasTable)
  }
}
