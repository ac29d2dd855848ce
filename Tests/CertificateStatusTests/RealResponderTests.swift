import CertificateStatus
import Cryptography
import EntitlementDomain
import StoreSimulator
import TestSupport
import Testing
import Verification

// Skipped where OpenSSL's program is not installed: deploy/lib.sh names its package.
@Suite(
  "A responder over HTTP",
  .enabled(if: OpenSSL.isInstalled, "the program openssl is not installed"),
  .timeLimit(.minutes(5)))
struct RealResponderTests {
  /// Nothing here is about time.
  private static let limits = HTTPStatusLimits(answerTime: .seconds(60))

  /// Checks one chain with each policy, at `offset` from now, against real servers.
  private func check(
    root: OpenSSLProgram.Index = .init(good: [StatusAuthority.intermediateSerial]),
    intermediate: OpenSSLProgram.Index = .init(good: [11], revoked: [12]), serial: UInt64,
    options: [String] = ["-nmin", "60"], minutes: Int64 = 0,
    signer: (StatusAuthority) throws -> SigningAuthority.Member? = { _ in nil }
  ) async throws -> (soft: Passing, strict: Passing, statistics: StatusStatistics) {
    let rootMember = try StatusAuthority.makeRoot()
    let rootServer = try OpenSSLProgram(issuer: rootMember, index: root).serve()
    let authority = try StatusAuthority(intermediateAddress: rootServer.address, root: rootMember)
    let server = try OpenSSLProgram(
      issuer: authority.intermediate, signer: signer(authority), index: intermediate,
      options: options
    ).serve()
    let chain = try authority.chain(serial: serial, address: server.address)
    let now = Milliseconds.systemNow.adding(minutes: minutes)
    let responder = HTTPStatusResponder(limits: Self.limits)
    let soft = StatusChecker(policy: .soft, responder: responder)
    let strict = StatusChecker(policy: .strict, responder: responder)
    let result = (
      Passing(await soft.check([chain], now: now)), Passing(await strict.check([chain], now: now)),
      strict.statistics
    )
    await responder.shutDown()
    withExtendedLifetime((rootServer, server)) {}
    return result
  }

  @Test func `good certificates pass`() async throws {
    let result = try await check(serial: 11)
    #expect(result.soft == .passes)
    #expect(result.strict == .passes)
    #expect(result.statistics.asked == 2)
    #expect(result.statistics.good == 2)
  }

  @Test func `a revoked leaf is refused`() async throws {
    let result = try await check(serial: 12)
    #expect(result.soft == .refused(.certificateRevoked))
    #expect(result.strict == .refused(.certificateRevoked))
    #expect(result.statistics.revoked == 1)
    #expect(result.statistics.good == 1)
  }

  @Test func `a revoked intermediate is refused`() async throws {
    let result = try await check(
      root: .init(revoked: [StatusAuthority.intermediateSerial]), serial: 11)
    #expect(result.soft == .refused(.certificateRevoked))
    #expect(result.strict == .refused(.certificateRevoked))
  }

  @Test func `a certificate that its issuer does not know decides nothing`() async throws {
    let result = try await check(serial: 13)
    #expect(result.soft == .passes)
    #expect(result.strict == .refused(.retryable))
    #expect(result.statistics.unknown == 1)
    #expect(result.statistics.undecided == 1)
  }

  @Test(
    arguments: [
      // Answers that have a newer one after a minute.
      (["-nmin", "1"], 0, true), (["-nmin", "1"], 2, false),
      // Answers that do not say when there is a newer one count for an hour.
      ([], 0, true), ([], 59, true), ([], 61, false),
      // Ours is behind: five minutes are allowed.
      (["-nmin", "60"], -4, true), (["-nmin", "60"], -6, false),
    ] as [([String], Int64, Bool)])
  func `an answer counts in its time`(options: [String], minutes: Int64, counts: Bool) async throws
  {
    for (serial, decided) in [(11, Passing.passes), (12, .refused(.certificateRevoked))] {
      // The intermediate certificate's answer would be out of date with the leaf's.
      let result = try await check(serial: UInt64(serial), options: options, minutes: minutes)
      #expect(result.strict == (counts ? decided : .refused(.retryable)))
      #expect(result.soft == (counts ? decided : .passes))
      #expect((result.statistics.unusable > 0) == !counts)
    }
  }

