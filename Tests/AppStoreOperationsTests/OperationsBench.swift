import AppStoreOperations
import AppStoreRecovery
import AppStoreServerAPI
import EntitlementDomain
import EntitlementService
import EntitlementStore
import Logging
import NIOCore
import RecoverySupport
import SQLiteStore
import StoreConformance
import StoreSimulator
import Synchronization
import TestSupport
import Testing
import Verification
import Wire

extension RecoveryBench {
  static var silent: Logger {
    var logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    logger.logLevel = .critical
    return logger
  }

  /// What operators use, with the keys of the bench.
  func operations(
    _ limits: AppStoreOperationLimits = AppStoreOperationLimits(),
    store: (any EntitlementStore)? = nil
  ) -> AppStoreOperations {
    AppStoreOperations(
      store: store ?? self.store, client: client, submissions: submissions, clock: clock,
      limits: limits,
      logger: Self.silent, reach: { [recovery] in recovery.environments(of: $0) })
  }

  func fetcher(
    _ limits: FetchLimits = FetchLimits(), timer: ServiceTimer = .system,
    store: (any EntitlementStore)? = nil
  ) -> CustomerFetcher {
    CustomerFetcher(
      store: store ?? self.store, client: client, submissions: submissions, timer: timer,
      limits: limits,
      logger: Self.silent, reach: { [recovery] in recovery.environments(of: $0) })
  }

  /// The entries of the audit trail: method, subject and outcome.
  func trail() async throws -> [(method: String, subject: String, outcome: String)] {
    try await store.auditEntries(AuditQuery(limit: 100)).map { ($0.method, $0.subject, $0.outcome) }
  }

  /// The revision of a chain; 0 if nothing is stored of it.
  func revision(of chain: String) async throws -> Int64 {
    try await store.customer(
      .originalTransaction(OriginalTransactionID(chain)), in: scope
    ).record.revision
  }

  /// The id of a renewal of a chain, as Apple tells it. Nothing is stored.
  func renewal(of chain: String) async throws -> TransactionID {
    let page = try await operations().payloads(
      .history(ListTransactionsRequest(scope: scope, id: chain)), .patient)
    for payload in page.payloads {
      if case .transaction(let fact) = try payload.result.get().content,
        fact.transactionID.rawValue != chain
      {
        return fact.transactionID
      }
    }
    throw NeverHappened("no renewal")
  }

  /// Requests that were sent to the App Store.
  var requests: Int { Int(client.statistics.requests) }

  /// A purchase of which the service hears nothing.
  func buyUnheard(
    _ product: SimulatedProduct = SimulatedApp.proMonthly, by customer: String = "anna"
  ) async throws -> String {
    setDeaf(true)
    return try await buy(product, by: customer)
  }
}

/// A store in which one step waits until it is released.
final class HeldStore: ForwardingStore {
  enum Step {
    /// Customers are read.
    case reading
    /// The first entry of a change was written.
    case requested
  }

  private struct State {
    var isReleased = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  let base: any EntitlementStore
  private let step: Step
  private let state = Mutex(State())

  init(_ base: any EntitlementStore, at step: Step) {
    self.base = base
    self.step = step
  }

  /// Those who wait.
  var held: Int { state.withLock { $0.waiting.count } }

  func release() {
    let waiting = state.withLock { state in
      state.isReleased = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  func customers(_ lookups: [CustomerLookup]) async -> [Result<StoredCustomer, StoreError>] {
    if step == .reading { await hold() }
    return await base.customers(lookups)
  }

  func record(_ call: AuditCall) async throws(StoreError) {
    try await base.record(call)
    if step == .requested, call.outcome == .requested { await hold() }
  }

  private func hold() async {
    await withCheckedContinuation { continuation in
      let isReleased = state.withLock { state in
        if !state.isReleased { state.waiting.append(continuation) }
        return state.isReleased
      }
      if isReleased { continuation.resume() }
    }
  }
}

extension AppStoreCall {
  /// Of a caller with time, which begins with each call.
  static var patient: AppStoreCall { AppStoreCall(deadline: .now() + .seconds(50)) }
}

/// Checks the kind of an error of the App Store.
func expectFailure(
  _ kind: AppStoreFailure.Kind, code: Int64? = nil, mayHaveTakenEffect: Bool = false,
  at location: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
) async {
  let error = await #expect(throws: ServiceError.self, sourceLocation: location) {
    try await body()
  }
  guard case .appStore(let failure)? = error?.code else {
    Issue.record("\(String(describing: error))", sourceLocation: location)
    return
  }
  #expect(failure.kind == kind, sourceLocation: location)
  #expect(failure.code == code, sourceLocation: location)
  #expect(failure.mayHaveTakenEffect == mayHaveTakenEffect, sourceLocation: location)
}
