import CatalogFiles
package import EntitlementDomain
package import EntitlementStore
import Verification

/// Explains a customer's state (R31). It always reads the store, never the answer cache.
package struct ExplanationService: Sendable {
  private let store: any EntitlementStore
  private let catalog: CatalogHolder
  private let clock: ServiceClock
  /// Parsing a catalog would block an event loop or a thread of Swift's pool.
  private let workers = WorkerPool(
    label: "entitle.explanation", width: 1, capacity: ExplanationLimits.queuedCatalogs)

  package init(store: any EntitlementStore, catalog: CatalogHolder, clock: ServiceClock) {
    self.store = store
    self.catalog = catalog
    self.clock = clock
  }

  /// - Parameters:
  ///   - deadline: a catalog of the query that is still queued then is not parsed.
  ///   - isCancelled: called before parsing, on any thread. When true, the catalog is not parsed.
  /// - Throws: ``ServiceError/Code-swift.enum/invalidArgument(field:)`` for an app or environment
  ///   that is not in the catalog in force or not in the catalog of the query, and for an invalid
  ///   catalog, with its issues in the message.
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
      record = try await store.record(
        of: query.selector, in: query.scope, at: query.at, query.knowledge)
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
        throw ServiceError(.resourceExhausted, "too many catalogs are queued for parsing")
      case .deadlineExceeded:
        throw ServiceError(.deadlineExceeded, "the deadline passed before the catalog was parsed")
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
    // Without the app the explanation would be empty, and would look like a lost entitlement.
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

/// A request for the explanation of a customer's state.
package struct ExplanationQuery: Hashable, Sendable {
  package var selector: CustomerSelector
  package var scope: AppScope
  /// The moment of the state; nil: now.
  package var at: Milliseconds?
  /// What the state of ``at`` is computed from.
  package var knowledge: Knowledge
  /// The text of the catalog to evaluate with; nil: the catalog in force.
  package var catalogYAML: String?

  package init(
    selector: CustomerSelector, scope: AppScope, at: Milliseconds? = nil,
    knowledge: Knowledge = .signedByThen, catalogYAML: String? = nil
  ) {
    self.selector = selector
    self.scope = scope
    self.at = at
    self.knowledge = knowledge
    self.catalogYAML = catalogYAML
  }
}

/// Limits of explanations.
package enum ExplanationLimits {
  /// Bytes of a catalog in a query. It is far above any real catalog, and takes a fraction of a
  /// second to parse.
  package static let catalogBytes = 1 << 20
  /// Queries with a catalog that may be queued. People send them one at a time.
  package static let queuedCatalogs = 16
}
