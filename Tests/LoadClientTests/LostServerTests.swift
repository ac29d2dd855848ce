import NIOCore
import RPCServer
import Synchronization
import Testing

@testable import LoadClient

@Suite("A server that goes away", .timeLimit(.minutes(1)))
struct LostServerTests {
  /// Runs a load against a server that goes away at its first call.
  ///
  /// - Parameters:
  ///   - isAnswered: whether it answers that call before.
  ///   - returns: whether another one comes then, which answers everything.
  private func run(
    _ shape: LoadShape, count: Int? = nil, duration: Duration? = nil, timeout: Duration,
    isAnswered: Bool, returns: Bool
  ) async throws -> LoadResult {
    let stage = try LoadStage()
    let (calls, called) = AsyncStream.makeStream(of: Void.self)
    let first = try await stage.server(shutdownTime: .milliseconds(200)) { answer in
      if isAnswered { answer.succeed(ByteBuffer()) }
      called.finish()
    }
    let load = try stage.load(shape, count: count, duration: duration, timeout: timeout)
    async let result = load.run()
    for await _ in calls {}
    await first.shutDown()
    guard returns else { return try await result }
    let second = try await stage.server { $0.succeed(ByteBuffer()) }
    let measured = try await result
    await second.shutDown()
    return measured
  }

  /// Fifty calls, of which one is under way at a time, so that the end of the load comes while the
  /// server does not answer the first of them.
  private static let fifty = LoadShape.open(rate: 1_000, spacing: .constant, maximumInFlight: 1)

  @Test("late calls are made when a server is there again after the end")
  func lateCalls() async throws {
    let result = try await run(
      Self.fifty, duration: .milliseconds(50), timeout: .seconds(10), isAnswered: false,
      returns: true)
    // Those that the first server still takes while it goes, it does not answer.
    #expect(result.total.all.answered >= 45)
    #expect(result.total.all.calls == 50)
    #expect(result.total.all.errors["NOT_SENT"] == nil)
    #expect(result.total.lostConnections == 1)
    #expect(!result.isServerGone)
  }

  @Test("late calls that cannot be made count with their wait, as long as the timeout")
  func unsentCalls() async throws {
    let result = try await run(
      Self.fifty, duration: .milliseconds(50), timeout: .milliseconds(700), isAnswered: false,
      returns: false)
    #expect(result.total.all.answered == 0)
    #expect(result.total.all.errors["NOT_SENT", default: 0] >= 45)
    #expect(result.total.all.calls == 50)
    #expect(result.total.all.latencies.maximum >= 700e6)
    #expect(result.length >= 0.7)
    // With a duration a run ends by itself.
    #expect(!result.isServerGone)
  }

  @Test("a call that finds its connection closed waits for another one, and its wait counts")
  func closedConnection() async throws {
    // The second call comes when the server is away, and nobody has noticed.
    let result = try await run(
      .open(rate: 2, spacing: .constant, maximumInFlight: 8), count: 2, timeout: .seconds(10),
      isAnswered: true, returns: true)
    #expect(result.total.all.errors == [:])
    #expect(result.total.all.answered == 2)
    #expect(result.total.lostConnections == 1)
    // Connections are opened again after a pause.
    #expect(result.total.all.latencies.maximum >= 90e6)
  }

  @Test("a run with nothing but a count is given up, with what was measured")
  func givingUp() async throws {
    for shape in [LoadShape.closed(inFlight: 1), Self.fifty] {
      let result = try await run(
        shape, count: 100, timeout: .milliseconds(300), isAnswered: false, returns: false)
      #expect(result.isServerGone)
      #expect(result.total.all.answered == 0)
      // No more than were asked for, however long they waited.
      #expect((1...100).contains(result.total.all.calls))
      #expect(!result.isInterrupted)
    }
  }
}
