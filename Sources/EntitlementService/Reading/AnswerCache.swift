import EntitlementDomain
import EntitlementStore
package import NIOCore
import Synchronization
package import Traces
package import Workers

/// A caller that waits for the answer to a read.
package protocol ReadWaiter: AnyObject, Sendable {
  /// False once the caller has been cancelled. A read begins only if a caller is waiting.
  var isWaiting: Bool { get }

  /// The event loop on which ``finish(_:)`` is called; nil: any thread.
  var eventLoop: (any EventLoop)? { get }

  /// Where the call comes from. Computations for large customers take turns by it.
  var source: WorkSource { get }

  /// Nil unless its call is traced.
  var span: CallSpan? { get }

  /// Called once. Must not block.
  func finish(_ result: Result<CustomerAnswer, ServiceError>)
}

extension ReadWaiter {
  package var span: CallSpan? { nil }
}

/// A read of one customer from the store. Callers that ask for the same customer join it.
final class CustomerLoad: @unchecked Sendable {
  // Unchecked: the variables are accessed only under the lock of the cache.

  struct Waiter {
    let caller: any ReadWaiter
    /// The revision that the caller knows. The answer must contain it.
    let revision: Int64?
  }

  /// The situation before the store was read.
  struct Beginning {
    /// The cache's count of invalidations. The answer may lack later changes.
    let clock: UInt64
    /// The answer contains every change of the feed up to this position.
    let required: Int64
    /// Every change of the feed up to this position had been followed.
    let followed: Int64
  }

  let query: CustomerQuery
  /// Nil if the answer is neither cached nor shared.
  let key: AnswerKey?
  fileprivate(set) var waiters: [Waiter]
  /// The position of the latest change of the feed that the answer must contain.
  fileprivate(set) var including: Int64
  fileprivate(set) var beginning: Beginning?
  /// The source of the first caller.
  let source: WorkSource
  /// The spans of traced calls that wait.
  fileprivate(set) var spans: [CallSpan] = []

  fileprivate init(_ query: CustomerQuery, key: AnswerKey?, _ waiter: Waiter, including: Int64) {
    self.query = query
    self.key = key
    waiters = [waiter]
    source = waiter.caller.source
    self.including = including
    if let span = waiter.caller.span { spans = [span] }
  }

  fileprivate func join(_ waiter: Waiter) {
    waiters.append(waiter)
    if let span = waiter.caller.span { spans.append(span) }
  }
}

/// An in-memory LRU cache of answers, bounded in bytes, and the loads in flight, one for each
/// customer (single flight).
///
/// A write invalidates the answers of the customers that it changed before it is acknowledged. An
/// answer that was being loaded at that time is not cached. A cached answer is therefore never
/// older than an acknowledged write of this node. It is served only before its next transition
/// (R30).
final class AnswerCache: Sendable {
  /// The conditions that a cached answer must meet.
  struct Terms {
    /// False while this node does not follow the writes of other nodes closely enough.
    var allowsCached = true
    /// A revision, or a change of the feed, that the answer must contain.
    var including = Int64.min
    /// All cached answers reflect the feed up to this position. Read before the look-up.
    var followed = Int64.min
  }

  enum Lookup {
    case cached(CustomerAnswer)
    /// The caller was added to a load in flight.
    case joined
    /// A new load, which the caller must begin or shed.
    case begun(CustomerLoad)
    /// Too many callers already wait for this customer.
    case refused
  }

  private struct State {
    var answers: LeastRecentlyUsed<AnswerKey, EvaluatedAnswer>
    /// Keys of answers about a subject that the key does not name, by subject. They are few.
    var otherKeys: [CustomerSubject: Set<AnswerKey>] = [:]
    /// Loads that a caller may join.
    var loads: [AnswerKey: CustomerLoad] = [:]
    /// Counts invalidations.
    var clock: UInt64 = 0
    /// Loads that have begun and whose answers may be cached.
    var loadsInFlight = 0
    /// The clock at the last change of each subject. Recorded while loads are in flight.
    var changedAt: [CustomerSubject: UInt64] = [:]
    /// Answers of loads that began before this clock are not cached.
    var floor: UInt64 = 0
    var statistics = CacheStatistics()
  }

  /// The most subjects in ``State/changedAt``. Beyond this limit, no answer of a load in flight is
  /// cached: this costs repeated loads, but no memory.
  private static let changedSubjectsLimit = 10_000

  /// The most callers that wait for one load. Bounds their memory.
  private static let waitersLimit = 4_096

  /// The approximate memory of an entry in addition to its encoded answer, in bytes.
  private static let overhead = 400

  private let state: Mutex<State>

  /// - Parameter bytes: the memory limit in bytes, including ``overhead`` for each entry.
  init(bytes: Int) {
    state = Mutex(State(answers: LeastRecentlyUsed(costLimit: bytes)))
  }

