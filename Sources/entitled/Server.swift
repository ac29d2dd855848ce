import AccessControl
import AppStoreOperations
import AppStoreRecovery
import AppStoreServerAPI
import CatalogFiles
import CertificateStatus
import CoreMetrics
import DevelopmentClock
import EntitlementDomain
import EntitlementService
import EntitlementStore
import Framing
import Logging
import MetricsExposition
import NIOCore
import OutboundHTTP
import PostgresStore
import Programs
import RPCEndpoints
import RPCServer
import SQLiteStore
import ServiceLifecycle
import ServiceMetrics
import TraceExport
import Traces
import UnixSignals
import Verification
import Wire
import Workers

/// Creates and starts the components in the order of their dependencies, and stops them in reverse
/// order.
struct Server {
  let settings: Settings

  /// Serves until SIGTERM or SIGINT.
  ///
  /// - Throws: ``StartFailure`` if the server cannot start.
  func run() async throws {
    let logger = makeLogger()
    // First, so that the log of a failed start contains the version.
    logger.info(
      "starting",
      metadata: ["version": "\(ProgramVersion.current)", "node": "\(settings.nodeName)"])
    for warning in settings.warnings {
      logger.warning("configuration", metadata: ["issue": "\(warning)"])
    }
    try settings.checkAddresses()
    let tls = try settings.tls.map { names throws(StartFailure) in
      try TLSReloader(names, logger: logger)
    }
    let connections = try FileDescriptors.connections(for: settings, logger: logger)
    let credentials = try LoadedCredentials(settings.credentialsPath)
    let catalogFile = FileOnDisk(path: settings.catalogPath)
    // Taken before the file is read: any later change causes a reload.
    let catalogVersion = catalogFile.version
    let (contents, digest) = try CatalogLoader.load(settings.catalogPath)
    for warning in contents.warnings {
      logger.warning("catalog", metadata: ["issue": "\(warning)"])
    }
    let evaluations = EvaluationPool()
    let libraries = LibraryMetrics(timerBounds: CallMetrics.boundsInSeconds)
    MetricsSystem.bootstrap(libraries)
    let auditLog = try settings.auditLog.map { target throws(StartFailure) in
      try AuditLogFile(target, logger: logger)
    }
    let headers = try settings.traces?.headers()
    let developmentClock = try await startDevelopmentClock(logger: logger)
    let clock = developmentClock.map { clock in ServiceClock { clock.now } } ?? .system
    for warning in settings.appStore?.warnings(contents.catalog) ?? [] {
      logger.warning("configuration", metadata: ["issue": "\(warning)"])
    }
    let trail = Self.makeTrail(settings.nodeName, log: auditLog, logger: logger)
    let opened = try await openStore(trail: trail, evaluations, logger: logger)
    let store = opened.store
    let traces = settings.traces.map {
      TraceComponents(
        $0, headers ?? CollectorHeaders(), node: settings.nodeName, logger: logger)
    }
    let components = ServerComponents(
      settings: settings, connections: connections, tls: tls,
      catalog: CatalogHolder(
        contents.catalog, digest: digest, warnings: contents.warnings, clock: clock),
      source: catalogFile.catalogSource, credentials: credentials, opened: opened, clock: clock,
      evaluations: evaluations, libraries: libraries, tracer: traces?.tracer, logger: logger)
    components.addAuditStatistics(trail, auditLog)
    let addresses: [String]
    do throws(RPCServerError) {
      let bound = try await components.rpcServer.start(
        settings.listen.map { RPCListener($0) } + components.http.listeners)
      addresses = components.http.names(of: bound, afterFramed: settings.listen.count)
    } catch {
      await components.http.shutDown()
      await components.pool.shutdown()
      await components.status?.responder.shutDown()
      await components.appStore?.shutDown()
      await store.close()
      await traces?.shutDown()
      throw StartFailure(error)
    }
    components.health.set(isServing: true)
    for warning in components.credentials?.warnings ?? [] {
      logger.warning("configuration", metadata: ["issue": "\(warning)"])
    }

    // Trapped until the end: SIGHUP must not kill a server that is stopping.
    let hangups = await UnixSignalsSequence(trapping: .sighup)
    let tlsHangups = await UnixSignalsSequence(trapping: .sighup)
    let credentialsHangups = await UnixSignalsSequence(trapping: .sighup)
    let appStoreHangups = await UnixSignalsSequence(trapping: .sighup)
    // A graceful shutdown stops the services from the last to the first: the watchdog starts,
    // catalog reloads and health checks end, the RPC server finishes its calls, jobs of the App Store
    // are given back, the change feed is no longer followed, the verification pool and the
    // certificate status checks end, the client of the App Store ends, and with it the changes that
    // operators began there, the store closes, the last spans are exported, and the development clock
    // is no longer followed.
    let group = ServiceGroup(
      configuration: ServiceGroupConfiguration(
        services: [
          .init(service: DevelopmentClockService(clock: developmentClock)),
          .init(service: TraceService(components: traces)),
          .init(service: StoreService(store: store)),
          // All that calls the App Store stops before it, so it is listed after it.
          .init(
            service: AppStoreService(
              access: components.appStore, operations: components.operations,
              hangups: appStoreHangups)),
          .init(service: CertificateStatusService(responder: components.status?.responder)),
          .init(service: VerificationPoolService(pool: components.pool)),
          .init(
            service: ChangeFeedService(
              follower: components.follower, trimmer: components.trimmer,
              sealer: components.sealer)),
          .init(service: RecoveryService(recovery: components.recovery)),
          .init(
            service: RPCService(
              server: components.rpcServer, addresses: addresses, health: components.health,
              logger: logger)),
          .init(service: HealthMonitor(store: store, health: components.health, logger: logger)),
          .init(
            service: CatalogService(
              file: catalogFile, initialVersion: catalogVersion, hangups: hangups,
              reloader: components.reloader, auditLog: auditLog, logger: logger)),
          .init(service: TLSService(reloader: tls, hangups: tlsHangups)),
          .init(
            service: CredentialsService(
              reloader: components.credentials, initialVersion: credentials?.version,
              file: credentials?.file, hangups: credentialsHangups, logger: logger)),
          .init(service: ShutdownWatchdog(shutdownTime: settings.shutdownTime, logger: logger)),
        ],
        gracefulShutdownSignals: [.sigterm, .sigint], logger: Self.quiet(logger)))
    try await group.run()
    await components.http.shutDown()
    withExtendedLifetime((hangups, tlsHangups, credentialsHangups, appStoreHangups)) {}
    logger.info("stopped", metadata: components.finalCounts)
  }

