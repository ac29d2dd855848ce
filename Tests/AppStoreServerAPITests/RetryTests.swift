import EntitlementDomain
import NIOCore
import Testing

@testable import AppStoreServerAPI

@Suite("Attempts, limits and environments", .timeLimit(.minutes(2)))
struct RetryTests {
  private static let hour: Int64 = 3_600_000

  @Test(
    "What Apple calls retryable, 429 and failures of the transport are repeated with full jitter",
    arguments: [
      .error(4_040_002), .error(4_040_004), .error(4_040_006), .error(5_000_001),
      .error(4_290_000), .hangUp, .cut(#"{"signed"#),
    ] as [StubServer.Answer])
  func repeated(answer: StubServer.Answer) async throws {
    try await Bench.run([answer, answer, answer, answer, answer, .transaction]) { bench in
      let transaction = try await bench.transaction()
      #expect(transaction == "a.b.c")
      #expect(bench.server.requests.count == 6)
      #expect(bench.client.statistics.retries == 5)
      #expect(bench.client.statistics.requests == 6)
      for (index, wait) in bench.clock.waits.enumerated() {
        #expect(wait <= .milliseconds(250 * (1 << index)))
      }
      #expect(bench.clock.waits.count == 5)
    }
    try await Bench.run([answer]) { bench in
      #expect(await bench.failure()?.isRetryable == true)
      #expect(bench.server.requests.count == 6)
    }
  }

  @Test(
    "5xx without a retryable code is repeated twice",
    arguments: [
      .error(5_000_000), .whole(502, [:], "<html>"), .whole(599, [:], ""),
    ] as [StubServer.Answer])
  func serverFaults(answer: StubServer.Answer) async throws {
    try await Bench.run([answer]) { bench in
      let error = await bench.failure()
      #expect(error?.code == .refused)
      #expect(error?.isRetryable == true)
      #expect(bench.server.requests.count == 3)
    }
  }

  @Test(
    "A call that tells about consumption is made once, and again only with a fresh token",
    arguments: [
      .error(4_040_002), .error(5_000_001), .error(5_000_000), .error(4_290_000), .hangUp,
    ] as [StubServer.Answer])
  func consumption(answer: StubServer.Answer) async throws {
    try await Bench.run([answer]) { bench in
      #expect(await bench.consumptionFailure()?.isRetryable == true)
      #expect(bench.server.requests.count == 1)
      #expect(bench.clock.waits.isEmpty)
    }
    try await Bench.run([.whole(401, [:], ""), answer]) { bench in
      #expect(await bench.consumptionFailure()?.isRetryable == true)
      #expect(bench.server.requests.count == 2)
    }
  }

  @Test("A call that tells about consumption waits for no pause, and needs time for its answer")
  func consumptionWaits() async throws {
    try await Bench.run([.error(4_290_000)]) { bench in
      let late = await bench.consumptionFailure(within: .seconds(25))
      #expect(late?.code == .deadlineExceeded)
      #expect(late?.mayHaveTakenEffect == false)
      #expect(bench.server.requests.isEmpty)
      #expect(await bench.consumptionFailure()?.code == .rateLimited)
      #expect(bench.server.requests.count == 1)
    }
    try await Bench.run([.whole(429, ["Retry-After": "60"], "")]) { bench in
      #expect(await bench.consumptionFailure(within: .minutes(5))?.code == .rateLimited)
      let paused = await bench.consumptionFailure(within: .minutes(5))
      #expect(paused?.code == .rateLimited)
      #expect(paused?.retryAt != nil)
      #expect(paused?.mayHaveTakenEffect == false)
      #expect(bench.server.requests.count == 1)
      #expect(bench.clock.waits.isEmpty)
    }
  }

  @Test(
    "All else is the answer",
    arguments: [
      .error(4_040_010), .error(4_040_001), .error(4_000_000), .error(9_990_000),
      .whole(400, [:], ""), .json("{}"),
    ] as [StubServer.Answer])
  func final(answer: StubServer.Answer) async throws {
    try await Bench.run([answer]) { bench in
      #expect(await bench.failure() != nil)
      #expect(bench.server.requests.count == 1)
      #expect(bench.clock.waits.isEmpty)
    }
  }

  @Test("The backoff doubles from the first to the longest, times the jitter")
  func backoff() {
    var limits = AppStoreServerLimits()
    limits.attempts = 40
    var retries = CallRetries(.transaction, limits)
    let fault = AppStoreServerError(.unreachable, "", isRetryable: true)
    for milliseconds in [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 20_000, 20_000] {
      #expect(retries.backoff(jitter: 0) == .zero)
      #expect(retries.backoff(jitter: 0.5) == .milliseconds(milliseconds / 2))
      let longest = retries.backoff(jitter: 1)
      #expect(longest == .milliseconds(milliseconds))
      let step = retries.attemptFailed(fault, asked: .seconds(7), backoff: longest)
      #expect(step == .after(.seconds(7) + longest))
    }
    for _ in retries.attempts..<39 {
      #expect(retries.attemptFailed(fault, asked: nil, backoff: .zero) == .after(.zero))
    }
    #expect(retries.backoff(jitter: 1) == .seconds(20))
    #expect(retries.attemptFailed(fault, asked: nil, backoff: .zero) == .fail)
  }

  @Test("The extension of one renewal date is not repeated when it may have been made")
  func extensionOfOne() async throws {
    let done = StubServer.Answer.json(#"{"success":true}"#)
    let attempts: [(StubServer.Answer, requests: Int, code: AppStoreServerError.Code?)] = [
      (.hangUp, 1, .unreachable), (.cut("{"), 1, .unreachable), (.error(5_000_000), 1, .refused),
      (.whole(503, [:], ""), 1, .refused), (.json("{"), 1, .invalidResponse),
      // Apple does not say whether it was done.
      (.error(5_000_001), 1, .refused),
      // Nothing was done.
      (.error(4_290_000), 2, nil), (.error(4_040_002), 2, nil), (.error(4_040_004), 2, nil),
      (.error(4_040_006), 2, nil), (.whole(401, [:], ""), 2, nil), (.error(4_030_004), 1, .refused),
    ]
    for (answer, requests, code) in attempts {
      try await Bench.run([answer, done]) { bench in
        var failure: AppStoreServerError?
        do throws(AppStoreServerError) {
          _ = try await bench.client.extendRenewal(
            of: "10", by: .init(days: 1, reason: .other, requestIdentifier: "r"), in: Bench.app,
            deadline: bench.deadline)
        } catch {
          failure = error
        }
        #expect(failure?.code == code)
        #expect(bench.server.requests.count == requests)
        let mayHave = code != nil && failure?.errorCode?.rawValue != 4_030_004
        #expect(failure?.mayHaveTakenEffect ?? false == mayHave)
      }
    }
  }

  @Test("A change that was repeated says that it may have been made before its last answer")
  func earlierEffect() async throws {
    try await Bench.run([.hangUp, .error(4_000_006)]) { bench in
      let error = await #expect(throws: AppStoreServerError.self) {
        try await bench.client.finish("1", in: Bench.app, deadline: bench.deadline)
      }
      #expect(error?.errorCode?.rawValue == 4_000_006)
      #expect(error?.mayHaveTakenEffect == true)
    }
  }

  @Test("An error is given back when the next attempt would be after the deadline")
  func deadline() async throws {
    let later = TestClock.start.advanced(by: 61_000)
    try await Bench.run([
      .error(4_290_000, headers: ["retry-after": later.description]), .transaction,
    ]) { bench in
      let error = try #require(await bench.failure(within: .minutes(1)))
      #expect(error.code == .rateLimited)
      #expect(error.status == 429)
      #expect(error.retryAt == later)
      #expect(bench.clock.waits.isEmpty)
      // Others of this app and endpoint do not ask before, whatever their deadline.
      let second = try #require(await bench.failure(within: .seconds(60)))
      #expect(second.code == .rateLimited)
      #expect(second.status == nil)
      #expect(second.message == "no request is allowed before the deadline")
      #expect(second.retryAt == later)
      #expect(bench.server.requests.count == 1)
      // A patient one waits.
      #expect(await bench.failure(within: .minutes(2)) == nil)
      #expect(bench.clock.now >= later)
      #expect(bench.client.statistics.permitWaits == 1)
      // Already past.
      #expect(await bench.failure(within: .zero)?.code == .deadlineExceeded)
      #expect(bench.server.requests.count == 2)
    }
  }

  @Test("The last attempt of a call tells the others to wait, too")
  func pauseOfLast() async throws {
    let later = TestClock.start.advanced(by: 30_000)
    var limits = AppStoreServerLimits()
    limits.attempts = 1
    try await Bench.run(
      [.error(4_290_000, headers: ["retry-after": later.description]), .transaction],
      limits: limits
    ) { bench in
      #expect(await bench.failure()?.retryAt == later)
      #expect(await bench.failure() == nil)
      #expect(bench.clock.waits == [.seconds(30)])
    }
  }

  @Test("A 429 without a good Retry-After makes the others wait for the backoff")
  func pauseByBackoff() async throws {
    var limits = AppStoreServerLimits()
    limits.attempts = 1
    limits.firstBackoff = .seconds(10_000)
    limits.longestBackoff = .seconds(10_000)
    for headers in [[:], ["retry-after": "soon"]] {
      try await Bench.run([.error(4_290_000, headers: headers), .transaction], limits: limits) {
        bench in
        let error = await bench.failure()
        #expect(error?.status == 429)
        #expect(error?.retryAt == nil)
        #expect(await bench.failure(within: .hours(3)) == nil)
        #expect(bench.clock.waits.count == 1)
        #expect(bench.client.statistics.permitWaits == 1)
      }
    }
  }

  @Test("Other endpoints and environments are asked meanwhile")
  func pauseOfOne() async throws {
    let later = TestClock.start.advanced(by: 61_000)
    try await Bench.run([
      .error(4_290_000, headers: ["retry-after": later.description]), .transaction,
    ]) { bench in
      #expect(await bench.failure()?.code == .rateLimited)
      #expect(await bench.failure(in: Bench.sandbox) == nil)
      _ = try? await bench.client.finish("1", in: Bench.app, deadline: bench.deadline)
      #expect(bench.server.requests.count == 3)
      #expect(bench.clock.waits.isEmpty)
    }
  }

  @Test(
    "Retry-After is read as milliseconds since 1970, and as what other servers send",
    arguments: [
      // Apple's form.
      ("1795608030000", 30_000), ("1795608000000", 0), ("1795607999000", -1_000),
      ("1795615200000", 2 * hour),
      // Seconds since 1970, and from now.
      ("1795608030", 30_000), ("30", 30_000), ("0", 0), ("7200", 2 * hour),
      // Further away than is waited for.
      ("1795615200001", 2 * hour), ("1795611601001000", 2 * hour), ("1795615201", 2 * hour),
      ("7201", 2 * hour), ("999999999", 2 * hour), ("9223372036854775807", 2 * hour),
      // A day ago, and longer.
      ("1795521600000", -24 * hour), ("1795521599999", nil), ("1795521599", nil),
      ("1000000000", nil), ("100000000000", nil),
      // No number.
      ("", nil), ("-5", nil), ("+5", nil), ("1e3", nil), ("soon", nil), ("30 ", nil),
      ("Wed, 25 Nov 2026 12:00:30 GMT", nil), ("99999999999999999999", nil),
      ("000000000000000000000030", nil),
    ] as [(String, Int64?)])
  func retryAfter(text: String, expected: Int64?) {
    #expect(
      RetryAfter.moment(text, now: TestClock.start, longestWait: .seconds(7_200))
        == expected.map { TestClock.start.advanced(by: $0) })
  }

