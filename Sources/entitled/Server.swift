import CertificateStatus
import EntitlementDomain
import EntitlementService
import EntitlementStore
import Logging
import NIOCore
import PostgresStore
import Programs
import RPCEndpoints
import RPCServer
import SQLiteStore
import ServiceLifecycle
import UnixSignals
import Verification
import Wire

/// Puts the parts together, in the order in which they depend on each other, and takes them apart
/// in the reverse order.
struct Server {
  let settings: Settings

  /// Serves until SIGTERM or SIGINT.
  ///
  /// - Throws: ``StartFailure`` when it cannot start.
  func run() async throws {
    let logger = makeLogger()
    // Before anything can fail, so that the log of a failed start names the version, too.
    logger.info("starting", metadata: ["version": "\(ProgramVersion.current)"])
    try settings.checkAddresses()
    let catalogFile = CatalogFileOnDisk(path: settings.catalogPath)
    // Before the file is read: what changes from now on is read again.
    let catalogVersion = catalogFile.version
    let (contents, digest) = try CatalogLoader.load(settings.catalogPath)
    for warning in contents.warnings {
      logger.warning("catalog", metadata: ["issue": "\(warning)"])
    }
    let opened = try await openStore(logger: logger)
    let store = opened.store
    let parts = Parts(
      settings: settings,
      catalog: CatalogHolder(
        contents.catalog, digest: digest, warnings: contents.warnings, clock: .system),
      source: catalogFile.source, opened: opened, logger: logger)
    let addresses: [ServerAddress]
    do {
      addresses = try await parts.rpcServer.start(on: settings.listen)
    } catch {
      await parts.pool.shutdown()
      await parts.status?.responder.shutDown()
      await store.close()
      throw StartFailure(error)
    }
    parts.health.set(isServing: true)

    // Caught until the very end: it must not kill a server that is stopping.
    let hangups = await UnixSignalsSequence(trapping: .sighup)
    // Graceful shutdown goes from the last service to the first: its limit begins, the catalog stays
    // as it is, nobody says any more that the store is well, the front finishes its calls, what other
    // nodes write is not followed any more, the workers end, issuers are not asked any more, the
    // store closes.
    let group = ServiceGroup(
      configuration: ServiceGroupConfiguration(
        services: [
          .init(service: StoreLife(store: store)),
          .init(service: CertificateStatusLife(responder: parts.status?.responder)),
          .init(service: PoolLife(pool: parts.pool)),
          .init(service: FollowingLife(follower: parts.follower, trimmer: parts.trimmer)),
          .init(
            service: FrontLife(
              server: parts.rpcServer, addresses: addresses, health: parts.health, logger: logger)),
          .init(service: HealthMonitor(store: store, board: parts.health, logger: logger)),
          .init(
            service: CatalogLife(
              file: catalogFile, seen: catalogVersion, hangups: hangups,
              reloader: parts.reloader, logger: logger)),
          .init(service: StopLimit(shutdownTime: settings.shutdownTime, logger: logger)),
        ],
        gracefulShutdownSignals: [.sigterm, .sigint], logger: Self.quiet(logger)))
    try await group.run()
    withExtendedLifetime(hangups) {}
    logger.info("stopped", metadata: parts.finalCounts)
  }

  private func makeLogger() -> Logger {
    let format = settings.logFormat
    var logger = Logger(label: "entitled") { label in
      switch format {
      case .text: StreamLogHandler.standardError(label: label)
      case .json: JSONLogHandler(label: label)
      }
    }
    logger.logLevel = settings.logLevel
    return logger
  }

  /// The life cycle's own steps are of interest only when something is wrong with them.
  private static func quiet(_ logger: Logger) -> Logger {
    var quiet = logger
    quiet.logLevel = max(logger.logLevel, .warning)
    return quiet
  }

  private func openStore(logger: Logger) async throws(StartFailure) -> OpenedStore {
    do {
      switch settings.store {
      case .sqlite(let path):
        return OpenedStore(try SQLiteStore.open(at: path), statistics: { [] })
      case .postgres(let configuration):
        let store = try await PostgresStore.open(configuration, logger: logger)
        return OpenedStore(store, statistics: { store.statistics.values })
      }
    } catch {
      let reason: StartFailure.Reason =
        switch error.code {
        case .locked: .storeLocked
        case .olderSchema: .olderSchema
        case .newerSchema: .newerSchema
        default: .cannotOpenStore
        }
      throw StartFailure(reason, "the database \(settings.store.place): \(error.message)")
    }
  }
}

/// A store, and its own figures.
private struct OpenedStore {
  let store: any EntitlementStore
  let statistics: ServiceStatistics.Source

