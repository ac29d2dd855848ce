import EntitlementDomain
import Logging
import NIOCore
import RPCServer
import TestSupport
import Wire

@testable import LoadClient

/// Servers at one address, one after the other, that answer GetCustomerState as a test says; and loads
/// against them.
struct LoadStage {
  private let folder: TemporaryFolder
  let address: ServerAddress

  init() throws {
    folder = try TemporaryFolder()
    address = .unix(path: folder.file("socket"))
  }

  /// - Parameter body: called with each answer that is to be given.
  func server(
    shutdownTime: Duration = .milliseconds(50), _ body: @escaping @Sendable (RPCAnswer) -> Void
  ) async throws -> RPCServer {
    var router = RPCRouter()
    let method = WireMethods.getCustomerState
    router.unary(method.service, method.name) { _, answer in body(answer) }
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
    mix: String = "hot=1", customers: Int = 10, audience: RunAudience = RunAudience()
  ) throws -> LoadRun {
    LoadRun(
      try plan(
        shape, count: count, duration: duration, timeout: timeout, checks: checks,
        mix: mix, customers: customers),
      to: address, server: nil, audience: audience)
  }

  /// On one connection, without a warm-up.
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

  /// Of somebody of whom nothing is known.
  static func state(of account: AccountID) -> CustomerState {
    CustomerState(
      scope: BulkCustomers.scope, accountID: account, revision: 0, evaluatedAt: 4,
      coreState: .new, callsToAction: [.merchandise], entitlements: [], products: [], groups: [],
      nextTransitionAt: nil)
  }
}
