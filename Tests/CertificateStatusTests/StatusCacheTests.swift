import Cryptography
import EntitlementDomain
import Synchronization
import TestSupport
import Testing
import Verification

@Suite(
  "Cached responses", .enabled(if: OpenSSL.isInstalled, "the program openssl is not installed"),
  .timeLimit(.minutes(5)))
struct StatusCacheTests {
  let bench: StatusBench
  let now = Milliseconds.systemNow

  init() throws {
    bench = try StatusBench()
  }

  @Test func `a second payload sends no request until the response expires`() async throws {
    let program = try bench.program()
    let responder = bench.responder { try program.answer(to: $0) }
    let checker = StatusChecker(policy: .strict, responder: responder)
    let chain = try bench.chain(11)
    for minutes: Int64 in [0, 0, 30, 59] {
      #expect(await checker.check([chain], now: now.adding(minutes: minutes)) == nil)
    }
    #expect(responder.count == 1)
    // The answer that comes now is of the system's time, and so out of date too.
    #expect(
      Passing(await checker.check([chain], now: now.adding(minutes: 61))) == .refused(.retryable))
    #expect(responder.count == 2)
    #expect(checker.statistics.hits == 3 * 2 + 1)
  }

  @Test func `a revocation is cached until its response expires`() async throws {
    let program = try bench.program()
    let responder = bench.responder { try program.answer(to: $0) }
    let checker = StatusChecker(policy: .soft, responder: responder)
    let chain = try bench.chain(12)
    for minutes: Int64 in [0, 59] {
      let refusal = await checker.check([chain], now: now.adding(minutes: minutes))
      #expect(
        refusal == Refusal(.certificateRevoked, "the leaf certificate was revoked: keyCompromise"))
    }
    #expect(responder.count == 1)
  }

  @Test func `an answer for a month is used for a day`() async throws {
    let program = try bench.program(options: ["-ndays", "30"])
    let responder = bench.responder { try program.answer(to: $0) }
    let checker = StatusChecker(policy: .strict, responder: responder)
    let chain = try bench.chain(11)
    for minutes: Int64 in [0, 24 * 60 - 1, 24 * 60 + 1, 24 * 60 + 2] {
      #expect(await checker.check([chain], now: now.adding(minutes: minutes)) == nil)
    }
    #expect(responder.count == 2)
  }

  @Test func `a clock that is set back asks again`() async throws {
    let program = try bench.program(options: ["-ndays", "30"])
    let responder = bench.responder { try program.answer(to: $0) }
    let checker = StatusChecker(policy: .strict, responder: responder)
    let chain = try bench.chain(11)
    #expect(await checker.check([chain], now: now.adding(minutes: 600)) == nil)
    // The answer is of a moment after the test's beginning.
    #expect(await checker.check([chain], now: now.adding(minutes: 1)) == nil)
    #expect(
      Passing(await checker.check([chain], now: now.adding(minutes: -10))) == .refused(.retryable))
    #expect(responder.count == 2)
  }

  @Test func `a responder that is down is asked once in half a minute`() async throws {
    struct Down: Error {}
    let program = try bench.program()
    let isDown = Mutex(true)
    let events = Mutex<[StatusEvent]>([])
    let responder = bench.responder { request in
      if isDown.withLock({ $0 }) { throw Down() }
      return try program.answer(to: request)
    }
    let checker = StatusChecker(policy: .soft, responder: responder) { event in
      events.withLock { $0.append(event) }
    }
    let chain = try bench.chain(12)
    for _ in 0..<100 { #expect(await checker.check([chain], now: now.adding(seconds: 29)) == nil) }
    #expect(responder.count == 1)
    #expect(checker.statistics.undecided == 100)
    // One line for the log, not a hundred.
    #expect(events.withLock { $0 }.map(\.kind) == [.unreachable])
    #expect(await checker.check([chain], now: now.adding(seconds: 59)) == nil)
    #expect(responder.count == 1)
    isDown.withLock { $0 = false }
    let refusal = await checker.check([chain], now: now.adding(seconds: 60))
    #expect(refusal?.verdict == .certificateRevoked)
    #expect(responder.count == 2)
    #expect(events.withLock { $0 }.map(\.kind) == [.unreachable, .revoked])
  }

  @Test func `a revocation outlives its answer until the issuer takes it back`() async throws {
    struct Down: Error {}
    let revoking = try bench.program(index: .init(revoked: [11]), options: ["-nmin", "1"])
    let older = try bench.program(index: .init(good: [11]), options: ["-ndays", "30"])
      .answer(to: bench.request(11))
    let answer = Mutex<[UInt8]?>(nil)
    let responder = bench.responder { request in
      guard let answer = answer.withLock({ $0 }) else { throw Down() }
      return answer
    }
    let checker = StatusChecker(policy: .soft, responder: responder)
    let chain = try bench.chain(11)
    // Dates are whole seconds: the revocation must be a second later than the old response.
    let later = try self.answer(of: revoking, after: older)
    answer.withLock { $0 = later }
    #expect(
      await checker.check([chain], now: now.adding(seconds: 5))?.verdict == .certificateRevoked)
    // The response has expired, and the responder is down.
    answer.withLock { $0 = nil }
    #expect(
      await checker.check([chain], now: now.adding(minutes: 5))?.verdict == .certificateRevoked)
    #expect(checker.statistics.unreachable == 1)
    // Somebody sends an answer from before.
    answer.withLock { $0 = older }
    #expect(
      await checker.check([chain], now: now.adding(minutes: 10))?.verdict == .certificateRevoked)
    // The issuer lifts it.
    let lifting = try self.answer(
      of: bench.program(index: .init(good: [11]), options: ["-ndays", "30"]), after: later)
    answer.withLock { $0 = lifting }
    #expect(await checker.check([chain], now: now.adding(minutes: 15)) == nil)
    #expect(responder.count == 4)
  }

  /// Asks until the answer is of another second than `other`.
  private func answer(of program: OpenSSLProgram, after other: [UInt8]) throws -> [UInt8] {
    let certificates = try bench.chain(11).certificates
    func thisUpdate(_ answer: [UInt8]) throws -> Int64 {
      try OCSPAnswer.certificateStatus(answer, certificates, now: .systemNow).thisUpdate
    }
    while true {
      let answer = try program.answer(to: bench.request(11))
      if try thisUpdate(answer) > thisUpdate(other) { return answer }
    }
  }

  @Test func `a hundred payloads at once ask once`() async throws {
    let program = try bench.program()
    let gate = Gate()
    let responder = bench.responder { request in
      await gate.wait()
      return try program.answer(to: request)
    }
    let checker = StatusChecker(policy: .strict, responder: responder)
    let chain = try bench.chain(11)
    let passed = await withTaskGroup { group in
      for _ in 0..<100 {
        group.addTask { [now] in await checker.check([chain], now: now) == nil }
      }
      // All have come before the answer does.
      while checker.statistics.joined + checker.statistics.hits < 198 { await Task.yield() }
      gate.open()
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(passed == 100)
    #expect(responder.count == 1)
    #expect(checker.statistics.asked == 2)
  }

  @Test func `a cancelled caller does not cancel the request for others`() async throws {
    let program = try bench.program()
    let gate = Gate()
    let responder = bench.responder { request in
      await gate.wait()
      try Task.checkCancellation()
      return try program.answer(to: request)
    }
    let checker = StatusChecker(policy: .strict, responder: responder)
    let chain = try bench.chain(11)
    let first = Task { [now] in await checker.check([chain], now: now) }
    while gate.waitingCount == 0 { await Task.yield() }
    let second = Task { [now] in await checker.check([chain], now: now) }
    first.cancel()
    gate.open()
    #expect(await second.value == nil)
    #expect(responder.count == 1)
  }

  @Test func `a flood of signers does not grow the cache`() async throws {
    let program = try bench.program()
    let responder = bench.responder { _ in [0x30] }
    let checker = StatusChecker(policy: .soft, responder: responder, capacity: 8)
    let known = try bench.chain(11)
    _ = program
    for serial: UInt64 in 1_000..<1_200 {
      _ = await checker.check([try bench.chain(serial)], now: now)
      // Used all the time, and so not the least recently used one.
      _ = await checker.check([known], now: now)
      #expect(checker.statistics.entries <= 8)
    }
    #expect(checker.statistics.entries == 8)
    #expect(responder.count == 201)
  }

  @Test func `requests beyond the limit fail at once`() async throws {
    let gate = Gate()
    let responder = bench.responder { _ in
      await gate.wait()
      return []
    }
    let checker = StatusChecker(policy: .strict, responder: responder, maximumRequests: 3)
    let chains = try (21...24).map { try bench.chain($0) }
    // The intermediate certificate is known from now on: the leaf is not asked for.
    let expired = try bench.authority.chain(
      serial: 20, address: StatusBench.leafAddress, validity: 1_500_000_000...1_600_000_000)
    #expect(await checker.check([expired], now: now) == nil)
    async let first = checker.check(Array(chains[..<3]), now: now)
    while gate.waitingCount < 3 { await Task.yield() }
    // At once, though the others still wait.
    let refusal = await checker.check([chains[3]], now: now)
    #expect(refusal?.verdict == .retryable)
    #expect(checker.statistics.turnedAway == 1)
    gate.open()
    #expect(await first?.verdict == .retryable)
  }

  @Test func `off sends no request`() async throws {
    let responder = bench.responder { _ in [] }
    let checker = StatusChecker(policy: .off, responder: responder)
    #expect(await checker.check([try bench.chain(12)], now: now) == nil)
    #expect(responder.count == 0)
    #expect(checker.statistics.asked == 0 && checker.statistics.entries == 0)
  }

  @Test func `certificates that are not valid now are not asked for`() async throws {
    let responder = bench.responder { _ in [] }
    let checker = StatusChecker(policy: .strict, responder: responder)
    let expired = try bench.authority.chain(
      serial: 11, address: StatusBench.leafAddress, validity: 1_500_000_000...1_600_000_000)
    #expect(await checker.check([expired], now: now) == nil)
    #expect(responder.count == 0)
    #expect(checker.statistics.asked == 1)
  }

  @Test func `a certificate without a responder is reported once, and retryable if strict`()
    async throws
  {
    let events = Mutex<[StatusEvent]>([])
    let chain = try bench.authority.chain(serial: 11, address: nil)
    for (policy, expected) in [
      (StatusPolicy.soft, Passing.passes), (.strict, .refused(.retryable)),
    ] {
      let responder = bench.responder { _ in [] }
      let checker = StatusChecker(policy: policy, responder: responder) { event in
        events.withLock { $0.append(event) }
      }
      for _ in 0..<10 { #expect(Passing(await checker.check([chain], now: now)) == expected) }
      #expect(responder.count == 0)
      #expect(checker.statistics.withoutResponder == 1)
      #expect(checker.statistics.undecided == 10)
    }
    #expect(events.withLock { $0 }.map(\.kind) == [.withoutResponder, .withoutResponder])
  }
}
