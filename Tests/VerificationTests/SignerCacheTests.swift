import Cryptography
import EntitlementDomain
import StoreSimulator
import TestSupport
import Testing

@testable import Verification

@Suite("Cache of signers by header")
struct SignerCacheTests {
  let workshop = Workshop.shared

  @Test func `a header is validated once, the date of each payload every time`() throws {
    let verifier = workshop.verifier
    #expect(verdict(verifier, try workshop.sign(.transaction())) == .ok)
    #expect(verifier.cache.counts.trusted == 1)
    #expect(verdict(verifier, try workshop.sign(.renewalInfo())) == .ok)
    #expect(verifier.cache.counts.trusted == 1)
    // The authority's certificates end with the century.
    let late = Payload.transaction().with("signedDate", "4102444800000")
    #expect(verdict(verifier, try workshop.sign(late)) == .certificateExpired)
    #expect(verdict(verifier, try workshop.sign(.transaction())) == .ok)
  }

  @Test func `all payloads of one signer share one header`() throws {
    let verifier = workshop.verifier
    let first = try verifier.verify(
      try workshop.sign(.transaction()), policy: .scribe, now: Workshop.signedDate)
    #expect(first.signed.payload == Payload.transaction().bytes)
    guard case .jws(let header, let signature) = first.signed.proof else {
      Issue.record("not the proof of a JWS")
      return
    }
    #expect(header == workshop.authority.headerSegment)
    #expect(signature.count == 64)
  }

  @Test func `a flood of forged headers neither grows the cache nor evicts a signer`() throws {
    let verifier = workshop.verifier
    let genuine = try workshop.sign(.transaction())
    #expect(verdict(verifier, genuine) == .ok)
    let tail = genuine.drop { $0 != UInt8(ascii: ".") }
    for number in 0..<(2 * VerificationLimits.cachedRefusals) {
      var header = Header(x5c: [])
      header.more = #","n":\#(number)"#
      #expect(verdict(verifier, Array(header.segment.utf8) + tail) == .invalidCertificate)
    }
    #expect(verifier.cache.counts.trusted == 1)
    #expect(verifier.cache.counts.refusals == VerificationLimits.cachedRefusals)
    #expect(verdict(verifier, genuine) == .ok)
  }

  @Test func `a flood of headers with genuine certificates does not evict a signer`() throws {
    let verifier = workshop.verifier
    let genuine = try workshop.sign(.transaction())
    #expect(verdict(verifier, genuine) == .ok)
    let tail = genuine.drop { $0 != UInt8(ascii: ".") }
    for number in 0..<(VerificationLimits.cachedSigners + 1) {
      // The chain is valid, but the signature is over another header.
      var header = Header(x5c: workshop.chain)
      header.more = #","n":\#(number)"#
      #expect(verdict(verifier, Array(header.segment.utf8) + tail) == .invalidSignature)
    }
    #expect(verifier.cache.counts.trusted == 1)
    let isKnown = workshop.authority.headerSegment.withUnsafeBytes {
      verifier.cache.trustedSigner(header: $0) != nil
    }
    #expect(isKnown)
  }

  @Test func `a flood of the longest headers neither grows the cache nor evicts a signer`() throws {
    let verifier = workshop.verifier
    let genuine = try workshop.sign(.transaction())
    #expect(verdict(verifier, genuine) == .ok)
    let tail = genuine.drop { $0 != UInt8(ascii: ".") }
    let room = VerificationLimits.headerLength / 4 * 3 - 200
    for number in 0..<(VerificationLimits.cachedRefusals + 10) {
      var header = Header(x5c: [])
      header.more = ",\"n\":\"\(number)\(String(repeating: "a", count: room))\""
      #expect(header.segment.utf8.count > VerificationLimits.headerLength - 400)
      #expect(verdict(verifier, Array(header.segment.utf8) + tail) == .invalidCertificate)
    }
    // Refusals are cached by the digest of their header, so its length does not matter.
    #expect(verifier.cache.counts.refusals == VerificationLimits.cachedRefusals)
    #expect(verifier.cache.counts.trusted == 1)
    #expect(verdict(verifier, genuine) == .ok)
  }

  @Test func `a header above its limit is malformed, even if it is genuine`() throws {
    var header = Header(x5c: workshop.chain)
    func pad(_ count: Int) {
      header.more = ",\"n\":\"\(String(repeating: "a", count: count))\""
    }
    pad(0)
    // Three bytes take four characters.
    let room = (VerificationLimits.headerLength - header.segment.utf8.count) / 4 * 3
    pad(room)
    #expect(header.segment.utf8.count > VerificationLimits.headerLength - 4)
    #expect(verdict(workshop.verifier, try workshop.sign(header: header)) == .ok)
    pad(room + 4)
    #expect(verdict(workshop.verifier, try workshop.sign(header: header)) == .malformed)
  }

  @Test func `a header that was refused stays refused, with the same reason`() throws {
    let verifier = workshop.verifier
    let jws = try workshop.sign(header: Header(x5c: Array(workshop.chain.dropLast())))
    var refusals: Set<Refusal> = []
    for _ in 0..<3 {
      do {
        _ = try verifier.verify(jws, policy: .scribe, now: Workshop.signedDate)
      } catch {
        refusals.insert(error)
      }
    }
    #expect(refusals.count == 1)
    #expect(verifier.cache.counts.refusals == 1)
  }

  @Test func `the signer least recently used goes first`() throws {
    let cache = SignerCache()
    let key = try Certificate(der: workshop.authority.leaf.certificate).verifyingKey()
    let chain = try CertificateChain(
      [workshop.authority.leaf, workshop.authority.intermediate, workshop.authority.root].map {
        try Certificate(der: $0.certificate)
      })
    func header(_ number: Int) -> [UInt8] { Array("header \(number)".utf8) }
    func isKnown(_ number: Int) -> Bool {
      header(number).withUnsafeBytes { cache.trustedSigner(header: $0) != nil }
    }
    func insert(_ number: Int) throws {
      cache.insert(
        try TrustedSigner(
          header: header(number), key: key, chain: chain, anchor: .named(for: [.sandbox])))
    }
    for number in 0..<VerificationLimits.cachedSigners { try insert(number) }
    try insert(0)
    #expect(cache.counts.trusted == VerificationLimits.cachedSigners)
    #expect(isKnown(0))
    try insert(1_000)
    #expect(isKnown(0))
    #expect(isKnown(1_000))
    #expect(!isKnown(1))
    #expect(isKnown(2))
  }

  @Test func `a fault of the library is never held against the payload`() {
    let fault = CryptographyError(.libraryFault, "no memory")
    for verdict in Verdict.allCases {
      #expect(Refusal(fault, as: verdict, in: "signature").verdict == .retryable)
    }
  }

  @Test func `a transient failure is not cached as a refusal`() throws {
    let cache = SignerCache()
    let digest = try SHA256.digest(of: [])
    cache.insert(Refusal(.retryable, "later"), of: digest)
    #expect(cache.refusal(of: digest) == nil)
  }
}
