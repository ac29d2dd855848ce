import Logging
import NIOCore
import NIOPosix
import RPCServer
import Synchronization
import TestSupport
import Testing
import Wire

@testable import LoadClient

@Suite("A server that stalls", .timeLimit(.minutes(1)))
struct StalledServerTests {
  /// How long the first call waits for its answer.
  private static let stall = TimeAmount.milliseconds(400)

  /// Runs a load against a server whose first answer takes long, and all others nothing.
  private func run(_ shape: LoadShape, count: Int?, duration: Duration?) async throws -> LoadResult
  {
    let calls = Atomic<Int>(0)
    let folder = try TemporaryFolder()
    var router = RPCRouter()
    let method = WireMethods.getCustomerState
    router.unary(method.service, method.name) { _, answer in
      let isFirst = calls.add(1, ordering: .relaxed).oldValue == 0
      guard isFirst else { return answer.succeed(ByteBuffer()) }
      MultiThreadedEventLoopGroup.singleton.any().scheduleTask(in: Self.stall) {
        answer.succeed(ByteBuffer())
      }
    }
    let server = RPCServer(
      router: router, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    let address = ServerAddress.unix(path: folder.file("socket"))
    _ = try await server.start(on: [address])
    let plan = RunPlan(
      calls: CallPlan(
        customers: try BulkCustomers(count: 10, seed: 1), mix: try CallMix(parsing: "hot=1"),
        choice: .uniform, batchSize: 1, timeout: .seconds(10), authority: nil, seed: 1,
        threads: 1),
      shape: shape, connections: 1, checks: .none, warmUp: .zero, duration: duration,
      count: count)
    let result: LoadResult
    do {
      result = try await LoadRun(plan, to: address, server: nil, tell: nil).run()
    } catch {
      await server.shutDown()
      throw error
    }
    await server.shutDown()
    return result
  }

  @Test("open loop: every call that was due meanwhile counts from its moment")
  func open() async throws {
    let result = try await run(
      .open(rate: 1_000, spacing: .constant, maximumInFlight: 1), count: nil,
      duration: .milliseconds(500))
    let latencies = result.total.all.latencies
    // None is left out, although only one could be under way.
    #expect(result.total.all.answered == 500)
    #expect(result.total.held > 0)
    #expect(latencies.maximum >= 399e6)
    // Those of the stall are 400, each with a millisecond less to wait than the one before; what comes
    // after waits only as long as the server takes to get through them.
    #expect(latencies.percentile(50) > 100e6)
    #expect(latencies.percentile(10) < latencies.maximum / 2)
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
