package import EntitlementDomain
package import EntitlementStore
package import NIOCore
import Synchronization

/// An encoded answer about a customer, and what decides whether it may still be served. An object, so
/// that a look-up hands out one reference.
package final class CustomerAnswer: Sendable {
  /// As the front sends it.
  package let encoded: ByteBuffer
  package let revision: Int64
  /// The answer holds until just before this moment (R30); nil: until a fact changes it.
  package let validUntil: Milliseconds?
  /// Neither time nor another catalog has changed the state since its revision came to be: a caller
  /// that has an answer of this revision has this one.
  package let isUnchangedSinceRevision: Bool
  /// Whose changes put it out of date; nil when it must not be cached.
  package let subject: CustomerSubject?

  package init(
    encoded: ByteBuffer, revision: Int64, validUntil: Milliseconds?,
    isUnchangedSinceRevision: Bool, subject: CustomerSubject?
  ) {
    self.encoded = encoded
    self.revision = revision
    self.validUntil = validUntil
    self.isUnchangedSinceRevision = isUnchangedSinceRevision
    self.subject = subject
  }
}

/// A caller that waits for the answer to a read.
package protocol ReadWaiter: AnyObject, Sendable {
  /// False once the caller is gone: a read that has no waiter any more is not begun.
  var isWaiting: Bool { get }

  /// Called once, from any thread. Must not block.
  func finish(_ result: Result<CustomerAnswer, ServiceError>)
}

/// Reads the store for one customer. Callers that ask for the same customer meanwhile wait for it too.
final class CustomerLoad: @unchecked Sendable {
  // Unchecked: its variables are used under the lock of its table alone.

  struct Waiter {
    let caller: any ReadWaiter
    /// The revision that the caller knows of, which its answer must not lack.
    let revision: Int64?
  }

  /// What was true when the store was asked.
  struct Beginning {
    /// The table's count of changes: later ones may not be in the answer.
    let clock: UInt64
    /// Every change of the feed up to here is in the answer.
    let required: Int64
    /// Every change of the feed up to here had been followed.
    let followed: Int64
  }

  let query: CustomerQuery
  /// Nil: the answer is neither cached nor shared.
  let key: AnswerKey?
  fileprivate(set) var waiters: [Waiter]
  /// A change of the feed that must be in the answer.
  fileprivate(set) var including: Int64
  fileprivate(set) var beginning: Beginning?

  fileprivate init(_ query: CustomerQuery, key: AnswerKey?, _ waiter: Waiter, including: Int64) {
    self.query = query
    self.key = key
    waiters = [waiter]
    self.including = including
  }
}

/// Answers in memory, bounded in bytes, the least recently used go first; and the loads in flight, one
/// for each customer (single flight).
///
/// A write drops the answers of the customers that it changed before it is acknowledged, and an
/// answer that was being loaded meanwhile is not kept: so what is served is never older than an
/// acknowledged write of this node. An answer is served only before its next transition (R30).
final class AnswerTable: Sendable {
  /// What an answer in memory has to be to be served.
  struct Terms {
    /// False while this node does not know what others write.
    var allowsCached = true
    /// A revision, or a change of the feed, that must be in the answer.
    var including = Int64.min
    /// Everything cached reflects every change of the feed up to here. Read before the look-up.
    var followed = Int64.min
  }

  enum Lookup {
    case cached(CustomerAnswer)
    /// The caller waits for a load in flight.
    case joined
    /// The caller has to see to it that this load begins, or is shed.
    case begun(CustomerLoad)
    /// Very many wait for this customer already.
    case refused
  }

  private struct State {
    var answers: LeastRecentlyUsed<AnswerKey, CustomerAnswer>
    /// The keys of answers about each subject, except the key that names the subject itself: those
    /// are few.
    var otherKeys: [CustomerSubject: Set<AnswerKey>] = [:]
    /// Loads that a caller may join.
    var loads: [AnswerKey: CustomerLoad] = [:]
    /// Counts invalidations.
    var clock: UInt64 = 0
    /// Loads that have begun and may be kept.
    var loadsInFlight = 0
    /// When subjects were last changed, as long as loads are in flight.
    var changedAt: [CustomerSubject: UInt64] = [:]
    /// Loads that began before this are out of date.
    var floor: UInt64 = 0
    var statistics = CacheStatistics()
  }

  /// Subjects remembered while loads are in flight; beyond it, all of these loads count as out of
  /// date, which costs a repeated load but no memory.
  private static let changedSubjectsLimit = 10_000

  /// Callers that wait for one load. Each takes memory.
  private static let waitersLimit = 4_096

  /// About what one entry costs besides its bytes: keys, terms, links and the look-up table.
  private static let overhead = 400

  private let state: Mutex<State>

  /// - Parameter bytes: the bound on the sum of all answers' sizes with their bookkeeping.
  init(bytes: Int) {
    state = Mutex(State(answers: LeastRecentlyUsed(costLimit: bytes)))
  }

  var statistics: CacheStatistics {
    state.withLock { state in
      var statistics = state.statistics
      statistics.entries = state.answers.count
      statistics.bytes = state.answers.cost
      return statistics
    }
  }

  // MARK: Looking up