  var statistics: CacheStatistics {
    state.withLock { state in
      var statistics = state.statistics
      statistics.entries = state.answers.count
      statistics.bytes = state.answers.cost
      statistics.bytesLimit = state.answers.limit
      return statistics
    }
  }

  // MARK: Looking up

  /// The cached answer to a query that is still encoded in its request. An expired answer is not
  /// removed: the look-up by key that follows removes it.
  func answer(for query: QueryBytes, _ clock: ServiceClock) -> CustomerAnswer? {
    let hash = query.hash
    return state.withLock { state in
      let answer = state.answers.value(hash: hash) { query.matches($0) }
      guard let answer else { return nil }
      let now = clock.now()
      guard answer.isValid(at: now) else { return nil }
      state.statistics.hits += 1
      return CustomerAnswer(answer, at: now)
    }
  }

  /// The cached answer. Begins no load.
  func answer(for key: AnswerKey, _ terms: Terms, at now: Milliseconds) -> CustomerAnswer? {
    state.withLock { Self.cached(key, terms, at: now, in: &$0) }
  }

  /// The cached answer. If there is none, the caller joins a load.
  ///
  /// - Parameters:
  ///   - revision: see ``CustomerLoad/Waiter``.
  ///   - caller: created only if no answer is cached.
  func lookup(
    _ query: CustomerQuery, key: AnswerKey, _ terms: Terms, revision: Int64?, at now: Milliseconds,
    _ caller: () -> any ReadWaiter
  ) -> Lookup {
    state.withLock { state in
      if let answer = Self.cached(key, terms, at: now, in: &state) { return .cached(answer) }
      let load = state.loads[key]
      if let load, Self.satisfies(load, terms, at: state.clock) {
        guard load.waiters.count < Self.waitersLimit else { return .refused }
        state.statistics.misses += 1
        state.statistics.joinedLoads += 1
        load.join(CustomerLoad.Waiter(caller: caller(), revision: revision))
        load.including = max(load.including, terms.including)
        return .joined
      }
      state.statistics.misses += 1
      let begun = CustomerLoad(
        query, key: key, CustomerLoad.Waiter(caller: caller(), revision: revision),
        including: terms.including)
      state.loads[key] = begun
      return .begun(begun)
    }
  }

  /// A load whose answer is neither cached nor shared.
  func unsharedLoad(
    _ query: CustomerQuery, _ caller: any ReadWaiter, including sequence: Int64
  ) -> CustomerLoad {
    CustomerLoad(
      query, key: nil, CustomerLoad.Waiter(caller: caller, revision: nil), including: sequence)
  }

  private static func cached(
    _ key: AnswerKey, _ terms: Terms, at now: Milliseconds, in state: inout State
  ) -> CustomerAnswer? {
    guard terms.allowsCached, let answer = state.answers.value(for: key) else { return nil }
    guard answer.isValid(at: now) else {
      drop(key, from: &state)
      return nil
    }
    guard answer.revision >= terms.including || terms.followed >= terms.including else {
      return nil
    }
    state.statistics.hits += 1
    return CustomerAnswer(answer, at: now)
  }

  /// Whether the answer of a load will contain the changes that the terms require. A load that has
  /// not begun can still be given the terms.
  private static func satisfies(_ load: CustomerLoad, _ terms: Terms, at clock: UInt64) -> Bool {
    guard let beginning = load.beginning else { return true }
    return beginning.clock == clock && beginning.required >= terms.including
  }

  // MARK: Loads

  /// A load that begins.
  struct BegunLoad {
    let load: CustomerLoad
    /// The position that its answer must include.
    let including: Int64
    /// The spans of traced calls that wait for it so far.
    let spans: [CallSpan]
  }

  /// Loads are about to read the store. A load without a waiting caller is removed.
  ///
  /// - Parameters:
  ///   - required: see ``CustomerLoad/Beginning``; read before the call.
  ///   - followed: see ``CustomerLoad/Beginning``; read before the call.
  /// - Returns: the loads that begin.
  func loadsBegan(
    _ loads: [CustomerLoad], required: Int64, followed: Int64
  ) -> [BegunLoad] {
    state.withLock { state in
      var begun: [BegunLoad] = []
      begun.reserveCapacity(loads.count)
      for load in loads {
        guard load.waiters.contains(where: { $0.caller.isWaiting }) else {
          Self.forget(load, in: &state)
          continue
        }
        load.beginning = CustomerLoad.Beginning(
          clock: state.clock, required: required, followed: followed)
        if load.key != nil { state.loadsInFlight += 1 }
        begun.append(BegunLoad(load: load, including: load.including, spans: load.spans))
      }
      return begun
    }
  }

