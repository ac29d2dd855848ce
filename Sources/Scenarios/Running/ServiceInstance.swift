import EntitlementDomain
import EntitlementService
import EntitlementStore
import Foundation
import Logging
import SQLiteStore
import StoreSimulator
import Synchronization
import Verification

/// The service with its own store and the scenario's clock.
struct ServiceInstance {
  private let store: SQLiteStore
  private let path: String
  private let clock: SettableClock
  private let catalog: CatalogHolder
  let submissions: SubmissionService
  let grants: GrantService
  private let states: CustomerStates
  private let explanations: ExplanationService
  private let offers: OfferService

  /// - Parameters:
  ///   - path: the path of the store's file, which does not exist yet.
  ///   - now: the initial time of the clock.
  /// - Throws: ``StoreError``.
  init(
    path: String, catalog initial: Catalog, pool: VerificationPool, now: Milliseconds
  ) throws(StoreError) {
    self.path = path
    store = try SQLiteStore.open(at: path)
    let clock = SettableClock(now)
    self.clock = clock
    let serviceClock = ServiceClock { clock.now }
    catalog = CatalogHolder(initial, clock: serviceClock)
    states = CustomerStates(store: store, catalog: catalog, clock: serviceClock)
    // Nothing is cached: each query reads the store.
    let customersChanged: @Sendable (WrittenChanges) -> Void = { _ in }
    submissions = SubmissionService(
      store: store, catalog: catalog, pool: pool, clock: serviceClock,
      logger: Logger(label: "scenario") { _ in SwiftLogNoOpLogHandler() },
      customersChanged: customersChanged)
    grants = GrantService(
      store: store, catalog: catalog, clock: serviceClock, counters: ServiceCounters(),
      customersChanged: customersChanged)
    explanations = ExplanationService(store: store, catalog: catalog, clock: serviceClock)
    // Nothing is signed.
    offers = OfferService(
      store: store, catalog: catalog, clock: serviceClock, counters: ServiceCounters(),
      reach: { _ in [] }, sign: { _, _ in nil })
  }

  func setClock(_ now: Milliseconds) {
    clock.now = now
  }

  func replaceCatalog(_ next: Catalog) {
    catalog.replace(with: next)
  }

  /// - Throws: ``ServiceError``.
  func state(
    of selector: CustomerSelector, in scope: AppScope, at moment: Milliseconds,
    knowledge: Knowledge = .signedByThen
  ) async throws(ServiceError) -> CustomerState {
    try await states.state(of: selector, in: scope, at: moment, knowledge: knowledge)
  }

  /// - Throws: ``ServiceError``.
  func explanation(
    of selector: CustomerSelector, in scope: AppScope, at moment: Milliseconds,
    knowledge: Knowledge
  ) async throws(ServiceError) -> Explanation {
    try await explanations.explain(
      ExplanationQuery(selector: selector, scope: scope, at: moment, knowledge: knowledge))
  }

  /// The verdicts on the offers of an app, by all facts that are known. The clock keeps its time.
  ///
  /// - Throws: ``ServiceError``.
  func verdicts(
    on customer: CustomerSelector, in scope: AppScope, at moment: Milliseconds
  ) async throws(ServiceError) -> [OfferVerdict] {
    let now = clock.now
    defer { clock.now = now }
    clock.now = moment
    return try await offers.offers(of: scope, for: customer).verdicts
  }

  /// Closes the store and removes its file.
  func close() async {
    await store.close()
    // If this fails, the runner removes the whole folder at its end.
    try? FileManager.default.removeItem(atPath: path)
  }
}

/// A clock that the scenario sets.
private final class SettableClock: Sendable {
  private let moment: Mutex<Milliseconds>

  init(_ now: Milliseconds) {
    moment = Mutex(now)
  }

  var now: Milliseconds {
    get { moment.withLock { $0 } }
    set { moment.withLock { $0 = newValue } }
  }
}
