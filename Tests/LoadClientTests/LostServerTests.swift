import NIOCore
import RPCServer
import Synchronization
import Testing

@testable import LoadClient

@Suite("A server that stops", .timeLimit(.minutes(1)))
struct LostServerTests {
  /// Runs a load against a server that stops at its first call.
  ///
  /// - Parameters:
  /// - isAnswered: whether it answers that call first.
  /// - returns: whether another server starts then, which answers everything.
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

  /// Fifty calls, one in flight at a time, so that the load ends while the first of them is
  /// unanswered.
  private static let fifty = LoadShape.open(rate: 1_000, spacing: .constant, maximumInFlight: 1)

  @Test("late calls are made when the server returns after the end")
  func lateCalls() async throws {
    let result = try await run(
      Self.fifty, duration: .milliseconds(50), timeout: .seconds(10), isAnswered: false,
      returns: true)
    // Calls that the first server receives while it stops get no answer.
    #expect(result.total.all.answered >= 45)
    #expect(result.total.all.calls == 50)
    #expect(result.total.all.errors["NOT_SENT"] == nil)
    #expect(result.total.lostConnections == 1)
    #expect(!result.isServerGone)
  }

  @Test("late calls that cannot be made count with their wait, up to the timeout")
  func unsentCalls() async throws {
    let result = try await run(
      Self.fifty, duration: .milliseconds(50), timeout: .milliseconds(700), isAnswered: false,
      returns: false)
    #expect(result.total.all.answered == 0)
    #expect(result.total.all.errors["NOT_SENT", default: 0] >= 45)
    #expect(result.total.all.calls == 50)
    #expect(result.total.all.latencies.maximum >= 700e6)
    #expect(result.length >= 0.7)
    // A run with a duration ends normally.
    #expect(!result.isServerGone)
  }

  @Test("a call on a closed connection waits for another one, and its wait counts")
  func closedConnection() async throws {
    // The second call is made after the server has stopped, before the client has noticed.
    let result = try await run(
      .open(rate: 0.5, spacing: .constant, maximumInFlight: 8), count: 2, timeout: .seconds(10),
      isAnswered: true, returns: true)
    #expect(result.total.all.errors == [:])
    #expect(result.total.all.answered == 2)
    #expect(result.total.lostConnections == 1)
    // Connections are reopened after a pause.
    #expect(result.total.all.latencies.maximum >= 90e6)
  }

  @Test("a run with only a count is given up, with the results so far")
  func givingUp() async throws {
    for shape in [LoadShape.closed(inFlight: 1), Self.fifty] {
      let result = try await run(
        shape, count: 100, timeout: .milliseconds(300), isAnswered: false, returns: false)
      #expect(result.isServerGone)
      #expect(result.total.all.answered == 0)
      // No more calls than requested.
      #expect((1...100).contains(result.total.all.calls))
      #expect(!result.isInterrupted)
    }
  }
}