  /// The cached answer to a question that was not taken out of its request. An answer that is out of
  /// date stays, for the look-up by key that follows.
  func answer(for question: QuestionBytes, _ clock: ServiceClock) -> CustomerAnswer? {
    let hash = question.hash
    return state.withLock { state in
      let answer = state.answers.value(hash: hash) { question.isAsked(by: $0) }
      guard let answer else { return nil }
      if let end = answer.validUntil, clock.now() >= end { return nil }
      state.statistics.hits += 1
      return answer
    }
  }

  /// The cached answer alone.
  func answer(for key: AnswerKey, _ terms: Terms, at now: Milliseconds) -> CustomerAnswer? {
    state.withLock { Self.cached(key, terms, at: now, in: &$0) }
  }

  /// The cached answer; else a load that the caller waits for.
  ///
  /// - Parameters:
  ///   - revision: see ``CustomerLoad/Waiter``.
  ///   - caller: made when it has to wait.
  func lookup(
    _ query: CustomerQuery, key: AnswerKey, _ terms: Terms, revision: Int64?, at now: Milliseconds,
    _ caller: () -> any ReadWaiter
  ) -> Lookup {
    state.withLock { state in
      if let answer = Self.cached(key, terms, at: now, in: &state) { return .cached(answer) }
      let load = state.loads[key]
      if let load, Self.holds(load, terms, at: state.clock) {
        guard load.waiters.count < Self.waitersLimit else { return .refused }
        state.statistics.misses += 1
        state.statistics.joinedLoads += 1
        load.waiters.append(CustomerLoad.Waiter(caller: caller(), revision: revision))
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
    if let end = answer.validUntil, now >= end {
      drop(key, from: &state)
      return nil
    }
    guard answer.revision >= terms.including || terms.followed >= terms.including else {
      return nil
    }
    state.statistics.hits += 1
    return answer
  }

  /// Whether the answer of a load will have in it all that a caller asks for. One that has not begun
  /// can still be told.
  private static func holds(_ load: CustomerLoad, _ terms: Terms, at clock: UInt64) -> Bool {
    guard let beginning = load.beginning else { return true }
    return beginning.clock == clock && beginning.required >= terms.including
  }

  // MARK: Loads

  /// Loads are about to ask the store. A load without a waiter is forgotten.
  ///
  /// - Parameters:
  ///   - required: of the feed: read before the call.
  ///   - followed: the same.
  /// - Returns: the loads that begin, each with the change of the feed that must be in its answer.
  func loadsBegan(
    _ loads: [CustomerLoad], required: Int64, followed: Int64
  ) -> [(load: CustomerLoad, including: Int64)] {
    state.withLock { state in
      var begun: [(load: CustomerLoad, including: Int64)] = []
      begun.reserveCapacity(loads.count)
      for load in loads {
        guard load.waiters.contains(where: { $0.caller.isWaiting }) else {
          Self.forget(load, in: &state)
          continue
        }
        load.beginning = CustomerLoad.Beginning(
          clock: state.clock, required: required, followed: followed)
        if load.key != nil { state.loadsInFlight += 1 }
        begun.append((load, load.including))
      }
      return begun
    }
  }

  /// Loads have ended. Keeps their answers unless their customers changed since they began.
  ///
  /// - Returns: the waiters of each, and every change of the feed that had been followed when it began.
  func loadsEnded(
    _ loads: [(load: CustomerLoad, answer: CustomerAnswer?)]
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

  /// A load does not begin.
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
    _ answer: CustomerAnswer, for key: AnswerKey, begunAt clock: UInt64, in state: inout State
  ) {
    guard let subject = answer.subject, clock >= state.floor else { return }
    let named = key.named
    for subject in named == subject ? [subject] : [subject, named] {
      if let changedAt = state.changedAt[subject], changedAt > clock { return }
    }
    drop(key, from: &state)
    let cost = answer.encoded.readableBytes + overhead
    let dropped = state.answers.insert(answer, for: key, cost: cost)
    guard cost <= state.answers.limit else { return }
    if named != subject { state.otherKeys[subject, default: []].insert(key) }
    for (key, answer) in dropped {
      state.statistics.evictions += 1
      forget(key, of: answer, in: &state)
    }
  }

  // MARK: Changes

  /// Drops every answer of these customers.
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
        // The customer that the key names itself is concerned, too: an account that was merged into
        // another, or a chain that an account has, may find another customer after a change that names
        // only itself.
        Self.drop(AnswerKey(subject), from: &state)
        for key in state.otherKeys[subject] ?? [] { Self.drop(key, from: &state) }
      }
    }
  }

  /// What a ``removeAll()`` took out, to be released without the lock.
  private struct Dropped: Sendable {
    let answers: LeastRecentlyUsed<AnswerKey, CustomerAnswer>
    let otherKeys: [CustomerSubject: Set<AnswerKey>]
  }

  /// Drops every answer; those that are being loaded are not kept.
  ///
  /// - Returns: what was dropped, for the caller to release when it holds no lock.
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

  private static func forget(_ key: AnswerKey, of answer: CustomerAnswer, in state: inout State) {
    guard let subject = answer.subject, key.named != subject else { return }
    state.otherKeys[subject]?.remove(key)
    if state.otherKeys[subject]?.isEmpty == true { state.otherKeys[subject] = nil }
  }
}

/// Counters since the start, and the present fill.
package struct CacheStatistics: Hashable, Sendable {
  package var hits: UInt64 = 0
  package var misses: UInt64 = 0
  package var joinedLoads: UInt64 = 0
  package var evictions: UInt64 = 0
  package var entries = 0
  package var bytes = 0
}