  /// - Returns: nil if time is the system's.
  private func startDevelopmentClock(logger: Logger) async throws(StartFailure) -> DevelopmentClock?
  {
    guard let address = settings.developmentClock else { return nil }
    do throws(DevelopmentClock.Unavailable) {
      return try await .start(following: address.description, logger: logger)
    } catch {
      throw StartFailure(.failed, "\(SettingKey.developmentClock.rawValue): \(error)")
    }
  }

  private func makeLogger() -> Logger {
    let format = settings.logFormat
    let provider: Logger.MetadataProvider? = settings.traces == nil ? nil : .traces
    var logger = Logger(label: "entitled") { label in
      LineLogHandler(label: label, format: format, metadataProvider: provider)
    }
    logger.logLevel = settings.logLevel
    return logger
  }

  /// A logger for the service group, which logs only warnings and errors.
  private static func quiet(_ logger: Logger) -> Logger {
    var quiet = logger
    quiet.logLevel = max(logger.logLevel, .warning)
    return quiet
  }

  /// The chain of the audit trail that this process writes.
  private static func makeTrail(
    _ nodeName: String, log: AuditLogFile?, logger: Logger
  ) -> AuditTrail {
    AuditTrail(node: nodeName) { entries in
      log?.write(entries)
      for entry in entries where entry.outcome == AuditOutcome.gap.rawValue {
        logger.error(
          "entries of the audit trail were lost in a failover",
          metadata: ["lost": "\(entry.subject)"])
      }
    }
  }

  private func openStore(
    trail: AuditTrail, _ evaluations: EvaluationPool, logger: Logger
  ) async throws(StartFailure) -> OpenedStore {
    do {
      switch settings.store {
      case .sqlite(let file):
        let store = try openSQLite(file, trail: trail, evaluations, logger: logger)
        return OpenedStore(store, statistics: { store.statistics.values })
      case .postgres(let configuration):
        let store = try await PostgresStore.open(
          configuration, trail: trail, logger: logger, evaluations: evaluations)
        return OpenedStore(store, statistics: { store.statistics.values })
      }
    } catch {
      let reason: StartFailure.Reason =
        switch error.code {
        case .missing, .corrupt: .missingOrDamagedStore
        case .locked: .storeLocked
        case .olderSchema: .olderSchema
        case .newerSchema: .newerSchema
        default: .cannotOpenStore
        }
      var message = "the database \(settings.store.location): \(error.message)"
      if error.code == .corrupt {
        message +=
          ". Nothing is served from a damaged database: restore a backup (operations.md, SQLite)"
      }
      throw StartFailure(reason, message)
    }
  }

