package import EntitlementDomain
package import EntitlementStore
package import NIOCore
import Synchronization

/// Answers questions about customers: from memory where an answer is cached, else from the store.
///
/// A read that misses passes three places: the ``AnswerTable``, where callers of one customer share a
/// load; the ``ReadLimiter``, where loads wait, share a batch or are shed; and the store, which answers
/// a batch in one round trip. Then its answer is encoded once and cached for the callers to come.
package final class CustomerReader: Sendable {
  let store: any EntitlementStore
  let catalog: CatalogHolder
  let clock: ServiceClock
  let horizon: FeedHorizon
  let encode: @Sendable (CustomerState) throws(ServiceError) -> ByteBuffer
  let table: AnswerTable
  let admission: Mutex<Admission>

  /// A batch of more customers is looked up when its turn has come, and not on the caller's thread. It
  /// is refused first when there are too many reads.
  package static let largeBatch = 16

  /// - Parameters:
  ///   - horizon: how far the feed is followed; nil: nobody else writes to the store.
  ///   - cacheBytes: how much memory cached answers may take.
  ///   - limits: of reads that need the store.
  ///   - encode: the form in which the front sends a state.
  package init(
    store: any EntitlementStore, catalog: CatalogHolder, clock: ServiceClock,
    horizon: FeedHorizon? = nil, cacheBytes: Int, limits: ReadLimits,
    encode: @escaping @Sendable (CustomerState) throws(ServiceError) -> ByteBuffer
  ) {
    self.store = store
    self.catalog = catalog
    self.clock = clock
    self.horizon = horizon ?? .unfollowed()
    self.encode = encode
    admission = Mutex(Admission(limiter: ReadLimiter(limits)))
    let table = AnswerTable(bytes: cacheBytes)
    self.table = table
    catalog.onReplacement { table.removeAll() }
  }

  package var statistics: CacheStatistics { table.statistics }

  package var readStatistics: ReadStatistics {
    admission.withLock { admission in
      var statistics = admission.statistics
      statistics.waiting = admission.limiter.waitingCount
      return statistics
    }
  }

  // MARK: From memory

  /// The answer to a question of MINIMIZE_LATENCY about now, if it is in memory and may be served: no
  /// I/O, no task, and the question stays in its request.
  package func cachedAnswer(to question: QuestionBytes) -> CustomerAnswer? {
    horizon.isCurrent ? table.answer(for: question, clock) : nil
  }

  /// The answer, if it is in memory and may be served. Only answers by account and by original
  /// transaction are cached.
  package func cachedAnswer(to query: CustomerQuery) -> CustomerAnswer? {
    guard let key = query.cacheKey else { return nil }
    return table.answer(for: key, terms(of: query.consistency), at: clock.now())
  }

  private func terms(of consistency: Consistency) -> AnswerTable.Terms {
    switch consistency {
    case .minimizeLatency: AnswerTable.Terms(allowsCached: horizon.isCurrent)
    case .atLeastAsFresh(let revision): terms(including: revision)
    case .fullyConsistent: AnswerTable.Terms(allowsCached: false)
    }
  }

  private func terms(including sequence: Int64) -> AnswerTable.Terms {
    AnswerTable.Terms(including: sequence, followed: horizon.position)
  }

  // MARK: Reads

  /// The answer, if it is in memory. Else `caller` is told later: the answer, or why there is none.
  ///
  /// - Parameter caller: made when there is no cached answer. It may be told before this returns.
  /// - Throws: ``ServiceError/Code-swift.enum/invalidArgument(field:)`` for an app or environment
  ///   that the catalog does not name, never NEW (R27).
  package func answer(
    to query: CustomerQuery, orTell caller: () -> any ReadWaiter
  ) throws(ServiceError) -> CustomerAnswer? {
    try catalog.snapshot.checkServed(query.scope)
    guard let key = query.cacheKey else {
      var including = Int64.min
      if case .atLeastAsFresh(let revision) = query.consistency { including = revision }
      begin(table.unsharedLoad(query, caller(), including: including))
      return nil
    }
    let terms = terms(of: query.consistency)
    var revision: Int64?
    if case .atLeastAsFresh(let asked) = query.consistency { revision = asked }
    return try answer(to: query, key, terms, revision: revision, isPatient: false, caller)
  }

  private func answer(
    to query: CustomerQuery, _ key: AnswerKey, _ terms: AnswerTable.Terms, revision: Int64?,
    isPatient: Bool, _ caller: () -> any ReadWaiter
  ) throws(ServiceError) -> CustomerAnswer? {
    let lookup = table.lookup(
      query, key: key, terms, revision: revision, at: clock.now(), caller)
    if case .cached(let answer) = lookup { return answer }
    countBypass(query, terms)
    switch lookup {
    case .cached, .joined: break
    case .refused: throw ServiceError.overloaded
    case .begun(let load): begin(load, isPatient: isPatient)
    }
    return nil
  }

  /// The answer, for a task that waits.
  package func answer(to query: CustomerQuery) async throws(ServiceError) -> CustomerAnswer {
    try await waiting { [self] caller throws(ServiceError) in
      try answer(to: query, orTell: { caller })
    }
  }

  /// The answer with a change of the feed in it, and perhaps with later ones, of whatever customer
  /// that change may be: its revision may be lower, or that of another one. Its callers limit
  /// themselves, so it is not shed.
  func answer(
    to selector: CustomerSelector, in scope: AppScope, including sequence: Int64
  ) async throws(ServiceError) -> CustomerAnswer {
    let query = CustomerQuery(
      selector: selector, scope: scope, consistency: .atLeastAsFresh(revision: sequence))
    return try await waiting { [self] caller throws(ServiceError) in
      try catalog.snapshot.checkServed(scope)
      guard let key = query.cacheKey else {
        begin(table.unsharedLoad(query, caller, including: sequence), isPatient: true)
        return nil
      }
      return try answer(
        to: query, key, terms(including: sequence), revision: nil, isPatient: true, { caller })
    }
  }

  private func waiting(
    _ read: (any ReadWaiter) throws(ServiceError) -> CustomerAnswer?
  ) async throws(ServiceError) -> CustomerAnswer {
    let result = await withUnsafeContinuation { continuation in
      do throws(ServiceError) {
        let caller = WaitingTask(continuation)
        if let answer = try read(caller) { caller.finish(.success(answer)) }
      } catch {
        continuation.resume(returning: .failure(error))
      }
    }
    return try result.get()
  }

  // MARK: Batches

  /// The answers of a small batch in the order of its selectors, if all are in memory; else `caller` is
  /// told later.
  package func answers(
    to batch: BatchQuery,
    orTell caller: @escaping @Sendable (Result<[CustomerAnswer], ServiceError>) -> Void,
    isWaiting: @escaping @Sendable () -> Bool
  ) throws(ServiceError) -> [CustomerAnswer]? {
    var missing = batch.selectors.count
    if missing <= Self.largeBatch {
      let terms = terms(of: batch.consistency)
      let now = clock.now()
      let cached = batch.selectors.compactMap { selector in
        batch.query(selector).cacheKey.flatMap { table.answer(for: $0, terms, at: now) }
      }
      if cached.count == batch.selectors.count { return cached }
      missing -= cached.count
    }
    try catalog.snapshot.checkServed(batch.scope)
    // Looked up again when its turn has come: what was cached may be out of date then (R30).
    begin(
      .batch(BatchRead(batch, tell: caller, isWaiting: isWaiting)), customers: missing,
      isPatient: false)
    return nil
  }

  /// Whether a large batch that comes now must be refused: known before it is even decoded.
  package var refusesLargeBatches: Bool {
    let (refuses, outcome) = admission.withLock { admission in
      let now = NIODeadline.now()
      let refuses = admission.limiter.refusesLargeBatch(now: now)
      if refuses { admission.statistics.shed += 1 }
      return (refuses, admission.settle(admission.limiter.advance(now)))
    }
    start(outcome)
    return refuses
  }

  /// Looks up what a batch asks for, and joins its customers to loads.
  ///
  /// - Returns: those that have to begin.
  func loads(of batch: BatchRead) -> [CustomerLoad] {
    guard batch.isWaiting() else { return [] }
    let terms = terms(of: batch.query.consistency)
    var revision: Int64?
    if case .atLeastAsFresh(let asked) = batch.query.consistency { revision = asked }
    let now = clock.now()
    var loads: [CustomerLoad] = []
    for slot in batch.slots {
      let query = batch.query.query(slot.selector)
      guard let key = query.cacheKey else {
        loads.append(table.unsharedLoad(query, slot, including: revision ?? .min))
        continue
      }
      let lookup = table.lookup(query, key: key, terms, revision: revision, at: now, { slot })
      if case .cached = lookup {} else { countBypass(query, terms) }
      switch lookup {
      case .cached(let answer): slot.finish(.success(answer))
      case .joined: break
      case .refused: slot.finish(.failure(.overloaded))
      case .begun(let load): loads.append(load)
      }
    }
    return loads
  }

  /// Counts a read that could not be answered from memory since nothing there is current.
  private func countBypass(_ query: CustomerQuery, _ terms: AnswerTable.Terms) {
    if query.consistency == .minimizeLatency, !terms.allowsCached { horizon.bypassed() }
  }

  // MARK: Changes

  /// Drops what is cached of customers that changed, and sees to it that what is loaded from now on
  /// has the change in it. Called before a write is acknowledged.
  package func customersChanged(_ changes: WrittenChanges) {
    // In this order: see `require`.
    horizon.require(changes.latest)
    table.changed(changes.subjects)
  }

  /// Drops all that is cached.
  package func allChanged() {
    withExtendedLifetime(table.removeAll()) {}
  }
}

/// A task that waits for an answer. It is not cancelled: others may wait for the same load, and no load
/// takes longer than the store's time limit.
private final class WaitingTask: ReadWaiter {
  private let continuation: UnsafeContinuation<Result<CustomerAnswer, ServiceError>, Never>

  init(_ continuation: UnsafeContinuation<Result<CustomerAnswer, ServiceError>, Never>) {
    self.continuation = continuation
  }

  var isWaiting: Bool { true }

  func finish(_ result: Result<CustomerAnswer, ServiceError>) {
    continuation.resume(returning: result)
  }
}