  init(
    _ store: any EntitlementStore,
    statistics: @escaping ServiceStatistics.Source
  ) {
    self.store = store
    self.statistics = statistics
  }
}

/// Everything between the store and the sockets.
private struct Parts {
  let pool: VerificationPool
  /// Nil when nobody is asked.
  let status: CertificateStatusParts?
  let reloader: CatalogReloader
  let rpcServer: RPCServer
  let follower: ChangeFollower
  let trimmer: ChangeTrimmer
  let health = HealthBoard()
  private let reader: CustomerReader

  init(
    settings: Settings, catalog: CatalogHolder, source: CatalogSource,
    opened: OpenedStore, logger: Logger
  ) {
    let store = opened.store
    let status = CertificateStatusParts(policy: settings.certificateStatus, logger: logger)
    self.status = status
    let pool = VerificationPool(
      verifier: JWSVerifier(anchors: settings.trustAnchors, judgesNow: status != nil),
      status: status?.checker, width: settings.verificationWorkers,
      capacity: settings.verificationQueue)
    self.pool = pool
    let counters = ServiceCounters()
    let horizon = FeedHorizon(staleness: settings.staleness, timer: .system)
    let reader = CustomerReader(
      store: store, catalog: catalog, clock: .system, horizon: horizon,
      cacheBytes: settings.cacheBytes, limits: ReadLimits(permits: settings.store.readPermits),
      encode: EntitlementEndpoint.encode)
    self.reader = reader
    follower = ChangeFollower(
      store: store, horizon: horizon, limits: FollowingLimits(staleness: settings.staleness),
      logger: logger, changed: { reader.customersChanged($0) }, cleared: { reader.allChanged() })
    trimmer = ChangeTrimmer(
      store: store, retention: settings.changeRetention, clock: .system, logger: logger)
    let submissions = SubmissionService(
      store: store, catalog: catalog, pool: pool, clock: .system, counters: counters,
      logger: logger, customersChanged: { reader.customersChanged($0) })
    let grants = GrantService(
      store: store, catalog: catalog, clock: .system, counters: counters,
      customersChanged: { reader.customersChanged($0) })
    let audited = AuditedChange(
      store: store, catalog: catalog, clock: .system, counters: counters,
      customersChanged: { reader.customersChanged($0) })
    let watch = CustomerWatch(store: store, reader: reader, horizon: horizon)
    reloader = CatalogReloader(
      source: source, holder: catalog, clock: .system, counters: counters, logger: logger)
    let statistics = ServiceStatistics([
      { counters.values }, { reader.statistics.values }, { reader.readStatistics.values },
      { pool.statistics.values },
      { (status?.checker.statistics ?? StatusStatistics()).values }, opened.statistics,
      { [follower] in follower.statistics.values }, { [trimmer] in trimmer.values },
      { watch.values },
    ])

    var router = RPCRouter()
    EntitlementEndpoint(
      reader: reader, states: CustomerStates(store: store, catalog: catalog, clock: .system),
      explanations: ExplanationService(store: store, catalog: catalog, clock: .system),
      watch: watch
    ).register(in: &router)
    SubmissionEndpoint(submissions: submissions).register(in: &router)
    LinkEndpoint(links: LinkService(store: store, catalog: catalog, changes: audited))
      .register(in: &router)
    AdminEndpoint(
      grants: grants, catalog: catalog, reloader: reloader, feed: ChangeFeed(store: store),
      submissions: submissions,
      records: CustomerRecords(
        store: store, catalog: catalog, clock: .system, changes: audited),
      statistics: statistics, version: ProgramVersion.current
    ).register(in: &router)
    HealthEndpoint(board: health, version: ProgramVersion.current).register(in: &router)
    rpcServer = RPCServer(
      router: router,
      limits: RPCLimits(
        connections: settings.maximumConnections, idleTime: settings.idleTime,
        shutdownTime: settings.shutdownTime,
        shortConnectionsPerSecond: settings.shortConnectionsPerSecond),
      logger: logger)
    // The server holds its methods, and they the figures.
    statistics.add { [weak rpcServer] in rpcServer?.statistics.values ?? [] }
  }

  /// What was done in all, for the last line of the log.
  var finalCounts: Logger.Metadata {
    let cache = reader.statistics
    return [
      "calls": "\(rpcServer.statistics.calls.total)", "hits": "\(cache.hits)",
      "misses": "\(cache.misses)", "verified": "\(pool.statistics.work.done)",
    ]
  }
}

extension StartFailure {
  fileprivate init(_ error: RPCServerError) {
    let reason: Reason =
      switch error.code {
      case .permissionDenied: .addressNotPermitted
      case .alreadyStarted: .failed
      default: .addressUnavailable
      }
    self.init(reason, error.description)
  }
}