  private func openSQLite(
    _ file: SQLiteFile, trail: AuditTrail, _ evaluations: EvaluationPool, logger: Logger
  ) throws(StoreError) -> SQLiteStore {
    var limits = SQLiteStoreLimits()
    limits.checkTime = file.checkTime
    let store = try SQLiteStore.open(
      at: file.path, creates: file.creates, limits: limits, trail: trail, evaluations: evaluations,
      logger: logger)
    let left: String
    switch store.check {
    case .complete: return store
    case .withoutIndexes: left = "its indexes were not compared with its tables"
    case .unfinished: left = "a part of the file was not read"
    case .skipped: left = "store_check_seconds is 0"
    }
    logger.warning(
      "the database was not checked completely",
      metadata: [
        "left": "\(left)", "seconds": .stringConvertible(file.checkTime.components.seconds),
      ])
    return store
  }
}

/// The file of credentials as it was at the start.
private struct LoadedCredentials {
  let file: FileOnDisk
  let version: FileOnDisk.Version?
  let holder: CredentialsHolder

  /// - Parameter path: nil: no access control.
  /// - Returns: nil without access control.
  init?(_ path: String?) throws(StartFailure) {
    guard let path else { return nil }
    file = FileOnDisk(path: path)
    // Taken before the file is read: any later change causes a reload.
    version = file.version
    let (contents, digest) = try CredentialsLoader.load(file)
    holder = CredentialsHolder(contents, digest: digest, clock: ServiceClock.system.now)
  }
}

/// A store and its metrics.
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

/// The components between the store and the sockets.
private struct ServerComponents {
  let pool: VerificationPool
  /// Nil if the status of certificates is not checked.
  let status: CertificateStatusComponents?
  let reloader: CatalogReloader
  let rpcServer: RPCServer
  let http: HTTPListeners
  let follower: ChangeFollower
  let trimmer: ChangeTrimmer
  let sealer: AuditSealer
  /// Nil without access control.
  let credentials: CredentialsReloader?
  /// Nil without a settings file: no key can come.
  let appStore: AppStoreAccess?
  /// Nil without ``appStore``.
  let recovery: AppStoreRecovery?
  /// Nil without them.
  let operations: AppStoreOperations?
  let health = HealthStatus()
  private let reader: CustomerReader
  private let statistics: ServiceStatistics

