import CatalogFiles
package import EntitlementDomain
package import EntitlementStore
package import Workers

/// Explains a customer's state (R31). It always reads the store, never the answer cache.
package struct ExplanationService: Sendable {
  private let store: any EntitlementStore
  private let catalog: CatalogHolder
  private let clock: ServiceClock
  private let evaluations: EvaluationPool
  /// Parsing a catalog would block an event loop or a thread of Swift's pool.
  private let workers = WorkerPool(
    label: "entitle.explanation", width: 1, capacity: ExplanationLimits.queuedCatalogs)

  package init(
    store: any EntitlementStore, catalog: CatalogHolder, clock: ServiceClock,
    evaluations: EvaluationPool = EvaluationPool()
  ) {
    self.store = store
    self.catalog = catalog
    self.clock = clock
    self.evaluations = evaluations
  }

  /// - Parameters:
  ///   - source: the source whose turn the explanation of a large customer waits for.
  ///   - deadline: a catalog of the query that is still queued then is not parsed.
  ///   - isCancelled: called on any thread. When true, the explanation is not continued.
  ///   - answer: makes the answer from the explanation, where it was made. So a long explanation is
  ///     also encoded on a thread of the pool.
  /// - Throws: ``ServiceError/Code-swift.enum/invalidArgument(field:)`` for an app or environment
  ///   that is not in the catalog in force or not in the catalog of the query, and for an invalid
  ///   catalog, with its issues in the message.
  package func explain<Answer: Sendable>(
    _ query: ExplanationQuery, for source: WorkSource,
    deadline: ContinuousClock.Instant? = nil,
    isCancelled: @escaping @Sendable () -> Bool = { false },
    _ answer: @escaping @Sendable (Explanation) throws(ServiceError) -> Answer
  ) async throws(ServiceError) -> Answer {
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
    let explain = {
      @Sendable (catalog: Catalog, isCancelled: @escaping () -> Bool)
        throws(ServiceError) -> Answer in
      let explanation = Evaluation.explain(
        record.known(at: query.at, query.knowledge), catalog: catalog, at: at,
        isCancelled: isCancelled)
      guard let explanation else { throw ServiceError(PoolError.cancelled, of: .evaluation) }
      return try answer(explanation)
    }
    guard let text = query.catalogYAML else {
      let outcome: Result<Answer, ServiceError>
      do throws(PoolError) {
        outcome = try await evaluations.run(
          facts: record.itemCount, of: source, isCancelled: isCancelled
        ) { isCancelled in
          Result { () throws(ServiceError) in try explain(snapshot.catalog, isCancelled) }
        }
      } catch {
        throw ServiceError(error, of: .evaluation)
      }
      return try outcome.get()
    }
    return try await parsing(of: source, deadline: deadline, isCancelled: isCancelled) {
      () throws(ServiceError) in
      try explain(try Self.catalog(text, for: record.scope), isCancelled)
    }
  }

  /// As ``explain(_:for:deadline:isCancelled:_:)``, with the explanation as the answer.
  package func explain(
    _ query: ExplanationQuery, for source: WorkSource = .server,
    deadline: ContinuousClock.Instant? = nil,
    isCancelled: @escaping @Sendable () -> Bool = { false }
  ) async throws(ServiceError) -> Explanation {
    try await explain(query, for: source, deadline: deadline, isCancelled: isCancelled) { $0 }
  }

  /// Runs work that parses a catalog.
  private func parsing<Answer: Sendable>(
    of source: WorkSource, deadline: ContinuousClock.Instant?,
    isCancelled: @escaping @Sendable () -> Bool,
    _ work: @escaping @Sendable () throws(ServiceError) -> Answer
  ) async throws(ServiceError) -> Answer {
    let outcomes: [Result<Answer, ServiceError>]
    do {
      outcomes = try await workers.map(
        [()], of: source, deadline: deadline, isCancelled: isCancelled
      ) { _ in Result(catching: work) }
    } catch {
      switch error {
      case .full:
        throw ServiceError(.resourceExhausted, "too many catalogs are queued for parsing")
      case .deadlineExceeded:
        throw ServiceError(.deadlineExceeded, "the deadline passed before the catalog was parsed")
      case .cancelled, .shutdown:
        throw ServiceError(error, of: .evaluation)
      }
    }
    guard let outcome = outcomes.first else {
      throw ServiceError(.internalFault, "no explanation was made")
    }
    return try outcome.get()
  }

  private static func catalog(
    _ text: String, for scope: AppScope
  ) throws(ServiceError) -> Catalog {
    let catalog: Catalog
    do {
      catalog = try CatalogFile.parse(text).catalog
    } catch {
      throw unusable(FileIssue.summary(of: error.issues))
    }
    // Without the app the explanation would be empty, and would look like a lost entitlement.
    guard let app = catalog.apps[scope.bundleID] else {
      throw unusable("it names no app with this bundle id")
    }
    guard app.environments.contains(scope.environment) else {
      throw unusable("it does not accept this environment of the app")
    }
    return catalog
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
