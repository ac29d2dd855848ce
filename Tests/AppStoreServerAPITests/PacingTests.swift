import EntitlementDomain
import NIOCore
import Testing

@testable import AppStoreServerAPI

@Suite("Rates and bounds", .timeLimit(.minutes(2)))
struct PacingTests {
  private static let start = NIODeadline.uptimeNanoseconds(1_000_000_000_000)

  @Test(
    "Each endpoint has its rate, a tenth in Sandbox, scaled by the factor",
    arguments: [
      (.transaction, 50), (.history, 50), (.subscriptionStatuses, 50), (.appTransaction, 50),
      (.finish, 50), (.consumption, 50), (.legacyConsumption, 50), (.notificationHistory, 50),
      (.appAccountToken, 20), (.extendRenewal, 20), (.refunds, 10), (.order, 10),
      (.massExtension, 1), (.massExtensionStatus, 1), (.testNotification, 1),
      (.testNotificationStatus, 1),
    ] as [(AppStoreServerEndpoint, Double)])
  func rates(endpoint: AppStoreServerEndpoint, perSecond: Double) {
    for factor in [0.8, 1, 2] {
      for app in [Bench.app, Bench.sandbox] {
        var pacing = CallPacing(rateFactor: factor, waitingCalls: 100_000)
        let rate = perSecond * factor * (app.environment == .sandbox ? 0.1 : 1)
        let end = Self.start + .seconds(100)
        var count = 0
        // What is reserved within 100 s, all asked for at the start.
        let lane = CallPacing.Lane(app: app, endpoint: endpoint)
        while true {
          let permit = pacing.permit(lane, now: Self.start, deadline: end, mayWait: true)
          if case .refused(let moment) = permit {
            #expect(moment >= end)
            break
          }
          count += 1
        }
        // One second's tokens, at least one, are there at once.
        let expected = rate * 100 + max(1, rate.rounded(.down))
        #expect(abs(Double(count) - expected) <= 1 + expected / 1_000_000)
      }
    }
  }

