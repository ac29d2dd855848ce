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
import StoreSimulator
import Testing
import Wire

extension RecoveryBench {
  static var silent: Logger {
    var logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
    logger.logLevel = .critical
    return logger
  }

  /// What operators use, with the keys of the bench.
  func operations(
    _ limits: AppStoreOperationLimits = AppStoreOperationLimits()
  ) -> AppStoreOperations {
    AppStoreOperations(
      store: store, client: client, submissions: submissions, clock: clock, limits: limits,
      logger: Self.silent, reach: { [recovery] in recovery.environments(of: $0) })
  }

  func fetcher(
    _ limits: FetchLimits = FetchLimits(), timer: ServiceTimer = .system
  ) -> CustomerFetcher {
    CustomerFetcher(
      store: store, client: client, submissions: submissions, timer: timer, limits: limits,
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

extension AppStoreCall {
  /// Of a caller with time.
  static let patient = AppStoreCall(deadline: .now() + .seconds(50))
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
