import NIOCore
import NIOPosix
import RPCServer
import Synchronization
import Testing

@testable import LoadClient

@Suite("A server that stalls", .timeLimit(.minutes(1)))
struct StalledServerTests {
  /// How long the first calls wait for their answers.
  private static let stall = TimeAmount.milliseconds(400)

  /// Runs a load against a server whose first answers are slow, and all others immediate.
  private func run(
    _ shape: LoadShape, count: Int?, duration: Duration?, slow: Int = 1
  ) async throws -> LoadResult {
    let stage = try LoadStage()
    let calls = Atomic<Int>(0)
    let server = try await stage.server { answer in
      let isSlow = calls.add(1, ordering: .relaxed).oldValue < slow
      guard isSlow else { return answer.succeed(ByteBuffer()) }
      MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: Self.stall) {
        answer.succeed(ByteBuffer())
      }
    }
    let result = try await stage.load(shape, count: count, duration: duration).run()
    await server.shutDown()
    return result
  }

  @Test("open loop: every call that was due during the stall counts from its intended start")
  func open() async throws {
    let result = try await run(
      .open(rate: 1_000, spacing: .constant, maximumInFlight: 1), count: nil,
      duration: .milliseconds(500))
    let latencies = result.total.all.latencies
    // No call is missing, although only one could be in flight.
    #expect(result.total.all.answered == 500)
    #expect(result.total.delayed > 0)
    #expect(latencies.maximum >= 399e6)
    // 400 calls are due during the stall, each waiting a millisecond less than the previous one,
    // and later calls wait for them. So most calls have waited long, however fast the server is
    // afterwards.
    #expect(latencies.percentile(50) > 100e6)
  }

  @Test("open loop: further calls wait when a connection has as many as the server allows")
  func fullConnection() async throws {
    let count = 2 * ShapeOptions.largestInFlight
    let result = try await run(
      .open(rate: 1_000_000, spacing: .constant, maximumInFlight: 2 * count), count: count,
      duration: nil, slow: count)
    #expect(result.total.all.errors == [:])
    #expect(result.total.all.answered == count)
    #expect(result.total.delayed > 0)
    // The second half began when the first was answered.
    #expect(result.total.all.latencies.maximum >= 799e6)
  }

  @Test("closed loop: the same stall is one slow call")
  func closed() async throws {
    let result = try await run(.closed(inFlight: 1), count: 500, duration: nil)
    let latencies = result.total.all.latencies
    #expect(result.total.all.answered == 500)
    #expect(latencies.maximum >= 399e6)
    #expect(latencies.percentile(90) < 100e6)
  }
}
