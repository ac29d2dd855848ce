import Cryptography
import EntitlementDomain
import StoreSimulator
import TestSupport
import Testing
import Verification

/// Reads an answer as the checker does.
enum OCSPAnswer {
  static func certificateStatus(
    _ answer: [UInt8], _ certificates: [Certificate], now: Milliseconds
  ) throws(CryptographyError) -> OCSPCertificateStatus {
    try OCSPResponse(der: answer).certificateStatus(
      of: certificates[0], issuedBy: certificates[1], now: now.rawValue)
  }
}

@Suite(
  "Status answers", .enabled(if: OpenSSL.isInstalled, "the program openssl is not installed"),
  .timeLimit(.minutes(5)))
struct AnswerTests {
  let bench: StatusBench
  let now = Milliseconds.systemNow

  init() throws {
    bench = try StatusBench()
  }

  private func code(_ answer: [UInt8], _ certificates: [Certificate]) -> CryptographyError.Code? {
    do {
      _ = try OCSPAnswer.certificateStatus(answer, certificates, now: now)
      return nil
    } catch {
      return error.code
    }
  }

  @Test func `an answer says what and until when`() throws {
    let program = try bench.program()
    let good = try OCSPAnswer.certificateStatus(
      program.answer(to: bench.request(11)), bench.chain(11).certificates, now: now)
    #expect(good.status == .good)
    #expect(good.validUntil - good.thisUpdate == 3_600_000)
    #expect(abs(good.thisUpdate - now.rawValue) < 60_000)
    let revoked = try OCSPAnswer.certificateStatus(
      program.answer(to: bench.request(12)), bench.chain(12).certificates, now: now)
    // 2024-01-01T00:00:00Z.
    #expect(revoked.status == .revoked(moment: 1_704_067_200_000, reason: "keyCompromise"))
    let unknown = try OCSPAnswer.certificateStatus(
      program.answer(to: bench.request(13)), bench.chain(13).certificates, now: now)
    #expect(unknown.status == .unknown)
  }

  @Test func `an answer about another certificate does not count`() throws {
    let answer = try bench.program().answer(to: bench.request(11))
    #expect(code(answer, try bench.chain(12).certificates) == .malformedStatusResponse)
    // The same serial number of another authority: its key decides.
    let other = try StatusAuthority().chain(serial: 11, address: nil).certificates
    #expect(code(answer, other) == .untrustedStatusResponse)
    let mixed = [try bench.chain(11).certificates[0], other[1]]
    #expect(code(answer, mixed) == .untrustedStatusResponse)
  }

  @Test func `an answer about more certificates counts for each that is in it once`() throws {
    let program = try bench.program()
    let leaves = try [11, 12].map { try bench.authority.leaf(serial: $0, address: nil).certificate }
    let both = try program.answer(for: leaves)
    #expect(
      try OCSPAnswer.certificateStatus(both, bench.chain(11).certificates, now: now).status
        == .good)
    guard
      case .revoked = try OCSPAnswer.certificateStatus(
        both, bench.chain(12).certificates, now: now
      ).status
    else {
      Issue.record("12 is revoked")
      return
    }
    let doubled = try program.answer(for: [leaves[0], leaves[0]])
    #expect(code(doubled, try bench.chain(11).certificates) == .malformedStatusResponse)
  }

  @Test func `no change of a bit or byte changes what an answer says`() throws {
    let certificates = try bench.chain(12).certificates
    let program = try bench.program()
    let answer = try program.answer(to: bench.request(12))
    let told = try OCSPAnswer.certificateStatus(answer, certificates, now: now)
    var accepted = 0
    for index in answer.indices {
      for bit in 0..<8 {
        var changed = answer
        changed[index] ^= 1 << UInt8(bit)
        guard
          let certificateStatus = try? OCSPAnswer.certificateStatus(
            changed, certificates, now: now)
        else { continue }
        // Not all of an answer is signed: the certificates that come with it, for one.
        #expect(certificateStatus == told)
        accepted += 1
      }
    }
    #expect(accepted < answer.count * 8 / 2)
  }

  @Test func `no part of an answer is an answer`() throws {
    let certificates = try bench.chain(11).certificates
    let answer = try bench.program().answer(to: bench.request(11))
    for count in answer.indices {
      #expect(code(Array(answer[..<count]), certificates) != nil)
    }
    #expect(code(answer + [0], certificates) == .malformedStatusResponse)
    #expect(code(answer + answer, certificates) == .malformedStatusResponse)
  }

  @Test func `noise is no answer`() throws {
    let certificates = try bench.chain(11).certificates
    let answer = try bench.program().answer(to: bench.request(11))
    var random = SeededRandom(for: "noise is no answer")
    for _ in 0..<5_000 {
      #expect(code(random.bytes(upTo: 600), certificates) != nil)
      // Or with a good beginning and end.
      let cut = Int.random(in: 0..<answer.count, using: &random)
      let noise = random.bytes(upTo: 8)
      let spliced = Array(answer[..<cut]) + noise + Array(answer[cut...].dropFirst(noise.count))
      if spliced != answer,
        let certificateStatus = try? OCSPAnswer.certificateStatus(
          spliced, certificates, now: now)
      {
        #expect(certificateStatus.status == .good)
      }
    }
    #expect(
      code([UInt8](repeating: 0x30, count: 65_537), certificates) == .malformedStatusResponse)
    let deep = [UInt8](repeating: 0xa0, count: 60_000)
    #expect(code(deep, certificates) == .malformedStatusResponse)
    // Lengths that lie.
    for length: [UInt8] in [
      [0x84, 0xff, 0xff, 0xff, 0xff], [0x80], [0x88] + [UInt8](repeating: 0xff, count: 8),
    ] {
      #expect(code([0x30] + length + answer, certificates) == .malformedStatusResponse)
    }
  }

  @Test func `error responses differ from invalid responses`() throws {
    let certificates = try bench.chain(11).certificates
    for status: UInt8 in [1, 2, 3, 5, 6, 4, 7, 127] {
      #expect(code([0x30, 0x03, 0x0a, 0x01, status], certificates) == .statusRefused)
    }
    // It says that it answers, and does not.
    #expect(code([0x30, 0x03, 0x0a, 0x01, 0x00], certificates) == .malformedStatusResponse)
  }

  @Test func `a certificate names its responders`() throws {
    let key = try SigningKey.generate(.p256)
    func certificate(_ addresses: [String]) throws -> Certificate {
      try Certificate(
        der: CertificateBuilder(
          subject: DistinguishedName(commonName: "Example"), serialNumber: 1,
          validity: StatusAuthority.validity, purpose: .signing,
          extensions: [StatusExtension.responder(at: addresses)]
        ).certificate(for: key))
    }
    #expect(
      try bench.chain(11).certificates[0].statusResponderAddresses == [StatusBench.leafAddress])
    #expect(try bench.chain(11).certificates[2].statusResponderAddresses == [])
    #expect(
      try certificate(["https://a.example.com", "http://b.example.com"]).statusResponderAddresses
        == ["https://a.example.com", "http://b.example.com"])
    // An address that pretends to be shorter than it is.
    #expect(
      try certificate(["http://a.example.com\u{0}.example.org"]).statusResponderAddresses == [])
  }
}
