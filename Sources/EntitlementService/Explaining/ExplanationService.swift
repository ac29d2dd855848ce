package import EntitlementDomain
package import EntitlementStore
import Verification

/// Says why a customer's state is what it is (R31), always from the store.
package struct ExplanationService: Sendable {
  private let store: any EntitlementStore
  private let catalog: CatalogHolder
  private let clock: ServiceClock
  /// Parsing a catalog takes time that event loops and Swift's threads do not have.
  private let workers = WorkerPool(
    label: "entitle.explanation", width: 1, capacity: ExplanationLimits.queuedCatalogs)

  package init(store: any EntitlementStore, catalog: CatalogHolder, clock: ServiceClock) {
    self.store = store
    self.catalog = catalog
    self.clock = clock
  }

  /// - Parameters:
  ///   - deadline: a catalog of the question whose turn has not come by then is not read.
  ///   - isCancelled: asked before that, on any thread. Once it is true, the catalog is not read.
  /// - Throws: ``ServiceError/Code-swift.enum/invalidArgument(field:)`` for an app or environment
  ///   that the catalog in force, or the one that came with the question, does not name, and for a
  ///   catalog that is not valid, with everything that is wrong with it.
  package func explain(
    _ query: ExplanationQuery, deadline: ContinuousClock.Instant? = nil,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) async throws(ServiceError) -> Explanation {
    let snapshot = catalog.snapshot
    try snapshot.checkServed(query.scope)
    if let text = query.catalogYAML, text.utf8.count > ExplanationLimits.catalogBytes {
      throw Self.unusable("it is larger than \(ExplanationLimits.catalogBytes) bytes")
    }
    let record: CustomerRecord
    do {
      record = try await store.customer(query.selector, in: query.scope).record
    } catch {
      throw ServiceError(error)
    }
    let at = query.at ?? clock.now()
    guard let text = query.catalogYAML else {
      return Evaluation.explain(record, catalog: snapshot.catalog, at: at)
    }
    let outcomes: [Result<Explanation, ServiceError>]
    do {
      outcomes = try await workers.map([text], deadline: deadline, isCancelled: isCancelled) {
        text in
        Result { () throws(ServiceError) in try Self.explain(record, under: text, at: at) }
      }
    } catch {
      switch error {
      case .full:
        throw ServiceError(.resourceExhausted, "too many catalogs wait to be read")
      case .deadlineExceeded:
        throw ServiceError(.deadlineExceeded, "the deadline passed before the catalog was read")
      case .cancelled, .shutdown:
        throw ServiceError(error)
      }
    }
    guard let outcome = outcomes.first else {
      throw ServiceError(.internalFault, "no explanation was made")
    }
    return try outcome.get()
  }

  private static func explain(
    _ record: CustomerRecord, under text: String, at: Milliseconds
  ) throws(ServiceError) -> Explanation {
    let catalog: Catalog
    do {
      catalog = try CatalogFile.parse(text).catalog
    } catch {
      throw unusable(CatalogIssue.summary(of: error.issues))
    }
    // Without the app nothing could be said, and every answer would look like a change.
    guard let app = catalog.apps[record.scope.bundleID] else {
      throw unusable("it names no app with this bundle id")
    }
    guard app.environments.contains(record.scope.environment) else {
      throw unusable("it does not accept this environment of the app")
    }
    return Evaluation.explain(record, catalog: catalog, at: at)
  }

  private static func unusable(_ reason: String) -> ServiceError {
    ServiceError(
      .invalidArgument(field: "catalog_yaml"),
      "the catalog of the request cannot be used: \(reason)"
    )
  }
}
