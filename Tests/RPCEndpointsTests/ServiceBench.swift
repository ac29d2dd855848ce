import EntitlementDomain
import EntitlementService
import Foundation
import Logging
import NIOCore
import RPCClient
import RPCEndpoints
import RPCServer
import SQLiteStore
import StoreSimulator
import Verification
import Wire

/// The whole service in this process, on a socket: real store, real signatures, a clock that stands
/// still.
struct ServiceBench {
  static let now: Milliseconds = 1_790_000_000_000
  static let scope = AppScope(bundleID: SimulatedApp.bundleID, environment: .production)

  let authority: SigningAuthority
  let store: SQLiteStore
  let health = HealthBoard()
  let client: EntitlementClient
  private let server: RPCServer
  private let pool: VerificationPool
  private let folder: URL

  /// - Parameter queue: payloads that may wait to be verified.
  init(queue: Int = 1_000) async throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "entitle-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    authority = try SigningAuthority.generate()
    store = try SQLiteStore.open(at: folder.appending(path: "store.sqlite").path)
    var anchors = TrustAnchors.apple
    anchors.trust(authority.rootFingerprint)
    pool = VerificationPool(verifier: JWSVerifier(anchors: anchors), width: 2, capacity: queue)
    let clock = ServiceClock { Self.now }
    let catalog = CatalogHolder(
      try CatalogFile.parse(SimulatedApp.catalogYAML).catalog, clock: clock)
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let reader = CustomerReader<ByteBuffer>(
      store: store, catalog: catalog, clock: clock, cacheBytes: 1 << 20,
      encode: EntitlementEndpoint.encode, size: { $0.readableBytes })
    var router = RPCRouter()
    EntitlementEndpoint(reader: reader).register(in: &router)
    SubmissionEndpoint(
      submissions: SubmissionService(
        store: store, catalog: catalog, pool: pool, clock: clock, logger: logger,
        customersChanged: { reader.customersChanged($0) })
    ).register(in: &router)
    HealthEndpoint(board: health).register(in: &router)
    server = RPCServer(router: router, logger: logger)
    let addresses = try await server.start(on: [.tcp(host: "127.0.0.1", port: 0)])
    client = try await EntitlementClient.connect(to: addresses[0])
  }

  /// Runs `body` and takes everything down, also when it throws.
  static func run(queue: Int = 1_000, _ body: (ServiceBench) async throws -> Void) async throws {
    let bench = try await ServiceBench(queue: queue)
    do {
      try await body(bench)
      await bench.close()
    } catch {
      await bench.close()
      throw error
    }
  }

  private func close() async {
    await client.close()
    await server.shutDown()
    await pool.shutdown()
    await store.close()
    try? FileManager.default.removeItem(at: folder)
  }

  /// What the App Store signed up to now for one customer in a life cycle.
  func signed(_ lifeCycle: LifeCycle, seed: UInt64) throws -> [SignedEvent] {
    let characteristic = lifeCycle.characteristicDay
    let start = SimulatedCalendar.floorDay(Self.now).advanced(
      by: -characteristic * Milliseconds.dayLength)
    let timeline = Timeline(lifeCycle, seed: seed, start: start, environment: .production)
    return try authority.sign(timeline.history(until: Self.now))
  }

  /// Submits a customer's whole history for an account named like the life cycle.
  @discardableResult
  func submit(_ lifeCycle: LifeCycle, seed: UInt64 = 1) async throws -> AccountID {
    let account = AccountID(lifeCycle.rawValue)
    _ = try await client.submitSignedTransactions(
      SubmitSignedTransactionsRequest(
        signedPayloads: try signed(lifeCycle, seed: seed).flatMap(\.facts), accountID: account))
    return account
  }

  func state(of customer: CustomerSelector, ifRevisionDiffers: Int64? = nil) async throws
    -> GetCustomerStateResponse
  {
    try await client.customerState(
      GetCustomerStateRequest(
        customer: customer, scope: Self.scope, ifRevisionDiffers: ifRevisionDiffers))
  }
}
