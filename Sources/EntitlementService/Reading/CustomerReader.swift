package import EntitlementDomain
package import EntitlementStore
import Synchronization

/// Answers questions about customers: from memory where an answer is held, else from the store.
///
/// `Encoded` is the form in which the front sends a state; it is made once for each change of a
/// customer.
package final class CustomerReader<Encoded: Sendable>: Sendable {
  typealias Cache = AnswerCache<Encoded>
  typealias Outcome = Result<HeldAnswer<Encoded>, ServiceError>

  /// A load that others may wait for.
  struct Load {
    let task: Task<Outcome, Never>
    /// The cache's clock when it began: later changes are not in it.
    let clock: UInt64
    /// Every change of the feed up to here is in it.
    let position: Int64
    let number: UInt64
    /// Readers that wait for it with nothing that bounds their number.
    var joined = 0
  }

  struct Loads {
    var byKey: [AnswerCache<Encoded>.Key: Load] = [:]
    var count: UInt64 = 0

    /// - Parameters:
    ///   - clock: the cache's: what changed before must be in the load.
    ///   - sequence: of the feed: so must every change up to there.
    func underWay(
      of key: AnswerCache<Encoded>.Key, at clock: UInt64, including sequence: Int64
    ) -> Load? {
      byKey[key].flatMap { $0.clock == clock && $0.position >= sequence ? $0 : nil }
    }
  }

  let store: any EntitlementStore
  let catalog: CatalogHolder
  let clock: ServiceClock
  let horizon: FeedHorizon
  let encode: @Sendable (CustomerState) throws(ServiceError) -> Encoded
  let cache: AnswerCache<Encoded>
  let loads = Mutex(Loads())

  /// - Parameters:
  ///   - horizon: how far the feed is followed; nil: nobody else writes to the store.
  ///   - cacheBytes: how much memory held answers may take.
  ///   - size: the bytes of an encoded answer.
  package init(
    store: any EntitlementStore, catalog: CatalogHolder, clock: ServiceClock,
    horizon: FeedHorizon? = nil, cacheBytes: Int,
    encode: @escaping @Sendable (CustomerState) throws(ServiceError) -> Encoded,
    size: @escaping @Sendable (Encoded) -> Int
  ) {
    self.store = store
    self.catalog = catalog
    self.clock = clock
    self.horizon = horizon ?? .unfollowed()
    self.encode = encode
    let cache = AnswerCache(bytes: cacheBytes, size: size)
    self.cache = cache
    catalog.onReplacement { cache.removeAll() }
  }

  package var statistics: CacheStatistics { cache.statistics }

  /// The answer, if it is in memory and may be served: no I/O, no task. Only answers by account
  /// and by original transaction are held.
  package func heldAnswer(to query: CustomerQuery) -> HeldAnswer<Encoded>? {
    guard let key = query.heldKey else { return nil }
    switch query.consistency {
    case .fullyConsistent:
      return nil
    case .minimizeLatency:
      return horizon.isCurrent ? cache.answer(for: key, at: clock.now()) : nil
    case .atLeastAsFresh(let revision):
      let answer = cache.answer(for: key, at: clock.now())
      return answer.flatMap { $0.revision >= revision ? $0 : nil }
    }
  }

  /// The answer to a question of MINIMIZE_LATENCY about now, as above.
  package func heldAnswer(to question: QuestionBytes) -> HeldAnswer<Encoded>? {
    horizon.isCurrent ? cache.answer(for: question, clock) : nil
  }

  /// The answer, from the store where it is not held.
  ///
  /// - Throws: ``ServiceError/Code-swift.enum/invalidArgument(field:)`` for an app or environment
  ///   that the catalog does not name, never NEW (R27).
  package func answer(to query: CustomerQuery) async throws(ServiceError) -> HeldAnswer<Encoded> {
    if let held = heldAnswer(to: query) { return held }
    try catalog.snapshot.checkServed(query.scope)
    guard let key = query.heldKey, query.consistency != .fullyConsistent else {
      return try await load(query, freshness(for: query.consistency))
    }
    missed(query.consistency)
    let answer = try await joinedLoad(query, key: key, including: .min).get()
    if case .atLeastAsFresh(let revision) = query.consistency, answer.revision < revision {
      // The load that was joined may have begun before the write: this one begins after it.
      let position = horizon.position
      let fresh = try await load(query, freshness(for: query.consistency))
      // What was committed up to the position is in it. An account that was deleted has no revision
      // any more once the feed does not tell of the deletion.
      guard fresh.revision >= revision || position >= revision else {
        throw ServiceError(
          .unavailable, "revision \(revision) of this customer is not known here yet")
      }
      return fresh
    }
    return answer
  }

  /// The answer with a change of the feed in it, and perhaps with later ones, of whatever customer
  /// that change may be: its revision may be lower, or that of somebody else.
  func answer(
    to selector: CustomerSelector, in scope: AppScope, including sequence: Int64
  ) async throws(ServiceError) -> HeldAnswer<Encoded> {
    let query = CustomerQuery(
      selector: selector, scope: scope, consistency: .atLeastAsFresh(revision: sequence))
    try catalog.snapshot.checkServed(scope)
    // Before the look into memory: up to there everything out of date was dropped.
    let position = horizon.position
    guard let key = query.heldKey else { return try await load(query, horizon.including(sequence)) }
    if let held = cache.answer(for: key, at: clock.now()),
      held.revision >= sequence || position >= sequence
    {
      return held
    }
    cache.missed()
    return try await joinedLoad(query, key: key, including: sequence).get()
  }

  /// One page of an app's customers, in the order of their account ids.
  package func customers(in scope: AppScope, after: AccountID?, limit: Int)
    async throws(ServiceError) -> [CustomerState]
  {
    let snapshot = catalog.snapshot
    try snapshot.checkServed(scope)
    let accounts: [AccountSummary]
    do {
      accounts = try await store.accounts(in: scope, after: after, limit: limit)
    } catch {
      throw ServiceError(error)
    }
    var states: [CustomerState] = []
    for account in accounts {
      if Task.isCancelled { throw ServiceError(.cancelled, "the caller does not wait any more") }
      states.append(
        try await state(of: account.accountID, in: scope, catalog: snapshot.catalog))
    }
    return states
  }

  private func state(of account: AccountID, in scope: AppScope, catalog: Catalog)
    async throws(ServiceError) -> CustomerState
  {
    do {
      let stored = try await store.customer(.account(account), in: scope)
      return Evaluation.state(of: stored.record, catalog: catalog, at: clock.now())
    } catch {
      throw ServiceError(error)
    }
  }

  /// Drops what is held of customers that changed, and sees to it that what is loaded from now on
  /// holds the change. Called before a write is acknowledged.
  package func customersChanged(_ changes: WrittenChanges) {
    // In this order: see `require`.
    horizon.require(changes.latest)
    cache.changed(changes.subjects)
  }

  /// Drops all that is held.
  package func allChanged() {
    withExtendedLifetime(cache.removeAll()) {}
  }

  /// Counts a question whose answer could have been in memory.
  func missed(_ consistency: Consistency) {
    cache.missed()
    if consistency == .minimizeLatency, !horizon.isCurrent { horizon.bypassed() }
  }

  func freshness(for consistency: Consistency) -> StoreFreshness {
    switch consistency {
    case .minimizeLatency: horizon.freshness
    case .atLeastAsFresh(let revision): horizon.including(revision)
    case .fullyConsistent: .primary
    }
  }

  /// Waits for the load of the same customer that is under way and has a change of the feed in it,
  /// or begins one.
  private func joinedLoad(
    _ query: CustomerQuery, key: AnswerTable.Key, including sequence: Int64
  ) async -> Outcome {
    let clock = cache.clock
    let position = horizon.requiredPosition
    let (load, isNew) = loads.withLock { loads -> (Load, Bool) in
      if let load = loads.underWay(of: key, at: clock, including: sequence) { return (load, false) }
      loads.count += 1
      let number = loads.count
      let task = Task { await self.keptLoad(query, key: key, number: number) }
      let load = Load(task: task, clock: clock, position: position, number: number)
      loads.byKey[key] = load
      return (load, true)
    }
    if !isNew { cache.loadJoined() }
    return await load.task.value
  }

  private func keptLoad(_ query: CustomerQuery, key: Cache.Key, number: UInt64) async -> Outcome {
    let ticket = cache.loadStarted()
    var outcome: Outcome
    do throws(ServiceError) {
      // Asked after the load was announced: what is required later drops what is loaded here.
      outcome = .success(try await load(query, freshness(for: query.consistency)))
    } catch {
      outcome = .failure(error)
    }
    cache.loadEnded(ticket, key: key, answer: try? outcome.get())
    loads.withLock { loads in
      if loads.byKey[key]?.number == number { loads.byKey[key] = nil }
    }
    return outcome
  }

  private func load(
    _ query: CustomerQuery, _ freshness: StoreFreshness
  ) async throws(ServiceError) -> HeldAnswer<Encoded> {
    let stored: StoredCustomer
    do {
      stored = try await store.customer(query.selector, in: query.scope, freshness)
    } catch {
      throw ServiceError(error)
    }
    return try answer(to: query, from: stored)
  }

  func answer(
    to query: CustomerQuery, from stored: StoredCustomer
  ) throws(ServiceError) -> HeldAnswer<Encoded> {
    let snapshot = catalog.snapshot
    // Another catalog may have come in force since the question was looked at.
    try snapshot.checkServed(query.scope)
    let outcome = Evaluation.evaluate(
      stored.record, catalog: snapshot.catalog, at: query.at ?? clock.now())
    let state = outcome.state
    return HeldAnswer(
      encoded: try encode(state), revision: state.revision, validUntil: state.nextTransitionAt,
      isUnchangedSinceRevision: query.at == nil
        && outcome.isUnchanged(
          since: stored.record.changedAt, catalogInForceSince: snapshot.inForceSince),
      subject: stored.subject)
  }
}

extension Evaluation.Outcome {
  /// Whether every answer of the present revision was this one: neither time nor another catalog
  /// came between.
  fileprivate func isUnchanged(
    since changedAt: Milliseconds?, catalogInForceSince: Milliseconds
  ) -> Bool {
    guard let changedAt else { return false }
    return changedAt >= max(lastBoundaryAt ?? catalogInForceSince, catalogInForceSince)
  }
}

extension CustomerQuery {
  /// Nil for what is never held: the past, and selectors that may find another customer without a
  /// change of the one they found before.
  var heldKey: AnswerTable.Key? {
    at == nil ? AnswerTable.Key(selector: selector, scope: scope) : nil
  }
}
