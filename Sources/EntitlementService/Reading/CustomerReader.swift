package import EntitlementDomain
package import EntitlementStore
package import NIOCore
import Synchronization
package import Workers

/// Answers reads of customers from memory if the answer is cached, else from the store.
///
/// A read that misses passes three stages: the ``AnswerCache``, where callers of one customer share
/// a load; the ``ReadLimiter``, where loads wait, share a batch or are shed; and the store, which
/// reads a batch in one round trip. The answer is then encoded once and cached.
package final class CustomerReader: Sendable {
  let store: any EntitlementStore
  let catalog: CatalogHolder
  let clock: ServiceClock
  let watermark: FeedWatermark
  let evaluations: EvaluationPool
  let encode: @Sendable (CustomerState) throws(ServiceError) -> EncodedState
  let cache: AnswerCache
  let admission: Mutex<Admission>

  /// A batch of more customers is looked up when its turn comes, not when it arrives. In overload
  /// it is refused first.
  package static let largeBatch = 16

  /// - Parameters:
  ///   - watermark: how far the feed is followed; nil: no other node writes to the store.
  ///   - cacheBytes: the memory that cached answers may take, in bytes.
  ///   - limits: on reads that need the store.
  ///   - evaluations: computes the states of large customers.
  ///   - encode: encodes a state as the front sends it.
  package init(
    store: any EntitlementStore, catalog: CatalogHolder, clock: ServiceClock,
    watermark: FeedWatermark? = nil, cacheBytes: Int, limits: ReadLimits,
    evaluations: EvaluationPool = EvaluationPool(),
    encode: @escaping @Sendable (CustomerState) throws(ServiceError) -> EncodedState
  ) {
    self.store = store
    self.catalog = catalog
    self.clock = clock
    self.watermark = watermark ?? .unfollowed()
    self.evaluations = evaluations
    self.encode = encode
    admission = Mutex(Admission(limiter: ReadLimiter(limits)))
    let cache = AnswerCache(bytes: cacheBytes)
    self.cache = cache
    catalog.onReplacement { cache.removeAll() }
  }

  package var statistics: CacheStatistics { cache.statistics }

  package var readStatistics: ReadStatistics {
    admission.withLock { admission in
      var statistics = admission.statistics
      statistics.waiting = admission.limiter.waitingCount
      statistics.waitingLimit = admission.limiter.limits.waiting
      statistics.permits = admission.limiter.limits.permits
      statistics.permitsInUse = admission.limiter.permitsInUse
      return statistics
    }
  }

  // MARK: From memory

  /// The cached answer to a MINIMIZE_LATENCY read of the present state, if it may be served. Needs
  /// no I/O and no task, and does not decode the request.
  package func cachedAnswer(to query: QueryBytes) -> CustomerAnswer? {
    watermark.isCurrent ? cache.answer(for: query, clock) : nil
  }

  /// The cached answer, if it may be served. Only answers by account and by original transaction
  /// are cached.
  package func cachedAnswer(to query: CustomerQuery) -> CustomerAnswer? {
    guard let key = query.cacheKey else { return nil }
    return cache.answer(for: key, terms(of: query.consistency), at: clock.now())
  }

  private func terms(of consistency: Consistency) -> AnswerCache.Terms {
    switch consistency {
    case .minimizeLatency: AnswerCache.Terms(allowsCached: watermark.isCurrent)
    case .atLeastAsFresh(let revision): terms(including: revision)
    case .fullyConsistent: AnswerCache.Terms(allowsCached: false)
    }
  }

  private func terms(including sequence: Int64) -> AnswerCache.Terms {
    AnswerCache.Terms(including: sequence, followed: watermark.position)
  }

  // MARK: Reads

  /// The answer if it is cached. Else `caller` receives the answer, or an error, later.
  ///
  /// - Parameter caller: created only if no answer is cached. It may be called before this returns.
  /// - Throws: ``ServiceError/Code-swift.enum/invalidArgument(field:)`` for an app or environment
  ///   that the catalog does not name, never NEW (R27).
  package func answer(
    to query: CustomerQuery, orFinish caller: () -> any ReadWaiter
  ) throws(ServiceError) -> CustomerAnswer? {
    try catalog.snapshot.checkServed(query.scope)
    guard let key = query.cacheKey else {
      var including = Int64.min
      if case .atLeastAsFresh(let revision) = query.consistency { including = revision }
      let caller = caller()
      begin(.load(cache.unsharedLoad(query, caller, including: including)), on: caller.eventLoop)
      return nil
    }
    let terms = terms(of: query.consistency)
    var revision: Int64?
    if case .atLeastAsFresh(let asked) = query.consistency { revision = asked }
    return try answer(to: query, key, terms, revision: revision, isPatient: false, caller)
  }

  private func answer(
    to query: CustomerQuery, _ key: AnswerKey, _ terms: AnswerCache.Terms, revision: Int64?,
    isPatient: Bool, _ caller: () -> any ReadWaiter
  ) throws(ServiceError) -> CustomerAnswer? {
    var eventLoop: (any EventLoop)?
    let lookup = cache.lookup(query, key: key, terms, revision: revision, at: clock.now()) {
      let caller = caller()
      eventLoop = caller.eventLoop
      return caller
    }
    if case .cached(let answer) = lookup { return answer }
    countBypass(query, terms)
    switch lookup {
    case .cached, .joined: break
    case .refused: throw ServiceError.overloaded
    case .begun(let load): begin(.load(load), isPatient: isPatient, on: eventLoop)
    }
    return nil
  }

  /// The answer, for a task.
  package func answer(
    to query: CustomerQuery, of source: WorkSource = .server
  ) async throws(ServiceError) -> CustomerAnswer {
    try await waiting(source) { [self] caller throws(ServiceError) in
      try answer(to: query, orFinish: { caller })
    }
  }

  /// An answer that contains a change of the feed, and perhaps later ones. The change may be one of
  /// another customer, so the answer's revision may be lower. The read is not shed: its callers
  /// limit themselves.
  func answer(
    to selector: CustomerSelector, in scope: AppScope, including sequence: Int64,
    of source: WorkSource = .server
  ) async throws(ServiceError) -> CustomerAnswer {
    let query = CustomerQuery(
      selector: selector, scope: scope, consistency: .atLeastAsFresh(revision: sequence))
    return try await waiting(source) { [self] caller throws(ServiceError) in
      try catalog.snapshot.checkServed(scope)
      guard let key = query.cacheKey else {
        begin(
          .load(cache.unsharedLoad(query, caller, including: sequence)), isPatient: true, on: nil)
        return nil
      }
      return try answer(
        to: query, key, terms(including: sequence), revision: nil, isPatient: true, { caller })
    }
  }

  private func waiting(
    _ source: WorkSource,
    _ read: (any ReadWaiter) throws(ServiceError) -> CustomerAnswer?
  ) async throws(ServiceError) -> CustomerAnswer {
    let caller = WaitingTask(source)
    let result = await withTaskCancellationHandler {
      await withUnsafeContinuation { continuation in
        guard caller.begin(continuation) else { return }
        do throws(ServiceError) {
          if let answer = try read(caller) { caller.finish(.success(answer)) }
        } catch {
          caller.finish(.failure(error))
        }
      }
    } onCancel: {
      caller.finish(.failure(ServiceError(.cancelled, "the caller cancelled the call")))
    }
    return try result.get()
  }

  // MARK: Batches

  /// The answers of a small batch in the order of its selectors, if all are cached. Else `caller`
  /// receives them later, on any thread.
  ///
  /// - Parameter eventLoop: the event loop of the caller.
  package func answers(
    to batch: BatchQuery, on eventLoop: (any EventLoop)?,
    orFinish caller: @escaping @Sendable (Result<[CustomerAnswer], ServiceError>) -> Void,
    isWaiting: @escaping @Sendable () -> Bool
  ) throws(ServiceError) -> [CustomerAnswer]? {
    var missing = batch.selectors.count
    if missing <= Self.largeBatch {
      let terms = terms(of: batch.consistency)
      let now = clock.now()
      let cached = batch.selectors.compactMap { selector in
        batch.query(selector).cacheKey.flatMap { cache.answer(for: $0, terms, at: now) }
      }
      if cached.count == batch.selectors.count { return cached }
      missing -= cached.count
    }
    try catalog.snapshot.checkServed(batch.scope)
    // Looked up again when its turn comes: cached answers may be out of date then (R30).
    begin(
      .batch(BatchRead(batch, finish: caller, isWaiting: isWaiting)), customers: missing,
      on: eventLoop)
    return nil
  }

  /// Whether a large batch that arrives now must be refused, before it is decoded.
  package var refusesLargeBatches: Bool {
    let (refuses, outcomes) = admission.withLock { admission in
      let now = NIODeadline.now()
      // Reads that have just arrived may be able to begin.
      var outcomes = [admission.count(admission.limiter.advance(now))]
      let refuses = admission.limiter.refusesLargeBatch(now: now)
      if refuses {
        admission.statistics.shed += 1
        outcomes.append(admission.count(admission.limiter.advance(now)))
      }
      return (refuses, outcomes)
    }
    outcomes.forEach(start)
    return refuses
  }

  /// Looks up the customers of a batch. Each is answered from memory, joins a load, or begins one.
  ///
  /// - Returns: the loads that the caller must begin.
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
        loads.append(cache.unsharedLoad(query, slot, including: revision ?? .min))
        continue
      }
      let lookup = cache.lookup(query, key: key, terms, revision: revision, at: now, { slot })
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

  /// Counts a read that went to the store only because the cache is not current.
  private func countBypass(_ query: CustomerQuery, _ terms: AnswerCache.Terms) {
    if query.consistency == .minimizeLatency, !terms.allowsCached { watermark.countBypass() }
  }

  // MARK: Changes

  /// Drops cached answers of changed customers, and requires the changes of later loads. Called
  /// before a write is acknowledged.
  package func customersChanged(_ changes: WrittenChanges) {
    // In this order: see `require`.
    watermark.require(changes.latest)
    cache.changed(changes.subjects)
  }

  /// Drops all cached answers.
  package func allChanged() {
    withExtendedLifetime(cache.removeAll()) {}
  }
}