  /// - Parameters:
  ///   - connections: The limit of open connections.
  ///   - clock: The time of all decisions. Certificates, tokens and pauses have the system's.
  init(
    settings: Settings, connections: Int, tls: TLSReloader?, catalog: CatalogHolder,
    source: CatalogSource, credentials loaded: LoadedCredentials?, opened: OpenedStore,
    clock: ServiceClock, evaluations: EvaluationPool, libraries: LibraryMetrics,
    tracer: CallTracer?, logger: Logger
  ) {
    let store: any EntitlementStore =
      tracer == nil
      ? opened.store
      : TracedStore(
        opened.store, system: settings.store.isPostgres ? "postgresql" : "sqlite")
    let status = CertificateStatusComponents(policy: settings.certificateStatus, logger: logger)
    self.status = status
    let pool = VerificationPool(
      verifier: JWSVerifier(anchors: settings.trustAnchors, validatesNow: status != nil),
      status: status?.checker, width: settings.verificationWorkers,
      capacity: settings.verificationQueue)
    self.pool = pool
    let counters = ServiceCounters()
    let watermark = FeedWatermark(staleness: settings.staleness, timer: .system)
    let reader = CustomerReader(
      store: store, catalog: catalog, clock: clock, watermark: watermark,
      cacheBytes: settings.cacheBytes, limits: ReadLimits(permits: settings.store.readPermits),
      evaluations: evaluations, encode: EntitlementEndpoint.encode)
    self.reader = reader
    follower = ChangeFollower(
      store: store, watermark: watermark, limits: FollowingLimits(staleness: settings.staleness),
      logger: logger, changed: { reader.customersChanged($0) }, cleared: { reader.allChanged() })
    // A virtual time that jumps by a month would remove what watchers and auditors have not read.
    let isVirtual = settings.developmentClock != nil
    trimmer = ChangeTrimmer(
      store: store, retention: isVirtual ? nil : settings.changeRetention, clock: clock,
      logger: logger)
    sealer = AuditSealer(
      store: store, keepingDays: isVirtual ? nil : settings.auditRetentionDays, clock: clock,
      logger: logger)
    let submissions = SubmissionService(
      store: store, catalog: catalog, pool: pool, clock: clock, counters: counters,
      logger: logger, customersChanged: { reader.customersChanged($0) })
    let grants = GrantService(
      store: store, catalog: catalog, clock: clock, counters: counters,
      customersChanged: { reader.customersChanged($0) })
    let audited = AuditedChange(
      store: store, catalog: catalog, clock: clock, counters: counters,
      customersChanged: { reader.customersChanged($0) })
    let watch = CustomerWatch(store: store, reader: reader, watermark: watermark)
    reloader = CatalogReloader(
      source: source, holder: catalog, clock: clock, counters: counters, logger: logger,
      record: { call throws(StoreError) in try await store.record(call) })
    let credentials = loaded.map { loaded in
      CredentialsReloader(
        source: loaded.file.credentialsSource, holder: loaded.holder, logger: logger,
        record: { call throws(StoreError) in try await store.record(call) })
    }
    self.credentials = credentials
    // Also of a file without the section, which may get it while the server runs.
    let appStore = settings.appStoreSource.map { source, version in
      AppStoreAccess(
        settings.appStore, at: settings.appStoreAddresses, from: source, version: version,
        logger: logger)
    }
    self.appStore = appStore
    let recovery = appStore.map { access in
      AppStoreRecovery(
        store: store, client: access.client, submissions: submissions, links: audited,
        catalog: catalog, clock: clock, logger: logger)
    }
    self.recovery = recovery
    let reach: JobRecords.Reach = { app in recovery?.environments(of: app) ?? [] }
    let operations = appStore.map { access in
      AppStoreOperations(
        store: store, client: access.client, submissions: submissions, clock: clock,
        logger: logger, reach: reach)
    }
    self.operations = operations
    let fetcher = appStore.map { access in
      CustomerFetcher(
        store: store, client: access.client, submissions: submissions, logger: logger,
        reach: reach)
    }
    let statistics = ServiceStatistics([
      { counters.values }, { reader.statistics.values }, { reader.readStatistics.values },
      { pool.statistics.values }, { evaluations.values }, { catalog.values },
      { (status?.checker.statistics ?? StatusStatistics()).values }, opened.statistics,
      { [follower] in follower.statistics.values }, { [trimmer] in trimmer.values },
      { watch.values }, { [sealer] in sealer.values }, { credentials?.values ?? [] },
      { [health] in health.values }, { TraceComponents.values(tracer?.buffer) },
      { recovery?.values ?? [] }, { operations?.values ?? [] }, { fetcher?.values ?? [] },
    ])
    self.statistics = statistics

    var router = RPCRouter()
    EntitlementEndpoint(
      reader: reader,
      states: CustomerStates(
        store: store, catalog: catalog, clock: clock, evaluations: evaluations),
      explanations: ExplanationService(
        store: store, catalog: catalog, clock: clock, evaluations: evaluations),
      watch: watch, fetcher: fetcher
    ).register(in: &router)
    SubmissionEndpoint(submissions: submissions).register(in: &router)
    LinkEndpoint(links: LinkService(store: store, catalog: catalog, changes: audited))
      .register(in: &router)
    AdminEndpoint(
      grants: grants, catalog: catalog, reloader: reloader, feed: ChangeFeed(store: store),
      submissions: submissions,
      records: CustomerRecords(
        store: store, catalog: catalog, clock: clock, changes: audited,
        evaluations: evaluations),
      statistics: statistics,
      server: ServerDescription(
        version: ProgramVersion.current, nodeName: settings.nodeName,
        storeKind: settings.store.isPostgres ? .postgresql : .sqlite,
        warnings: { [appStore] in
          settings.warnings + (tls?.warnings ?? []) + (credentials?.warnings ?? [])
            + (appStore?.warnings ?? [])
        })
    ).register(in: &router)
    AccessEndpoint(catalog: catalog, reloader: credentials).register(in: &router)
    AuditEndpoint(records: AuditRecords(store: store)).register(in: &router)
    JobEndpoint(
      records: JobRecords(
        store: store, catalog: catalog, clock: clock, reach: reach)
    ).register(in: &router)
    AppStoreEndpoint(desk: operations).register(in: &router)
    ConsumptionEndpoint(
      records: ConsumptionRecords(
        store: store, catalog: catalog, clock: clock, reach: reach)
    ).register(in: &router)
    OfferEndpoint(
      offers: OfferService(
        store: store, catalog: catalog, clock: clock, evaluations: evaluations,
        counters: counters, reach: reach,
        sign: { [appStore] statement, now throws(OfferSigningFault) in
          try appStore?.client.sign(statement, at: now)
        })
    ).register(in: &router)
    MigrationEndpoint(
      records: ImportRecords(
        store: store, catalog: catalog, reach: reach)
    ).register(in: &router)
    HealthEndpoint(
      health: health, version: ProgramVersion.current, needsCredentials: loaded != nil,
      developmentClock: isVirtual ? clock.now : nil
    ).register(in: &router)
    let rpcServer = RPCServer(
      router: router,
      limits: RPCLimits(
        connections: connections, idleTime: settings.idleTime,
        shutdownTime: settings.shutdownTime,
        shortConnectionsPerSecond: settings.shortConnectionsPerSecond,
        memory: settings.memoryBudget),
      tls: tls?.tls, credentials: loaded?.holder, tracer: tracer, logger: logger)
    self.rpcServer = rpcServer
    http = HTTPListeners(
      settings: settings, connections: connections, catalog: catalog,
      metrics: ServiceMetrics(
        server: { [weak rpcServer] in rpcServer }, libraries: libraries,
        version: ProgramVersion.current,
        store: settings.store.isPostgres ? "postgresql" : "sqlite"),
      logger: logger, knowsSigner: { pool.knowsSigner(of: $0) })
    if let tls { statistics.add { tls.values } }
    statistics.add { [http] in http.values }
    // Weak, to avoid a reference cycle: the server retains its methods, and they retain
    // `statistics`.
    statistics.add { [weak rpcServer] in
      rpcServer.map { $0.statistics.values + AccessRefusals.values(of: $0.refusals) } ?? []
    }
  }