  /// Loads have ended. Caches each answer unless its customer has changed since the load began.
  ///
  /// - Returns: for each load, its waiters and the feed position followed when it began.
  func loadsEnded(
    _ loads: [(load: CustomerLoad, answer: EvaluatedAnswer?)]
  ) -> [(waiters: [CustomerLoad.Waiter], followed: Int64)] {
    state.withLock { state in
      var ended: [(waiters: [CustomerLoad.Waiter], followed: Int64)] = []
      ended.reserveCapacity(loads.count)
      for (load, answer) in loads {
        ended.append((load.waiters, load.beginning?.followed ?? .min))
        Self.forget(load, in: &state)
        guard let key = load.key, let beginning = load.beginning else { continue }
        state.loadsInFlight -= 1
        if let answer { Self.keep(answer, for: key, begunAt: beginning.clock, in: &state) }
      }
      if state.loadsInFlight == 0, !state.changedAt.isEmpty { state.changedAt.removeAll() }
      return ended
    }
  }

  /// Whether no caller waits for a load any more. No further caller joins it then.
  func isAbandoned(_ load: CustomerLoad) -> Bool {
    state.withLock { state in
      if load.waiters.contains(where: { $0.caller.isWaiting }) { return false }
      Self.forget(load, in: &state)
      return true
    }
  }

  /// A load is shed before it has begun.
  ///
  /// - Returns: its waiters.
  func loadShed(_ load: CustomerLoad) -> [CustomerLoad.Waiter] {
    state.withLock { state in
      Self.forget(load, in: &state)
      return load.waiters
    }
  }

  private static func forget(_ load: CustomerLoad, in state: inout State) {
    if let key = load.key, state.loads[key] === load { state.loads[key] = nil }
  }

  private static func keep(
    _ answer: EvaluatedAnswer, for key: AnswerKey, begunAt clock: UInt64, in state: inout State
  ) {
    guard let subject = answer.subject, clock >= state.floor else { return }
    let named = key.named
    for subject in named == subject ? [subject] : [subject, named] {
      if let changedAt = state.changedAt[subject], changedAt > clock { return }
    }
    drop(key, from: &state)
    let cost = answer.encoded.bytes.readableBytes + overhead
    let dropped = state.answers.insert(answer, for: key, cost: cost)
    guard cost <= state.answers.limit else { return }
    if named != subject { state.otherKeys[subject, default: []].insert(key) }
    for (key, answer) in dropped {
      state.statistics.evictions += 1
      forget(key, of: answer, in: &state)
    }
  }

  // MARK: Changes

  /// Invalidates all answers about these customers.
  func changed(_ subjects: some Sequence<CustomerSubject>) {
    state.withLock { state in
      for subject in subjects {
        state.clock += 1
        if state.loadsInFlight > 0 {
          if state.changedAt.count >= Self.changedSubjectsLimit {
            state.floor = state.clock
            state.changedAt.removeAll()
          }
          state.changedAt[subject] = state.clock
        }
        // The answer to the key that names the subject is dropped too, although it may be about
        // another customer: a merged account or a linked chain can resolve to a different customer
        // after a change that names only itself.
        Self.drop(AnswerKey(subject), from: &state)
        for key in state.otherKeys[subject] ?? [] { Self.drop(key, from: &state) }
      }
    }
  }

  /// The contents removed by ``removeAll()``, to be released without the lock.
  private struct Dropped: Sendable {
    let answers: LeastRecentlyUsed<AnswerKey, EvaluatedAnswer>
    let otherKeys: [CustomerSubject: Set<AnswerKey>]
  }

  /// Invalidates all answers, including answers of loads in flight.
  ///
  /// - Returns: the removed contents. The caller releases them outside of any lock, because this
  ///   takes long.
  func removeAll() -> some Sendable {
    state.withLock { state in
      let dropped = Dropped(answers: state.answers, otherKeys: state.otherKeys)
      state.clock += 1
      state.floor = state.clock
      state.changedAt.removeAll()
      state.answers.removeAll()
      state.otherKeys = [:]
      return dropped
    }
  }

  private static func drop(_ key: AnswerKey, from state: inout State) {
    guard let answer = state.answers.remove(key) else { return }
    forget(key, of: answer, in: &state)
  }

  private static func forget(_ key: AnswerKey, of answer: EvaluatedAnswer, in state: inout State) {
    guard let subject = answer.subject, key.named != subject else { return }
    state.otherKeys[subject]?.remove(key)
    if state.otherKeys[subject]?.isEmpty == true { state.otherKeys[subject] = nil }
  }
}

/// Counters since the start, and the current size.
package struct CacheStatistics: Hashable, Sendable {
  package var hits: UInt64 = 0
  package var misses: UInt64 = 0
  package var joinedLoads: UInt64 = 0
  package var evictions: UInt64 = 0
  package var entries = 0
  package var bytes = 0
  package var bytesLimit = 0
}
