import AccessControl
import CatalogFiles
package import EntitlementDomain
package import EntitlementService
package import EntitlementStore
import Foundation
package import Framing
import Logging
import NIOCore
package import RPCClient
package import RPCEndpoints
package import RPCServer
package import SQLiteStore
package import StoreSimulator
import Synchronization
import TestSupport
import Verification
package import Wire

/// The whole service in this process, on a socket, with a real store, real signatures and a clock
/// that the test sets.
package struct ServiceBench {
  package static let now: Milliseconds = 1_790_000_000_000
  package static let scope = AppScope(bundleID: SimulatedApp.bundleID, environment: .production)
  /// The version that the server reports; not a real one.
  package static let version = "7.8.9-bench"
  package static let description = ServerDescription(
    version: version, nodeName: "bench-1", storeKind: .sqlite,
    warnings: { ["a first warning", "a second warning"] })

  /// Shared by all tests, as generating RSA keys is slow.
  package static let receiptAuthority = Result { try ReceiptAuthority.generate() }

  package let authority: SigningAuthority
  package let store: SQLiteStore
  package let health = HealthStatus()
  /// The server's clock, in milliseconds since the epoch.
  package let time = ManualTime()
  /// The clock of jobs, which in a server is the system's: an hour ahead of ``time``, so that a test
  /// tells which of both was used.
  package let jobTime = ManualTime(ServiceBench.now.advanced(by: 3_600_000))
  /// The server's catalog file.
  package let catalogPath: String
  package let client: EntitlementClient
  package let socketPath: String
  package let watermark: FeedWatermark
  package let server: RPCServer
  package let addresses: [ServerAddress]
  /// Whether a signed payload names a signer of which another payload was verified.
  package var knowsSigner: @Sendable (_ payload: String) -> Bool {
    { [pool] in pool.knowsSigner(of: $0) }
  }
  private let pool: VerificationPool
  private let following: Task<Void, Never>
  private let folder: URL

  /// - Parameters:
  ///   - queue: The capacity of the verification queue, in payloads.
  ///   - limits: The limits of the RPC server.
  ///   - watches: The limits of watches.
  ///   - exports: The limits of exports.
  ///   - reads: The limits of reads from the store.
  ///   - readingStore: Wraps the store for reads of customers.
  ///   - submissionStore: Wraps the store for submissions.
  ///   - access: Access control, if the test has it.
  ///   - listeners: In addition to TCP and a Unix socket; ``addresses`` has them last.
  ///   - reach: The environments in which the server has a key of the App Store Server API.
  ///   - desk: Asks the App Store for operators; nil without a key.
  ///   - fetcher: Fetches unknown customers; nil without a key.
  ///   - offerLimiter: The limits of signed offers.
  ///   - signOffer: Signs offers; nil: without a key.
  package init(
    queue: Int = 1_000, limits: RPCLimits = RPCLimits(), watches: WatchLimits = WatchLimits(),
    exports: ExportLimits = ExportLimits(),
    reads: ReadLimits = ReadLimits(permits: 8),
    readingStore: (any EntitlementStore) -> any EntitlementStore = { $0 },
    submissionStore: (any EntitlementStore) -> any EntitlementStore = { $0 },
    access: BenchAccess? = nil, listeners: [RPCListener] = [],
    reach: @escaping JobRecords.Reach = { _ in [] }, desk: (any AppStoreDesk)? = nil,
    fetcher: (any CustomerFetching)? = nil, offerLimiter: OfferLimiter = OfferLimiter(),
    signOffer: @escaping OfferService.Sign = { _, _ in nil }
  ) async throws {
    folder = FileManager.default.temporaryDirectory.appending(path: "entitle-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    authority = try SigningAuthority.generate()
    store = try SQLiteStore.open(at: folder.appending(path: "store.sqlite").path)
    var anchors = TrustAnchors.apple
    anchors.trust(authority.rootFingerprint, for: TrustAnchor.allEnvironments)
    anchors.trust(try Self.receiptAuthority.get().rootFingerprint, for: TrustAnchor.allEnvironments)
    pool = VerificationPool(verifier: JWSVerifier(anchors: anchors), width: 2, capacity: queue)
    let clock = ServiceClock { [time] in time.now }
    let path = folder.appending(path: "catalog.yaml").path
    catalogPath = path
    try Self.write(SimulatedApp.catalogYAML, to: path)
    let source = CatalogSource { () throws(CatalogSource.Unreadable) in
      guard let data = FileManager.default.contents(atPath: path) else {
        throw CatalogSource.Unreadable("it is gone")
      }
      return [UInt8](data)
    }
    let start = try source.read()
    let catalog = CatalogHolder(
      try start.contents.get().catalog, digest: start.digest, clock: clock)
    let counters = ServiceCounters()
    let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    let watermark = FeedWatermark(staleness: .seconds(5), timer: .system)
    self.watermark = watermark
    let evaluations = EvaluationPool()
    let reader = CustomerReader(
      store: readingStore(store), catalog: catalog, clock: clock, watermark: watermark,
      cacheBytes: 1 << 20, limits: reads, evaluations: evaluations,
      encode: EntitlementEndpoint.encode)
    let follower = ChangeFollower(
      store: store, watermark: watermark,
      limits: FollowingLimits(interval: .milliseconds(20), pause: .zero), logger: logger,
      changed: { reader.customersChanged($0) }, cleared: { reader.allChanged() })
    following = Task { await follower.run() }
    let watch = CustomerWatch(store: store, reader: reader, watermark: watermark, limits: watches)
    let changes = AuditedChange(
      store: store, catalog: catalog, clock: clock, counters: counters,
      customersChanged: { reader.customersChanged($0) })
    var router = RPCRouter()
    EntitlementEndpoint(
      reader: reader, states: CustomerStates(store: store, catalog: catalog, clock: clock),
      explanations: ExplanationService(store: store, catalog: catalog, clock: clock),
      watch: watch, fetcher: fetcher
    ).register(in: &router)
    AppStoreEndpoint(desk: desk).register(in: &router)
    LinkEndpoint(
      links: LinkService(store: store, catalog: catalog, changes: changes)
    ).register(in: &router)
    let submissions = SubmissionService(
      store: submissionStore(store), catalog: catalog, pool: pool, clock: clock, counters: counters,
      logger: logger, customersChanged: { reader.customersChanged($0) })
    SubmissionEndpoint(submissions: submissions).register(in: &router)
    let statistics = ServiceStatistics([
      { counters.values }, { reader.statistics.values }, { reader.readStatistics.values },
      { [pool] in pool.statistics.values }, { evaluations.values }, { catalog.values },
      { follower.statistics.values }, { watch.values }, { [health] in health.values },
    ])
    AdminEndpoint(
      grants: GrantService(
        store: store, catalog: catalog, clock: clock, counters: counters,
        customersChanged: { reader.customersChanged($0) }),
      catalog: catalog,
      reloader: CatalogReloader(
        source: source, holder: catalog, clock: clock, counters: counters, logger: logger,
        record: { [store] call throws(StoreError) in try await store.record(call) }),
      feed: ChangeFeed(store: store), submissions: submissions,
      records: CustomerRecords(
        store: store, catalog: catalog, clock: clock, changes: changes, limits: exports),
      statistics: statistics, server: Self.description
    ).register(in: &router)
    AuditEndpoint(records: AuditRecords(store: store)).register(in: &router)
    JobEndpoint(
      records: JobRecords(
        store: store, catalog: catalog, clock: clock,
        jobClock: ServiceClock { [jobTime] in jobTime.now }, reach: reach)
    ).register(in: &router)
    ConsumptionEndpoint(
      records: ConsumptionRecords(
        store: store, catalog: catalog, clock: clock,
        jobClock: ServiceClock { [jobTime] in jobTime.now }, reach: reach)
    ).register(in: &router)
    OfferEndpoint(
      offers: OfferService(
        store: store, catalog: catalog, clock: clock, counters: counters, limiter: offerLimiter,
        reach: reach, sign: signOffer)
    ).register(in: &router)
    MigrationEndpoint(
      records: ImportRecords(
        store: store, catalog: catalog, jobClock: ServiceClock { [jobTime] in jobTime.now },
        reach: reach)
    ).register(in: &router)
    HealthEndpoint(
      health: health, version: Self.version, needsCredentials: access != nil
    ).register(in: &router)
    let reloader = access.map { [store] access in
      CredentialsReloader(
        source: access.source, holder: access.holder, logger: logger,
        record: { call throws(StoreError) in try await store.record(call) })
    }
    if let reloader { statistics.add { reloader.values } }
    AccessEndpoint(catalog: catalog, reloader: reloader).register(in: &router)
    let server = RPCServer(
      router: router, limits: limits, credentials: access?.holder, logger: logger)
    statistics.add { [weak server] in
      server.map { $0.statistics.values + AccessRefusals.values(of: $0.refusals) } ?? []
    }
    self.server = server
    socketPath = folder.appending(path: "rpc.sock").path
    addresses = try await server.start(
      [
        RPCListener(.tcp(host: "127.0.0.1", port: 0)), RPCListener(.unix(path: socketPath)),
      ] + listeners)
    client = try await EntitlementClient.connect(
      to: addresses[0],
      configuration: EntitlementClientConfiguration(
        metadata: access?.adminMetadata ?? [], retries: .off))
    // The first poll drops all answers, and no caller joins a load that began before it.
    try await eventually { watermark.isCurrent }
  }

  package func setCatalog(_ text: String) throws { try Self.write(text, to: catalogPath) }

  private static func write(_ text: String, to path: String) throws {
    try Data(text.utf8).write(to: URL(filePath: path))
  }

  /// The life cycles with facts; the others consist of notifications only.
  package static var lifeCyclesWithFacts: [LifeCycle] {
    LifeCycle.allCases.filter { lifeCycle in
      events(of: lifeCycle, seed: 1).contains {
        !$0.transactions.isEmpty || $0.renewalInfo != nil || $0.appTransaction != nil
      }
    }
  }

  private static func events(of lifeCycle: LifeCycle, seed: UInt64) -> [StoreEvent] {
    let start = SimulatedCalendar.floorDay(now)
      .advanced(by: -lifeCycle.characteristicDay * Milliseconds.dayLength)
    return Timeline(lifeCycle, seed: seed, start: start, environment: .production)
      .history(until: now)
  }

  /// Runs `body` and shuts everything down, even if it throws.
  package static func run(
    queue: Int = 1_000, limits: RPCLimits = RPCLimits(), watches: WatchLimits = WatchLimits(),
    exports: ExportLimits = ExportLimits(),
    reads: ReadLimits = ReadLimits(permits: 8),
    readingStore: (any EntitlementStore) -> any EntitlementStore = { $0 },
    submissionStore: (any EntitlementStore) -> any EntitlementStore = { $0 },
    access: BenchAccess? = nil, listeners: [RPCListener] = [],
    reach: @escaping JobRecords.Reach = { _ in [] }, desk: (any AppStoreDesk)? = nil,
    fetcher: (any CustomerFetching)? = nil, offerLimiter: OfferLimiter = OfferLimiter(),
    signOffer: @escaping OfferService.Sign = { _, _ in nil },
    _ body: (ServiceBench) async throws -> Void
  ) async throws {
    let bench = try await ServiceBench(
      queue: queue, limits: limits, watches: watches, exports: exports,
      reads: reads, readingStore: readingStore, submissionStore: submissionStore,
      access: access, listeners: listeners, reach: reach, desk: desk, fetcher: fetcher,
      offerLimiter: offerLimiter, signOffer: signOffer)
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
    following.cancel()
    await following.value
    await pool.shutdown()
    await store.close()
    try? FileManager.default.removeItem(at: folder)
  }

  /// The payloads that the App Store has signed so far for one customer in a life cycle.
  package func signed(_ lifeCycle: LifeCycle, seed: UInt64) throws -> [SignedEvent] {
    try authority.sign(Self.events(of: lifeCycle, seed: seed))
  }

  /// Submits a customer's whole history for an account named like the life cycle.
  @discardableResult
  package func submit(_ lifeCycle: LifeCycle, seed: UInt64 = 1) async throws -> AccountID {
    let account = AccountID(lifeCycle.rawValue)
    _ = try await client.submitSignedTransactions(
      SubmitSignedTransactionsRequest(
        signedPayloads: try signed(lifeCycle, seed: seed).flatMap(\.facts), accountID: account))
    return account
  }

  package func state(of customer: CustomerSelector, ifRevisionDiffers: Int64? = nil) async throws
    -> GetCustomerStateResponse
  {
    try await client.customerState(
      GetCustomerStateRequest(
        customer: customer, scope: Self.scope, ifRevisionDiffers: ifRevisionDiffers))
  }
}

/// A clock that stands still until a test moves it.
package final class ManualTime: Sendable {
  private let milliseconds: Atomic<Int64>

  package init(_ start: Milliseconds = ServiceBench.now) {
    milliseconds = Atomic(start.rawValue)
  }

  package var now: Milliseconds { Milliseconds(milliseconds.load(ordering: .relaxed)) }

  package func set(_ moment: Milliseconds) {
    milliseconds.store(moment.rawValue, ordering: .relaxed)
  }
}