  func addAuditStatistics(_ trail: AuditTrail, _ log: AuditLogFile?) {
    statistics.add {
      let counts = trail.counts
      return [
        StatisticValue("audit.entries", counts.entries), StatisticValue("audit.gaps", counts.gaps),
        StatisticValue("audit.log_failures", log?.failureCount ?? 0),
      ]
    }
  }

  /// Totals for the last line of the log.
  var finalCounts: Logger.Metadata {
    let cache = reader.statistics
    return [
      "calls": .stringConvertible(rpcServer.statistics.calls.total),
      "hits": .stringConvertible(cache.hits), "misses": .stringConvertible(cache.misses),
      "verified": .stringConvertible(pool.statistics.work.done),
    ]
  }
}

/// The components that check the status of certificates, if the settings enable it.
private struct CertificateStatusComponents: Sendable {
  let checker: StatusChecker
  let responder: HTTPStatusResponder

  /// Nil if `policy` is `off`.
  init?(policy: StatusPolicy, logger: Logger) {
    guard policy != .off else { return nil }
    responder = HTTPStatusResponder()
    checker = StatusChecker(policy: policy, responder: responder) { event in
      Self.log(event, to: logger)
    }
  }

  private static func log(_ event: StatusEvent, to logger: Logger) {
    var metadata: Logger.Metadata = [
      "outcome": "\(event.kind.rawValue)", "certificate": "\(event.subject)",
      "reason": "\(event.detail)",
    ]
    if let address = event.address { metadata["responder"] = "\(address)" }
    switch event.kind {
    case .revoked:
      logger.error("a certificate was revoked", metadata: metadata)
    case .unknown, .unusable, .unreachable, .withoutResponder:
      logger.warning("the status of a certificate is not known", metadata: metadata)
    }
  }
}

extension StartFailure {
  fileprivate init(_ error: RPCServerError) {
    let reason: Reason =
      switch error.code {
      case .permissionDenied: .addressNotPermitted
      case .noCertificate: .badConfiguration
      case .alreadyStarted: .failed
      default: .addressUnavailable
      }
    self.init(reason, error.description)
  }
}