  @Test func `an answer signed by another authority of the same name decides nothing`()
    async throws
  {
    for serial: UInt64 in [11, 12] {
      let result = try await check(serial: serial) { _ in try StatusAuthority().intermediate }
      #expect(result.soft == .passes)
      #expect(result.strict == .refused(.retryable))
      #expect(result.statistics.unusable == 1)
    }
  }

  @Test func `an answer with a broken signature decides nothing`() async throws {
    for serial: UInt64 in [11, 12] {
      let result = try await check(serial: serial, options: ["-nmin", "60", "-badsig"])
      #expect(result.soft == .passes)
      #expect(result.strict == .refused(.retryable))
      #expect(result.statistics.unusable == 1)
    }
  }

  @Test func `a delegate signs for its issuer`() async throws {
    for (serial, expected) in [(11, Passing.passes), (12, .refused(.certificateRevoked))] {
      let result = try await check(serial: UInt64(serial)) { try $0.delegate() }
      #expect(result.soft == expected)
      #expect(result.strict == expected)
    }
    // Named by its key instead of its name.
    let result = try await check(serial: 11, options: ["-nmin", "60", "-resp_key_id"]) {
      try $0.delegate()
    }
    #expect(result.strict == .passes)
  }

  @Test func `a delegate without the usage, of another issuer or past its time decides nothing`()
    async throws
  {
    let signers: [(StatusAuthority) throws -> SigningAuthority.Member?] = [
      { try $0.delegate(isForStatus: false) },
      { try $0.delegate(issuer: StatusAuthority().intermediate) },
      // The root may name delegates for what it issued itself, not for others' certificates.
      { try $0.delegate(issuer: $0.root) },
      { try $0.delegate(validity: 1_500_000_000...1_600_000_000) },
      { try $0.delegate(validity: 4_000_000_000...4_102_444_799) },
      // A leaf of the same issuer: the key that signs payloads must not speak for its own status.
      { try $0.leaf(serial: 14, address: nil) },
    ]
    for signer in signers {
      for serial: UInt64 in [11, 12] {
        let result = try await check(serial: serial, signer: signer)
        #expect(result.soft == .passes)
        #expect(result.strict == .refused(.retryable))
        #expect(result.statistics.unusable == 1)
      }
    }
  }

  @Test func `an answer without its delegate's certificate decides nothing`() async throws {
    let result = try await check(
      serial: 11, options: ["-nmin", "60", "-resp_no_certs"]
    ) { try $0.delegate() }
    #expect(result.strict == .refused(.retryable))
    // The issuer's own is at hand.
    let issuers = try await check(serial: 11, options: ["-nmin", "60", "-resp_no_certs"])
    #expect(issuers.strict == .passes)
  }

  @Test func `a redirect is not followed, not even to an honest responder`() async throws {
    let authority = try StatusAuthority()
    let server = try OpenSSLProgram(issuer: authority.intermediate, index: .init(good: [11]))
      .serve()
    let redirect = try RawServer(
      .sends(
        Array(
          "HTTP/1.1 307 There\r\nLocation: \(server.address)\r\nContent-Length: 0\r\n\r\n".utf8)))
    let responder = HTTPStatusResponder(limits: Self.limits)
    let checker = StatusChecker(policy: .strict, responder: responder)
    let chain = try authority.chain(serial: 11, address: redirect.address)
    #expect(Passing(await checker.check([chain], now: .systemNow)) == .refused(.retryable))
    #expect(checker.statistics.unreachable == 1)
    await responder.shutDown()
    withExtendedLifetime((server, redirect)) {}
  }
}