/// A task that waits for an answer, or for its cancellation. Other callers may share its load; a load
/// without a caller that waits ends early.
private final class WaitingTask: ReadWaiter {
  private typealias Outcome = Result<CustomerAnswer, ServiceError>

  private enum State {
    case idle
    case waiting(UnsafeContinuation<Outcome, Never>)
    /// Finished. The outcome is of interest only if the task has not begun to wait.
    case ended(Outcome)
  }

  let source: WorkSource
  private let state = Mutex(State.idle)

  init(_ source: WorkSource) {
    self.source = source
  }

  var isWaiting: Bool {
    state.withLock { state in
      if case .ended = state { false } else { true }
    }
  }

  var eventLoop: (any EventLoop)? { nil }

  /// - Returns: false if the task was cancelled before. It is resumed then.
  func begin(_ continuation: UnsafeContinuation<Result<CustomerAnswer, ServiceError>, Never>)
    -> Bool
  {
    let ended = state.withLock { state -> Outcome? in
      if case .ended(let outcome) = state { return outcome }
      state = .waiting(continuation)
      return nil
    }
    guard let ended else { return true }
    continuation.resume(returning: ended)
    return false
  }

  /// Resumes the task, unless it was cancelled or answered before.
  func finish(_ result: Result<CustomerAnswer, ServiceError>) {
    let waiting = state.withLock { state -> UnsafeContinuation<Outcome, Never>? in
      switch state {
      case .idle:
        state = .ended(result)
        return nil
      case .waiting(let continuation):
        state = .ended(result)
        return continuation
      case .ended: return nil
      }
    }
    waiting?.resume(returning: result)
  }
}