  @Test("Calls wait for their turn within the deadline, each app for its own")
  func bucket() async throws {
    var limits = AppStoreServerLimits()
    limits.rateFactor = 0.2
    try await Bench.run(
      [.json(#"{"signedTransactions":[],"revision":"r","hasMore":false}"#)],
      limits: limits
    ) { bench in
      // Two a second.
      func refunds(in app: AppScope, within time: TimeAmount) async -> AppStoreServerError.Code? {
        do throws(AppStoreServerError) {
          _ = try await bench.client.refunds(
            of: TransactionID("1"), in: app, deadline: bench.clock.uptime + time)
          return nil
        } catch {
          return error.code
        }
      }
      for _ in 0..<2 { #expect(await refunds(in: Bench.app, within: .seconds(60)) == nil) }
      #expect(bench.clock.waits.isEmpty)
      // Not within its deadline: at once, without a wait, and without a token.
      #expect(await refunds(in: Bench.app, within: .milliseconds(499)) == .rateLimited)
      #expect(await refunds(in: Bench.app, within: .milliseconds(499)) == .rateLimited)
      #expect(bench.clock.waits.isEmpty)
      #expect(await refunds(in: Bench.app, within: .seconds(60)) == nil)
      #expect(bench.clock.waits == [.milliseconds(500)])
      // 0.2 a second.
      #expect(await refunds(in: Bench.sandbox, within: .seconds(60)) == nil)
      #expect(await refunds(in: Bench.sandbox, within: .seconds(60)) == nil)
      #expect(bench.clock.waits == [.milliseconds(500), .seconds(5)])
      #expect(bench.client.statistics.permitWaits == 2)
      #expect(bench.server.requests.count == 5)
    }
  }

  @Test("Only so many calls wait, and only so many are in progress")
  func bounds() async throws {
    var limits = AppStoreServerLimits()
    limits.waitingCalls = 0
    try await Bench.run([.error(5_000_001), .transaction], limits: limits) { bench in
      // The error of the attempt.
      let error = await bench.failure()
      #expect(error?.code == .refused)
      #expect(error?.errorCode?.rawValue == 5_000_001)
      #expect(bench.client.statistics.waitingCalls == 0)
    }
    limits.rateFactor = 0.02
    try await Bench.run([.transaction], limits: limits) { bench in
      #expect(await bench.failure() == nil)
      let error = await bench.failure()
      #expect(error?.code == .busy)
      #expect(error?.message == "too many calls wait")
      #expect(error?.isRetryable == true)
      #expect(bench.client.statistics.permitWaits == 0)
    }
    limits = AppStoreServerLimits()
    limits.callsInProgress = 2
    try await Bench.run([.silence], limits: limits) { bench in
      let waiting = (0..<2).map { _ in Task { await bench.failure()?.code } }
      await bench.server.received(2)
      #expect(await bench.failure()?.code == .busy)
      #expect(bench.client.statistics.callsInProgress == 2)
      #expect(bench.client.statistics.callsInProgressLimit == 2)
      for task in waiting {
        task.cancel()
        #expect(await task.value == .cancelled)
      }
      #expect(bench.client.statistics.callsInProgress == 0)
    }
  }

  @Test("A call that has no room to wait takes no token")
  func noRoom() {
    var pacing = CallPacing(rateFactor: 0.2, waitingCalls: 100)
    let lane = CallPacing.Lane(app: Bench.app, endpoint: .refunds)
    let end = Self.start + .seconds(60)
    func permit(mayWait: Bool) -> CallPacing.Permit {
      pacing.permit(lane, now: Self.start, deadline: end, mayWait: mayWait)
    }
    for _ in 0..<2 { #expect(permit(mayWait: false) == .now) }
    for _ in 0..<10 { #expect(permit(mayWait: false) == .busy) }
    #expect(permit(mayWait: true) == .reserved(Self.start + .milliseconds(500)))
    pacing.pause(lane, until: Self.start + .seconds(5))
    #expect(permit(mayWait: false) == .busy)
    #expect(permit(mayWait: true) == .paused(Self.start + .seconds(5)))
  }

  @Test("A lane that is paused takes a quarter of the room for waiting calls")
  func pausedLane() async throws {
    var limits = AppStoreServerLimits()
    limits.waitingCalls = 8
    limits.attempts = 2
    let clock = ObservedClock()
    let server = try await StubServer { request, _ in
      request.method == "GET"
        ? .error(4_290_000, headers: ["retry-after": "40"]) : .error(4_040_006)
    }
    try await Bench.run(server: server, limits: limits, observed: clock) { bench in
      let waiting = (0..<2).map { _ in Task { await bench.failure()?.code } }
      await clock.begun(2)
      #expect(await bench.failure()?.code == .busy)
      #expect(bench.client.statistics.waitingCalls == 2)
      // Another lane has room for the wait before its second attempt.
      let error = await #expect(throws: AppStoreServerError.self) {
        try await bench.client.finish("1", in: Bench.app, deadline: bench.deadline)
      }
      #expect(error?.errorCode?.rawValue == 4_040_006)
      #expect(server.requests.count { $0.method == "POST" } == 2)
      #expect(clock.waits == 3)
      for task in waiting { task.cancel() }
      for task in waiting { #expect(await task.value == .cancelled) }
      #expect(bench.client.statistics.waitingCalls == 0)
    }
  }

  @Test("Limits that make no sense are corrected, and cannot overflow")
  func corrected() {
    var limits = AppStoreServerLimits()
    #expect(limits.corrected == limits)
    let times: [WritableKeyPath<AppStoreServerLimits, Duration>] = [
      \.firstBackoff, \.longestBackoff, \.longestRetryAfter, \.attemptTime, \.connectionTime,
      \.idleTime,
    ]
    for (given, expected) in [
      (.seconds(Int64.max), .seconds(86_400)), (.seconds(Int64.min), .milliseconds(1)),
      (.zero, .milliseconds(1)), (.seconds(86_400), .seconds(86_400)),
    ] as [(Duration, Duration)] {
      for time in times { limits[keyPath: time] = given }
      for time in times { #expect(limits.corrected[keyPath: time] == expected) }
    }
    limits.waitingCalls = .max
    limits.rateFactor = 0
    limits.attempts = .max
    let corrected = limits.corrected
    var pacing = CallPacing(
      rateFactor: corrected.rateFactor, waitingCalls: corrected.waitingCalls)
    let lane = CallPacing.Lane(app: Bench.sandbox, endpoint: .massExtension)
    for _ in 0..<2 {
      _ = pacing.permit(lane, now: Self.start, deadline: .distantFuture, mayWait: true)
    }
    let retries = CallRetries(.transaction, corrected)
    #expect(retries.backoff(jitter: 1) == .seconds(86_400))
    limits.waitingCalls = -1
    #expect(limits.corrected.waitingCalls == 0)
  }
}
