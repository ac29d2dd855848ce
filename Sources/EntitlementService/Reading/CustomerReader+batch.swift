package import EntitlementDomain
import EntitlementStore

extension CustomerReader {
  /// The answer to each question, in their order, as if each were asked alone; all that is not held
  /// comes from the store in one round trip.
  ///
  /// - Throws: as ``answer(to:)``, for the first question that has no answer.
  package func answers(
    to selectors: [CustomerSelector], in scope: AppScope,
    consistency: Consistency = .minimizeLatency, at moment: Milliseconds? = nil
  ) async throws(ServiceError) -> [HeldAnswer<Encoded>] {
    var answers: [CustomerSelector: HeldAnswer<Encoded>] = [:]
    var missing: [CustomerQuery] = []
    var seen: Set<CustomerSelector> = []
    for selector in selectors where seen.insert(selector).inserted {
      let query = CustomerQuery(
        selector: selector, scope: scope, consistency: consistency, at: moment)
      if let held = heldAnswer(to: query) {
        answers[selector] = held
      } else {
        missing.append(query)
      }
    }
    if !missing.isEmpty {
      try catalog.snapshot.checkServed(scope)
      let loaded = try await load(missing, in: scope, consistency)
      for (query, answer) in zip(missing, loaded) { answers[query.selector] = answer }
    }
    // Each was held or missing.
    return selectors.compactMap { answers[$0] }
  }

  private func load(
    _ queries: [CustomerQuery], in scope: AppScope, _ consistency: Consistency
  ) async throws(ServiceError) -> [HeldAnswer<Encoded>] {
    // Nil for what is never held.
    let tickets = queries.map { query in
      query.at == nil && query.selector.isHeld && consistency != .fullyConsistent
        ? cache.loadStarted() : nil
    }
    var answers: [HeldAnswer<Encoded>] = []
    defer {
      for (index, ticket) in tickets.enumerated() {
        guard let ticket else { continue }
        cache.loadEnded(
          ticket, key: queries[index].key(),
          answer: index < answers.count ? answers[index] : nil)
      }
    }
    for ticket in tickets where ticket != nil {
      cache.missed()
      if consistency == .minimizeLatency, !horizon.isCurrent { horizon.bypassed() }
    }
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
