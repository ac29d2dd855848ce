import EntitlementDomain
import Framing
import Logging
import NIOCore
import RPCClient
import RPCServer
import TestSupport
import Wire

@testable import LoadClient

/// Consecutive servers at one address that answer GetCustomerState as the test defines, and loads
/// against them.
struct LoadStage {
  private let folder: TemporaryFolder
  let address: ServerAddress

  init() throws {
    folder = try TemporaryFolder()
    address = .unix(path: folder.file("socket"))
  }

  /// - Parameter body: called with each answer object.
  func server(
    shutdownTime: Duration = .milliseconds(50), _ body: @escaping @Sendable (RPCAnswer) -> Void
  ) async throws -> RPCServer {
    var router = RPCRouter()
    let method = WireMethods.getCustomerState
    router.unary(method) { _, answer in body(answer) }
    return try await server(router, shutdownTime: shutdownTime)
  }

  func server(_ router: RPCRouter, shutdownTime: Duration = .milliseconds(50)) async throws
    -> RPCServer
  {
    let server = RPCServer(
      router: router,
      limits: RPCLimits(shutdownTime: shutdownTime, lingerTime: .milliseconds(50)),
      logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    _ = try await server.start(on: [address])
    return server
  }

  func load(
    _ shape: LoadShape, count: Int? = nil, duration: Duration? = nil,
    timeout: Duration = .seconds(10), checks: AnswerChecker.Extent = .none,
    mix: String = "hot=1", customers: Int = 10, observer: RunObserver = RunObserver()
  ) throws -> LoadRun {
    LoadRun(
      try plan(
        shape, count: count, duration: duration, timeout: timeout, checks: checks,
        mix: mix, customers: customers),
      to: RPCTarget(address), server: nil, observer: observer)
  }

  /// A plan with one connection, without a warm-up.
  func plan(
    _ shape: LoadShape, count: Int? = nil, duration: Duration? = nil,
    timeout: Duration = .seconds(10), checks: AnswerChecker.Extent = .none, mix: String = "hot=1",
    customers: Int = 10
  ) throws -> RunPlan {
    RunPlan(
      calls: CallPlan(
        customers: try BulkCustomers(count: customers, seed: 1), mix: try CallMix(parsing: mix),
        choice: .uniform, batchSize: BatchGetCustomerStateRequest.maximumCustomers,
        timeout: timeout, authority: nil,
        seed: 1, threads: 1),
      shape: shape, connections: 1, checks: checks, warmUp: .zero, duration: duration,
      count: count)
  }

  /// The state of an unknown customer.
  static func state(of account: AccountID) -> CustomerState {
    CustomerState(
      scope: BulkCustomers.scope, accountID: account, revision: 0, evaluatedAt: 4,
      coreState: .new, callsToAction: [.merchandise], entitlements: [], products: [], groups: [],
      nextTransitionAt: nil)
  }
}
