import EntitlementDomain
import NIOCore
import NIOPosix
import OutboundHTTP
import Testing

@testable import AppStoreServerAPI

@Suite("The end of a client", .timeLimit(.minutes(3)))
struct ShutDownTests {
  @Test("After the end there are no calls; those in progress may end, until the deadline")
  func shutDown() async throws {
    let server = try await StubServer([.silence])
    var addresses = AppStoreServerAddresses()
    addresses.production = try OutboundAddress(parsing: server.url)
    let client = AppStoreServerClient(addresses: addresses, keys: try Bench.keys())
    let call = Task {
      await #expect(throws: AppStoreServerError.self) {
        _ = try await client.transaction("1", in: Bench.app, deadline: .now() + .minutes(1))
      }
    }
    await server.received(1)
    await client.shutDown(deadline: .now())
    #expect(await call.value?.code == .shutDown)
    let late = await #expect(throws: AppStoreServerError.self) {
      _ = try await client.transaction("1", in: Bench.app, deadline: .now() + .minutes(1))
    }
    #expect(late?.code == .shutDown)
    await client.shutDown(deadline: .now())
    #expect(server.requests.count == 1)
  }

  @Test("An idle client ends at once")
  func idle() async throws {
    let client = AppStoreServerClient(keys: AppStoreServerKeys())
    // Would wait for an hour.
    await client.shutDown(deadline: .now() + .hours(1))
    #expect(client.statistics.callsInProgress == 0)
  }

  /// A client whose requests are answered after `moment`, with real clocks.
  private func run(
    _ answer: StubServer.Answer,
    _ body: (Bench, ObservedClock, EventLoopPromise<Void>) async throws -> Void
  ) async throws {
    let moment = MultiThreadedEventLoopGroup.singleton.any().makePromise(of: Void.self)
    let server = try await StubServer([.held(moment.futureResult, answer)])
    let clock = ObservedClock()
    try await Bench.run(server: server, observed: clock) { bench in
      try await body(bench, clock, moment)
      // A second time without effect.
      moment.succeed()
    }
  }

  @Test("A call that is answered while the client shuts down succeeds, and ends the shutdown")
  func answeredMeanwhile() async throws {
    try await run(.transaction) { bench, clock, moment in
      let call = Task { await bench.failure() }
      await bench.server.received(1)
      // Not waited for.
      let end = Task { await bench.client.shutDown(deadline: .now() + .hours(1)) }
      // The wait for the deadline of the shutdown.
      await clock.begun(1)
      #expect(await bench.failure()?.code == .shutDown)
      moment.succeed()
      #expect(await call.value == nil)
      await end.value
      #expect(bench.server.requests.count == 1)
    }
  }

  @Test("A call that would have to wait while the client shuts down ends instead")
  func lateWait() async throws {
    for answer: StubServer.Answer in [
      .error(4_290_000, headers: ["retry-after": "30"]), .error(5_000_001),
    ] {
      try await run(answer) { bench, clock, moment in
        let call = Task { await bench.failure() }
        await bench.server.received(1)
        let end = Task { await bench.client.shutDown(deadline: .now() + .hours(1)) }
        await clock.begun(1)
        moment.succeed()
        #expect(await call.value?.code == .shutDown)
        await end.value
        #expect(clock.waits == 1)
        #expect(bench.server.requests.count == 1)
      }
    }
  }

  @Test("Calls that wait for an attempt, a pause or a permit end with the client")
  func waiting() async throws {
    var limits = AppStoreServerLimits()
    limits.rateFactor = 0.02
    let clock = ObservedClock()
    let server = try await StubServer { request, _ in
      request.target.hasSuffix("test")
        ? .json(#"{"testNotificationToken":"t"}"#)
        : .error(4_290_000, headers: ["retry-after": "50"])
    }
    try await Bench.run(server: server, limits: limits, observed: clock) { bench in
      // Waits for its second attempt.
      let first = Task { await bench.failure(within: .minutes(2)) }
      await clock.begun(1)
      // Waits for the end of the pause.
      let second = Task { await bench.failure(within: .minutes(2)) }
      await clock.begun(1)
      // The second of them waits for its permit, for 50 s.
      let third = Task { () -> AppStoreServerError? in
        do throws(AppStoreServerError) {
          for _ in 0..<2 {
            _ = try await bench.client.requestTestNotification(
              in: Bench.app, deadline: .now() + .minutes(2))
          }
          return nil
        } catch {
          return error
        }
      }
      await clock.begun(1)
      #expect(bench.client.statistics.waitingCalls == 3)
      await bench.client.shutDown(deadline: .now() + .seconds(10))
      #expect(bench.client.statistics.callsInProgress == 0)
      #expect(bench.client.statistics.waitingCalls == 0)
      for call in [first, second, third] { #expect(await call.value?.code == .shutDown) }
      #expect(server.requests.count == 2)
    }
  }
}
