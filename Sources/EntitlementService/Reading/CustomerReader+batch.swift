package import EntitlementDomain
import EntitlementStore

extension CustomerReader {
  /// What is in memory of a batch, and what is not.
  package struct Batch: Sendable {
    fileprivate let selectors: [CustomerSelector]
    fileprivate let scope: AppScope
    fileprivate let consistency: Consistency
    fileprivate var answers: [CustomerSelector: HeldAnswer<Encoded>] = [:]
    fileprivate var missing: [CustomerQuery] = []

    /// The answer to each question, in their order; nil when one of them is not in memory.
    package var allHeld: [HeldAnswer<Encoded>]? { missing.isEmpty ? ordered : nil }

    /// How many must be loaded.
    package var missingCount: Int { missing.count }

    /// Each was held or missing.
    fileprivate var ordered: [HeldAnswer<Encoded>] { selectors.compactMap { answers[$0] } }
  }

  /// Looks for the answers of a batch in memory: no I/O, no task.
  package func heldAnswers(
    to selectors: [CustomerSelector], in scope: AppScope,
    consistency: Consistency = .minimizeLatency, at moment: Milliseconds? = nil
  ) -> Batch {
    var batch = Batch(selectors: selectors, scope: scope, consistency: consistency)
    var seen: Set<CustomerSelector> = []
    for selector in selectors where seen.insert(selector).inserted {
      let query = CustomerQuery(
        selector: selector, scope: scope, consistency: consistency, at: moment)
      if let held = heldAnswer(to: query) {
        batch.answers[selector] = held
      } else {
        batch.missing.append(query)
      }
    }
    return batch
  }

  /// The answer to each question of a batch, in their order, as if each were asked alone; all that is
  /// not in memory comes from the store in one round trip.
  ///
  /// - Throws: as ``answer(to:)``, for the first question that has no answer.
  package func answers(
    completing batch: Batch
  ) async throws(ServiceError) -> [HeldAnswer<Encoded>] {
    if batch.missing.isEmpty { return batch.ordered }
    var batch = batch
    try catalog.snapshot.checkServed(batch.scope)
    let loaded = try await load(batch.missing, in: batch.scope, batch.consistency)
    for (query, answer) in zip(batch.missing, loaded) { batch.answers[query.selector] = answer }
    return batch.ordered
  }

  private func load(
    _ queries: [CustomerQuery], in scope: AppScope, _ consistency: Consistency
  ) async throws(ServiceError) -> [HeldAnswer<Encoded>] {
    // Nil for what is never held.
    let tickets = queries.map { query in
      consistency == .fullyConsistent
        ? nil : query.heldKey.map { (key: $0, ticket: cache.loadStarted()) }
    }
    var answers: [HeldAnswer<Encoded>] = []
    defer {
      for (index, ticket) in tickets.enumerated() {
        guard let (key, ticket) = ticket else { continue }
        cache.loadEnded(
          ticket, key: key, answer: index < answers.count ? answers[index] : nil)
      }
    }
    for ticket in tickets where ticket != nil { missed(consistency) }
    // What was committed up to here is in all that is loaded, as in `answer(to:)`.
    let position = horizon.position
    // Asked after the loads were announced: what is required later drops what is loaded here.
    let freshness = freshness(for: consistency)
    let stored: [StoredCustomer]
    do {
      stored = try await store.customers(queries.map(\.selector), in: scope, freshness)
    } catch {
      throw ServiceError(error)
    }
    for (index, (query, customer)) in zip(queries, stored).enumerated() {
      if Task.isCancelled { throw ServiceError(.cancelled, "the caller does not wait any more") }
      let answer = try answer(to: query, from: customer)
      if tickets[index] != nil, case .atLeastAsFresh(let revision) = consistency,
        answer.revision < revision, position < revision
      {
        throw ServiceError(
          .unavailable, "revision \(revision) of this customer is not known here yet")
      }
      answers.append(answer)
    }
    return answers
  }
}
