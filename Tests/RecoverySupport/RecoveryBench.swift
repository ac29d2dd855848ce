package import AppStoreRecovery
package import AppStoreServerAPI
import CatalogFiles
import Cryptography
package import EntitlementDomain
package import EntitlementService
package import EntitlementStore
import Foundation
import Logging
import NIOCore
package import SQLiteStore
package import StoreSimulator
package import StoreSimulatorServer
import Synchronization
import TestSupport
import Verification

/// A simulated App Store that serves, and a service that hears its notifications and asks its API. The
/// virtual time stands still until it is advanced.
package final class RecoveryBench: Sendable {
  package static let start = Milliseconds(1_772_366_400_000)
  private static let authority = Result { try SigningAuthority.generate() }
  private static let key = Result { try StoreAPIKey.generate() }
  private static let keyPEM = Result { try key.get().key.privateKeyPEM() }

  package let store: SQLiteStore
  package let recovery: AppStoreRecovery
  package let client: AppStoreServerClient
  package let submissions: SubmissionService
  /// The virtual time.
  package let clock: ServiceClock
  private let holder: CatalogHolder
  package let scope: AppScope
  private let time = Setting(RecoveryBench.start)
  /// What the clock of jobs is ahead of the system's, in milliseconds.
  private let jobsAhead = Setting<Int64>(0)
  /// Where the clock of jobs stands still; nil when it goes on.
  private let jobsStandAt = Setting<Milliseconds?>(nil)
  private let simulation: Simulation
  private let api: StoreListener
  private let webhook: StoreListener
  private let sender: NotificationSender
  private let pool: VerificationPool
  private let folder: TemporaryFolder
  private let isDeaf = Setting(false)

  /// - Parameters:
  ///   - rateFactor: of the App Store and of the client; nil for Apple's rates, and the client's part of
  ///     them.
  ///   - limits: of the recovery; those of tests wait for milliseconds.
  ///   - isTrusting: whether the service trusts the root of the App Store.
  private init(
    seed: UInt64 = 1, environment: StoreEnvironment = .sandbox, population: Int = 0,
    past: Simulation.Past = .deliver, rateFactor: Double? = 1_000,
    limits: RecoveryLimits = .forTests, timer: ServiceTimer = .system, isTrusting: Bool = true,
    policies: [ProductID: ConsumptionPolicy] = [:]
  ) async throws {
    folder = try TemporaryFolder()
    let authority = try Self.authority.get()
    let key = try Self.key.get()
    let scope = AppScope(bundleID: SimulatedApp.bundleID, environment: environment)
    self.scope = scope
    let clock = ServiceClock { [time] in time.value }
    self.clock = clock
    let store = try SQLiteStore.open(at: folder.file("store.sqlite"))
    self.store = store
    var anchors = TrustAnchors.apple
    if isTrusting { anchors.trust(authority.rootFingerprint, for: TrustAnchor.allEnvironments) }
    pool = VerificationPool(verifier: JWSVerifier(anchors: anchors), width: 2, capacity: 1_000)
    var catalog = try CatalogFile.parse(SimulatedApp.catalogYAML).catalog
    for (product, policy) in policies { catalog.products[product]?.consumption = policy }
    holder = CatalogHolder(catalog, clock: clock)
    let jobClock = ServiceClock { [jobsAhead, jobsStandAt] in
      jobsStandAt.value ?? ServiceClock.system.now().advanced(by: jobsAhead.value)
    }
    var logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    logger.logLevel = .critical
    let submissions = SubmissionService(
      store: store, catalog: holder, pool: pool, clock: clock, jobClock: jobClock, logger: logger,
      customersChanged: { _ in })
    self.submissions = submissions
    webhook = try await StoreListener.start(host: "127.0.0.1", port: 0) { [isDeaf] request in
      guard !isDeaf.value,
        let body = try? JSONSerialization.jsonObject(with: Data(request.body)) as? [String: Any],
        let payload = body["signedPayload"] as? String,
        let result = try? await submissions.submit(
          NotificationSubmission(signedPayload: Array(payload.utf8))), result.verdict == .ok
      else { return StoreAnswer(status: 503) }
      return StoreAnswer(status: 200)
    }
    sender = NotificationSender(
      url: "http://127.0.0.1:\(webhook.port)/apple/notifications", patience: .seconds(30))
    var configuration = Simulation.Configuration(
      world: World.Configuration(
        seed: seed, environment: environment, start: Self.start, population: population),
      speed: 0)
    configuration.rateFactor = rateFactor ?? 1
    configuration.past = past
    let simulation = try Simulation(
      configuration, authority: authority, key: key, sender: sender,
      realTime: ServiceClock.system.now)
    self.simulation = simulation
    api = try await StoreListener.start(host: "127.0.0.1", port: 0) { request in
      await simulation.answer(request)
    }
    var clientLimits = AppStoreServerLimits()
    if let rateFactor { clientLimits.rateFactor = rateFactor }
    clientLimits.firstBackoff = .milliseconds(1)
    client = AppStoreServerClient(
      addresses: try AppStoreServerAddresses(
        parsing:
          "production=http://127.0.0.1:\(api.port)/production,"
          + "sandbox=http://127.0.0.1:\(api.port)/sandbox"),
      keys: try AppStoreServerKeys([
        AppStoreServerKey(
          issuerID: key.issuerID, keyID: key.keyID, bundleIDs: [SimulatedApp.bundleID],
          privateKeyPEM: try Self.keyPEM.get())
      ]),
      limits: clientLimits)
    recovery = AppStoreRecovery(
      store: store, client: client, submissions: submissions,
      links: AuditedChange(
        store: store, catalog: holder, clock: clock, counters: ServiceCounters(),
        customersChanged: { _ in }),
      catalog: holder, clock: clock, jobClock: jobClock, timer: timer, limits: limits,
      logger: logger)
  }

  /// Runs `body` and closes everything, also when it throws.
  package static func run(
    seed: UInt64 = 1, environment: StoreEnvironment = .sandbox, population: Int = 0,
    past: Simulation.Past = .deliver, rateFactor: Double? = 1_000,
    limits: RecoveryLimits = .forTests, timer: ServiceTimer = .system, isTrusting: Bool = true,
    policies: [ProductID: ConsumptionPolicy] = [:],
    _ body: (RecoveryBench) async throws -> Void
  ) async throws {
    let bench = try await RecoveryBench(
      seed: seed, environment: environment, population: population, past: past,
      rateFactor: rateFactor, limits: limits, timer: timer, isTrusting: isTrusting,
      policies: policies)
    do {
      try await body(bench)
      await bench.close()
    } catch {
      await bench.close()
      throw error
    }
  }

  private func close() async {
    await client.shutDown(deadline: .now() + .seconds(1))
    await api.stop()
    await webhook.stop()
    await sender.shutDown()
    await pool.shutdown()
    await store.close()
  }

  // MARK: The App Store

  /// Asks the control interface, which must accept it.
  @discardableResult
  package func act(_ path: String, _ body: String) async throws -> [String: Any] {
    let answer = await simulation.answer(
      StoreRequest(method: "POST", target: "/control/\(path)", body: Array(body.utf8)))
    guard answer.status == 200,
      let json = try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]
    else {
      throw NeverHappened("\(path): \(String(decoding: answer.body, as: UTF8.self))")
    }
    return json
  }

  /// Advances the virtual time, also of the service.
  package func advance(days: Int64 = 0, hours: Int64 = 0) async throws {
    let length = days * Milliseconds.dayLength + hours * Milliseconds.hourLength
    let answer = try await act("clock", "{\"advanceMs\":\(length)}")
    guard let now = answer["now"] as? Int64, answer["isComplete"] as? Bool == true else {
      throw NeverHappened("the clock was not advanced")
    }
    time.set(Milliseconds(now))
  }

  /// The consumption information that the App Store got, oldest first.
  package func receivedConsumption() async throws -> [[String: Any]] {
    let answer = await simulation.answer(
      StoreRequest(method: "GET", target: "/control/consumption"))
    guard
      let json = try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any],
      let received = json["consumption"] as? [[String: Any]]
    else { throw NeverHappened("\(String(decoding: answer.body, as: UTF8.self))") }
    return received
  }

  /// Buys, and returns the transaction's id, which is the chain's.
  package func buy(_ product: SimulatedProduct, by customer: String) async throws -> String {
    let answer = try await act(
      "buy", "{\"productId\":\"\(product.id)\",\"customer\":\"\(customer)\"}")
    guard let transaction = (answer["transactions"] as? [[String: Any]])?.first,
      let id = transaction["transactionId"] as? String
    else { throw NeverHappened("nothing was bought") }
    return id
  }

  package func addFault(_ text: String) async throws { try await act("faults", text) }

  package func clearFaults() async throws {
    _ = await simulation.answer(StoreRequest(method: "DELETE", target: "/control/faults"))
  }

  /// The virtual time.
  package var now: Milliseconds { time.value }

  /// Whether notifications are answered with 503.
  package func setDeaf(_ deaf: Bool) { isDeaf.set(deaf) }

  // MARK: The service

  /// Lets jobs wait no longer for what is on its way.
  package func passJobTime(_ duration: Int64 = 11 * Milliseconds.secondsLength) {
    jobsAhead.set(jobsAhead.value + duration)
  }

  /// Lets the clock of jobs stand still.
  package func stopJobTime(at moment: Milliseconds) { jobsStandAt.set(moment) }

  /// Links a chain to an account.
  package func link(_ chain: String, to account: AccountID) async throws {
    _ = try await store.perform(
      LinkRequest(
        scope: scope, change: .link(.chain(OriginalTransactionID(chain)), to: account),
        reason: "a test", at: now, catalog: holder.snapshot.catalog,
        caller: AuditCaller(peer: "test", name: "test")))
  }

  /// Records consent, or a statement about a purchase.
  package func record(_ change: ConsumptionChange.Change) async throws {
    _ = try await store.change(
      ConsumptionChange(
        change, in: scope, at: now, jobsAt: jobsNow,
        catalog: holder.snapshot.catalog, caller: AuditCaller(peer: "test", name: "backend")))
  }

  /// The App Store's request about a purchase.
  package func consumption(of transaction: String) async throws -> ConsumptionRequest? {
    try await store.consumption(ConsumptionKey(scope, TransactionID(transaction)))?.request
  }

  /// By the clock of jobs.
  package var jobsNow: Milliseconds {
    jobsStandAt.value ?? ServiceClock.system.now().advanced(by: jobsAhead.value)
  }

  package func job(of chain: String) async throws -> AppStoreJob? {
    try await store.job(.key(AppStoreJobKey(scope, .refetch(OriginalTransactionID(chain)))))
  }

  package func reconciliation() async throws -> AppStoreJob? {
    try await store.job(.key(AppStoreJobKey(scope, .reconciliation)))
  }

  /// The present state of a chain, as computed from what is stored.
  package func state(of chain: String) async throws -> CustomerState {
    let record = try await store.customer(
      .originalTransaction(OriginalTransactionID(chain)), in: scope
    ).record
    return Evaluation.state(
      of: record, catalog: holder.snapshot.catalog, at: now)
  }

  /// Runs the recovery until a condition holds.
  package func recovering(
    until isSo: @escaping @Sendable (RecoveryBench) async throws -> Bool
  ) async throws {
    let recovery = recovery
    let running = Task { await recovery.run() }
    do {
      try await eventually { try await isSo(self) }
      running.cancel()
      await running.value
    } catch {
      running.cancel()
      await running.value
      throw error
    }
  }
}

/// A value that a test changes.
private final class Setting<Value: Sendable>: Sendable {
  private let stored: Mutex<Value>

  init(_ value: Value) { stored = Mutex(value) }

  var value: Value { stored.withLock { $0 } }

  func set(_ value: Value) { stored.withLock { $0 = value } }
}

extension RecoveryLimits {
  package static var forTests: RecoveryLimits {
    var limits = RecoveryLimits()
    limits.pollInterval = .milliseconds(5)
    limits.scheduleInterval = .milliseconds(5)
    limits.firstBackoff = .milliseconds(1)
    limits.longestBackoff = .milliseconds(5)
    limits.longestConsumptionWait = .milliseconds(5)
    limits.unexplainedWaits = limits.unexplainedWaits.map { _ in .milliseconds(1) }
    return limits
  }
}