  @Test(
    "A Retry-After is waited for, and without a good one the wait is a backoff",
    arguments: [
      ("1795608030000", 30_000), ("1795608040", 40_000), ("20", 20_000), ("nonsense", 0),
      ("1795607990000", 0), ("1799999999999", 2 * hour),
    ] as [(String, Int64)])
  func wait(text: String, least: Int64) async throws {
    try await Bench.run([.error(4_290_000, headers: ["retry-after": text]), .transaction]) {
      bench in
      #expect(await bench.failure(within: .hours(3)) == nil)
      #expect(bench.clock.waits.count == 1)
      let wait = try #require(bench.clock.waits.first)
      #expect(wait >= .milliseconds(least))
      #expect(wait <= .milliseconds(least + 250))
    }
  }

  // MARK: Environments

  private static let unauthorized = StubServer.Answer.whole(401, [:], "Unauthenticated")

  private func look(
    production: StubServer.Answer, sandbox: StubServer.Answer
  ) async throws -> (environment: StoreEnvironment?, failure: AppStoreServerError?) {
    let server = try await StubServer { request, _ in
      request.target.hasPrefix("/sandbox") ? sandbox : production
    }
    return try await Bench.run(server: server) { bench in
      do throws(AppStoreServerError) {
        let found = try await bench.client.inEitherEnvironment(of: Bench.app.bundleID) {
          (app) async throws(AppStoreServerError) in try await bench.transaction(in: app)
        }
        return (found?.app.environment, nil)
      } catch {
        return (nil, error)
      }
    }
  }

