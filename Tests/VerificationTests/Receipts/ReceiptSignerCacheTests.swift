import Cryptography
import EntitlementDomain
import StoreSimulator
import Testing

@testable import Verification

@Suite("Cache of receipt signers")
struct ReceiptSignerCacheTests {
  @Test func `a signer is validated once, each receipt every time`() throws {
    let verifier = ReceiptWorkshop.verifier
    #expect(verdict(verifier, try ReceiptWorkshop.sign()) == .ok)
    #expect(verifier.cache.count == 1)
    let other = ReceiptWorkshop.content.with(.text(3, "43"))
    #expect(verdict(verifier, try ReceiptWorkshop.sign(other)) == .ok)
    #expect(verifier.cache.count == 1)
    // The authority's certificates end with the century.
    let late = ReceiptWorkshop.content.with(.date(12, "2100-01-02T00:00:00Z"))
    #expect(verdict(verifier, try ReceiptWorkshop.sign(late)) == .certificateExpired)
    #expect(verdict(verifier, try ReceiptWorkshop.sign()) == .ok)
  }

  @Test func `each hash function is a signer of its own`() throws {
    let verifier = ReceiptWorkshop.verifier
    for digest in ReceiptAuthority.Digest.allCases {
      #expect(verdict(verifier, try ReceiptWorkshop.sign(digest: digest)) == .ok)
    }
    #expect(verifier.cache.count == 2)
  }

  @Test func `refused signers are not cached`() throws {
    let verifier = ReceiptWorkshop.verifier
    #expect(
      verdict(verifier, try ReceiptWorkshop.sign(by: ReceiptWorkshop.twin)) == .untrustedChain)
    let forged = try ReceiptWorkshop.altered { $0.signer[4].value[0] ^= 1 }
    #expect(verdict(verifier, forged) == .invalidSignature)
    #expect(verifier.cache.count == 0)
  }

  @Test func `certificates in another order take no other place`() throws {
    let verifier = ReceiptWorkshop.verifier
    let receipt = try ReceiptWorkshop.sign()
    let turned = try ReceiptWorkshop.altered { $0.certificates.reverse() }
    for _ in 0..<3 {
      #expect(verdict(verifier, receipt) == .ok)
      #expect(verdict(verifier, turned) == .ok)
      #expect(verifier.cache.count == 1)
    }
  }

  @Test func `a cached signer does not verify the content of another one`() throws {
    let verifier = ReceiptVerifier(
      anchors: ReceiptWorkshop.anchors(
        trusting: ReceiptWorkshop.authority, ReceiptWorkshop.twin))
    #expect(verdict(verifier, try ReceiptWorkshop.sign()) == .ok)
    #expect(verdict(verifier, try ReceiptWorkshop.sign(by: ReceiptWorkshop.twin)) == .ok)
    let twin = MessageTree(try ReceiptWorkshop.sign(by: ReceiptWorkshop.twin))
    let mixed = try ReceiptWorkshop.altered { $0.signer[4] = twin.signer[4] }
    #expect(verdict(verifier, mixed) == .invalidSignature)
  }

  @Test func `the cache is bounded and drops the least recently used signer`() throws {
    let cache = ReceiptSignerCache()
    let limit = VerificationLimits.cachedReceiptSigners
    let keys = ReceiptWorkshop.authority
    let signers = try (0...limit).map { number in
      let certificate = try CertificateBuilder(
        subject: DistinguishedName(commonName: "Signer"), serialNumber: UInt64(number + 1),
        validity: 1_600_000_000...1_900_000_000, purpose: .signing
      ).certificate(for: keys.leaf.key)
      let leaf = try Certificate(der: certificate)
      return TrustedReceiptSigner(
        cacheKey: [UInt8(number)], key: try CMSVerifyingKey(leaf, digest: .sha256),
        chain: try CertificateChain([leaf]), anchor: .named(for: [.xcode]))
    }
    for signer in signers.dropLast() { cache.insert(signer) }
    #expect(cache.count == limit)
    #expect(cache.signer(cacheKey: [0]) === signers[0])
    cache.insert(signers[limit])
    #expect(cache.count == limit)
    #expect(cache.signer(cacheKey: [0]) === signers[0])
    #expect(cache.signer(cacheKey: [1]) == nil)
    #expect(cache.signer(cacheKey: [UInt8(limit)]) === signers[limit])
    #expect(cache.signer(cacheKey: []) == nil)
  }

  @Test func `many threads verify with one verifier`() async throws {
    let verifier = ReceiptWorkshop.verifier
    let receipts = try ReceiptAuthority.Digest.allCases.map {
      try ReceiptWorkshop.sign(digest: $0)
    }
    let forged = try ReceiptWorkshop.altered { $0.signer[4].value[0] ^= 1 }
    let accepted = await withTaskGroup(of: Int.self) { group in
      for number in 0..<64 {
        group.addTask { @concurrent in
          (verdict(verifier, receipts[number % 2]) == .ok ? 1 : 0)
            + (verdict(verifier, forged) == .invalidSignature ? 1 : 0)
        }
      }
      return await group.reduce(0, +)
    }
    #expect(accepted == 128)
    #expect(verifier.cache.count == 2)
  }
}
