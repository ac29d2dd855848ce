import CatalogFiles
import EntitlementDomain
import EntitlementService
import EntitlementStore
import Logging
import SQLiteStore
import StoreSimulator
import Synchronization
import TestSupport
import Verification

/// All use cases on a real store with real signatures, with a clock and a catalog file that the
/// test sets.
struct ServiceBench {
  static let now: Milliseconds = 1_790_000_000_000
  static let scope = AppScope(bundleID: SimulatedApp.bundleID, environment: .production)

  let store: SQLiteStore
  let authority: SigningAuthority
  let pool: VerificationPool
  let clock = MovableClock(Self.now)
  let file: CatalogText
  let holder: CatalogHolder
  let counters = ServiceCounters()
  let log = LogRecorder()
  let changed = ChangedSubjects()
  let reader: CustomerReader
  let service: SubmissionService
  let grants: GrantService
  let explanations: ExplanationService
  let changes: AuditedChange
  let links: LinkService
  let records: CustomerRecords
  let reloader: CatalogReloader
  private let folder: TemporaryFolder

  init(
    queue: Int = 1_000, catalog text: String = SimulatedApp.catalogYAML,
    status: StatusChecker? = nil, machines: [XcodeAuthority] = []
  ) throws {
    folder = try TemporaryFolder()
    store = try SQLiteStore.open(at: folder.file("store.sqlite"))
    authority = try SigningAuthority.generate()
    var anchors = TrustAnchors.apple
    anchors.trust(authority.rootFingerprint, for: TrustAnchor.allEnvironments)
    anchors.trust(try Self.receiptAuthority.get().rootFingerprint, for: TrustAnchor.allEnvironments)
    for machine in machines { anchors.trust(machine.fingerprint, for: [.xcode]) }
    pool = VerificationPool(
      verifier: JWSVerifier(anchors: anchors), status: status, width: 2, capacity: queue)
    file = CatalogText(text)
    let start = try file.source.read()
    holder = CatalogHolder(
      try start.contents.get().catalog, digest: start.digest, clock: clock.clock)
    let reader = CustomerReader(
      store: store, catalog: holder, clock: clock.clock, cacheBytes: 1 << 20,
      limits: .forTests, encode: StateCoding.encode)
    self.reader = reader
    let customersChanged: @Sendable (WrittenChanges) -> Void = { [changed] changes in
      changed.add(changes)
      reader.customersChanged(changes)
    }
    service = SubmissionService(
      store: store, catalog: holder, pool: pool, clock: clock.clock, counters: counters,
      logger: log.logger, customersChanged: customersChanged)
    grants = GrantService(
      store: store, catalog: holder, clock: clock.clock, counters: counters,
      customersChanged: customersChanged)
    changes = AuditedChange(
      store: store, catalog: holder, clock: clock.clock, counters: counters,
      customersChanged: customersChanged)
    links = LinkService(store: store, catalog: holder, changes: changes)
    records = CustomerRecords(
      store: store, catalog: holder, clock: clock.clock, changes: changes)
    explanations = ExplanationService(store: store, catalog: holder, clock: clock.clock)
    reloader = CatalogReloader(
      source: file.source, holder: holder, clock: clock.clock, counters: counters,
      logger: log.logger)
  }

  /// Runs `body` and closes everything, also when it throws.
  static func run(
    queue: Int = 1_000, catalog: String = SimulatedApp.catalogYAML,
    status: StatusChecker? = nil, _ body: (ServiceBench) async throws -> Void
  ) async throws {
    let bench = try ServiceBench(queue: queue, catalog: catalog, status: status)
    do {
      try await body(bench)
      await bench.close()
    } catch {
      await bench.close()
      throw error
    }
  }

  func close() async {
    await pool.shutdown()
    await store.close()
  }

  func signed(_ lifeCycle: LifeCycle, seed: UInt64 = 1) throws -> [SignedEvent] {
    let start = SimulatedCalendar.floorDay(Self.now)
      .advanced(by: -200 * Milliseconds.dayLength)
    let timeline = Timeline(lifeCycle, seed: seed, start: start, environment: .production)
    return try authority.sign(timeline.history(until: Self.now))
  }

  func submit(
    _ payloads: [String], bundleID: BundleID? = nil, account: AccountID? = nil,
    deadline: ContinuousClock.Instant? = nil
  ) async throws -> SubmissionResult {
    try await service.submit(
      TransactionSubmission(
        signedPayloads: payloads.map { Array($0.utf8) }, bundleID: bundleID, accountID: account),
      deadline: deadline)
  }

  func submit(notification: String, account: AccountID? = nil) async throws -> NotificationResult {
    try await service.submit(
      NotificationSubmission(signedPayload: Array(notification.utf8), accountID: account))
  }

  /// A transaction of the app's non-consumable product, bought a day ago.
  func purchase(_ id: String = "1", _ more: String = "") throws -> String {
    let bought = Self.now.rawValue - Milliseconds.dayLength
    return try authority.sign(
      payloadJSON: Array(
        """
        {"transactionId":"\(id)","originalTransactionId":"\(id)","environment":"Production",\
        "bundleId":"\(SimulatedApp.bundleID)","productId":"com.example.scribe.adfree",\
        "type":"Non-Consumable","inAppOwnershipType":"PURCHASED","quantity":1,\
        "purchaseDate":\(bought),"originalPurchaseDate":\(bought)\(more),\
        "signedDate":\(bought + 1_000)}
        """.utf8))
  }

  func state(of account: AccountID, _ consistency: Consistency = .minimizeLatency) async throws
    -> CustomerState
  {
    try await reader.answer(
      to: CustomerQuery(selector: .account(account), scope: Self.scope, consistency: consistency)
    ).state
  }
}

/// Records the changed customers that the use cases reported, in order, and the latest change.
final class ChangedSubjects: Sendable {
  private let recorded = Mutex<WrittenChanges>(WrittenChanges(subjects: [], latest: 0))
  func add(_ more: WrittenChanges) {
    recorded.withLock { recorded in
      recorded.subjects += more.subjects
      recorded.latest = max(recorded.latest, more.latest)
    }
  }
  var all: [CustomerSubject] { recorded.withLock { $0.subjects } }
  var latest: Int64 { recorded.withLock { $0.latest } }
}
