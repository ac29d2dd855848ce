import Cryptography
import EntitlementDomain
import StoreSimulator
import Testing

@testable import Verification

@Suite("What is remembered of headers")
struct SignerMemoryTests {
  let workshop = Workshop.shared

  @Test func `a header is judged once, each payload's own date every time`() throws {
    let verifier = workshop.verifier
    #expect(verdict(verifier, try workshop.sign(.transaction())) == .ok)
    #expect(verifier.memory.counts.trusted == 1)
    #expect(verdict(verifier, try workshop.sign(.renewalInfo())) == .ok)
    #expect(verifier.memory.counts.trusted == 1)
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

  @Test func `a flood of forged headers neither grows the memory nor evicts a signer`() throws {
    let verifier = workshop.verifier
    let genuine = try workshop.sign(.transaction())
    #expect(verdict(verifier, genuine) == .ok)
    let tail = genuine.drop { $0 != UInt8(ascii: ".") }
    for number in 0..<(2 * VerificationLimits.rememberedRefusals) {
      var header = Header(x5c: [])
      header.more = #","n":\#(number)"#
      #expect(verdict(verifier, Array(header.segment.utf8) + tail) == .invalidCertificate)
    }
    #expect(verifier.memory.counts.trusted == 1)
    #expect(verifier.memory.counts.refusals == VerificationLimits.rememberedRefusals)
    #expect(verdict(verifier, genuine) == .ok)
  }

  @Test func `a flood of headers with genuine certificates does not evict a signer`() throws {
    let verifier = workshop.verifier
    let genuine = try workshop.sign(.transaction())
    #expect(verdict(verifier, genuine) == .ok)
    let tail = genuine.drop { $0 != UInt8(ascii: ".") }
    for number in 0..<(VerificationLimits.rememberedSigners + 1) {
      // Judged well, but the signature is over another header.
      var header = Header(x5c: workshop.chain)
      header.more = #","n":\#(number)"#
      #expect(verdict(verifier, Array(header.segment.utf8) + tail) == .invalidSignature)
    }
    #expect(verifier.memory.counts.trusted == 1)
    let isKnown = workshop.authority.headerSegment.withUnsafeBytes {
      verifier.memory.trustedSigner(header: $0) != nil
    }
    #expect(isKnown)
  }

  @Test func `a flood of the longest headers neither grows the memory nor evicts a signer`() throws
  {
    let verifier = workshop.verifier
    let genuine = try workshop.sign(.transaction())
    #expect(verdict(verifier, genuine) == .ok)
    let tail = genuine.drop { $0 != UInt8(ascii: ".") }
    let room = VerificationLimits.headerLength / 4 * 3 - 200
    for number in 0..<(VerificationLimits.rememberedRefusals + 10) {
      var header = Header(x5c: [])
      header.more = ",\"n\":\"\(number)\(String(repeating: "a", count: room))\""
      #expect(header.segment.utf8.count > VerificationLimits.headerLength - 400)
      #expect(verdict(verifier, Array(header.segment.utf8) + tail) == .invalidCertificate)
    }
    // Refusals are kept by the digest of their header, so a long one takes no more than a short one.
    #expect(verifier.memory.counts.refusals == VerificationLimits.rememberedRefusals)
    #expect(verifier.memory.counts.trusted == 1)
    #expect(verdict(verifier, genuine) == .ok)
  }

  @Test func `a header above its limit is malformed, whoever signed it`() throws {
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
    #expect(verifier.memory.counts.refusals == 1)
  }

  @Test func `the signer least recently used goes first`() throws {
    let memory = SignerMemory()
    let key = try Certificate(der: workshop.authority.leaf.certificate).verifyingKey()
    let chain = try CertificateChain(
      [workshop.authority.leaf, workshop.authority.intermediate, workshop.authority.root].map {
        try Certificate(der: $0.certificate)
      })
    func header(_ number: Int) -> [UInt8] { Array("header \(number)".utf8) }
    func isKnown(_ number: Int) -> Bool {
      header(number).withUnsafeBytes { memory.trustedSigner(header: $0) != nil }
    }
    func remember(_ number: Int) throws {
      memory.remember(
        try TrustedSigner(header: header(number), key: key, chain: chain, origin: .operatorNamed))
    }
    for number in 0..<VerificationLimits.rememberedSigners { try remember(number) }
    try remember(0)
    #expect(memory.counts.trusted == VerificationLimits.rememberedSigners)
    #expect(isKnown(0))
    try remember(1_000)
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

  @Test func `passing trouble is not remembered as a refusal`() throws {
    let memory = SignerMemory()
    let digest = try SHA256.digest(of: [])
    memory.remember(Refusal(.retryable, "later"), of: digest)
    #expect(memory.refusal(of: digest) == nil)
  }
}