  @Test("Sandbox is asked for what Production does not know, and for an app without a release")
  func fallback() async throws {
    let absent = StubServer.Answer.error(4_040_010)
    #expect(try await look(production: .transaction, sandbox: .hangUp).environment == .production)
    for answer in [absent, Self.unauthorized] {
      let found = try await look(production: answer, sandbox: .transaction)
      #expect(found.environment == .sandbox)
      let none = try await look(production: answer, sandbox: absent)
      #expect(none.environment == nil && none.failure == nil)
      let refused = try await look(production: answer, sandbox: Self.unauthorized)
      #expect(refused.failure?.code == .unauthorized)
      let failed = try await look(production: answer, sandbox: .error(5_000_000))
      #expect(failed.failure?.errorCode?.rawValue == 5_000_000)
    }
    // Other errors say nothing of the environment.
    for code in [4_000_006, 4_040_001, 5_000_000] {
      let found = try await look(production: .error(code), sandbox: .transaction)
      #expect(found.failure?.errorCode?.rawValue == Int64(code))
    }
  }
}

extension Bench {
  /// Why consumption cannot be told; nil when it was.
  fileprivate func consumptionFailure(
    within time: TimeAmount = .minutes(1)
  ) async -> AppStoreServerError? {
    let information = ConsumptionInformation(
      customerConsented: true, sampleContentProvided: false, deliveryStatus: .delivered)
    do throws(AppStoreServerError) {
      try await client.sendConsumption(information, of: "1", in: Self.app, deadline: uptime + time)
      return nil
    } catch {
      return error
    }
  }
}
