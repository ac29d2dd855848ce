import EntitlementDomain
import EntitlementStore
import Synchronization

/// Encoded answers in memory, bounded in bytes.
///
/// A write drops the answers of the customers that it changed before it is acknowledged, and an
/// answer that was being computed meanwhile is not kept: so what is served is never older than an
/// acknowledged write of this node. An answer is served only before its next transition (R30).
final class AnswerCache<Encoded: Sendable>: Sendable {
  struct Key: Hashable, Sendable {
    let selector: CustomerSelector
    let scope: AppScope
  }

  /// Passed from the start of a load to its end.
  struct LoadTicket: Sendable {
    fileprivate let startedAt: UInt64
  }

  private struct State {
    var answers: LeastRecentlyUsed<Key, HeldAnswer<Encoded>>
    var keysBySubject: [CustomerSubject: Set<Key>] = [:]
    /// Counts invalidations.
    var clock: UInt64 = 0
    var loadsUnderWay = 0
    /// When subjects were last changed, as long as loads are under way.
    var changedAt: [CustomerSubject: UInt64] = [:]
    /// Loads that started before this are taken as out of date.
    var floor: UInt64 = 0
    var statistics = CacheStatistics()
  }

  /// Subjects remembered while loads are under way; beyond it, all of these loads count as out of
  /// date, which costs a repeated load but no memory.
  private static var changedSubjectsLimit: Int { 10_000 }

  private let state: Mutex<State>
  private let size: @Sendable (Encoded) -> Int

  /// - Parameters:
  ///   - bytes: the bound on the sum of all answers' sizes with their bookkeeping.
  ///   - size: the bytes that an encoded answer occupies.
  init(bytes: Int, size: @escaping @Sendable (Encoded) -> Int) {
    state = Mutex(State(answers: LeastRecentlyUsed(costLimit: bytes)))
    self.size = size
  }

  var statistics: CacheStatistics {
    state.withLock { state in
      var statistics = state.statistics
      statistics.entries = state.answers.count
      statistics.bytes = state.answers.cost
      return statistics
    }
  }

  func answer(for key: Key, at now: Milliseconds) -> HeldAnswer<Encoded>? {
    state.withLock { state in
      guard let answer = state.answers.value(for: key) else { return nil }
      if let end = answer.validUntil, now >= end {
        Self.drop(key, from: &state)
        return nil
      }
      state.statistics.hits += 1
      return answer
    }
  }

  func loadStarted() -> LoadTicket {
    state.withLock { state in
      state.loadsUnderWay += 1
      return LoadTicket(startedAt: state.clock)
    }
  }

  /// Counts a read that must wait for the store, once: it may have looked here more than once.
  func missed() {
    state.withLock { $0.statistics.misses += 1 }
  }

  /// Counts a reader that waited for another's load.
  func loadJoined() {
    state.withLock { $0.statistics.joinedLoads += 1 }
  }

  /// Changes seen so far: a load that started at another count may be out of date.
  var clock: UInt64 { state.withLock { $0.clock } }

  /// Ends a load; keeps its answer unless its customer changed since the load began.
  func loadEnded(_ ticket: LoadTicket, key: Key, answer: HeldAnswer<Encoded>?) {
    state.withLock { state in
      state.loadsUnderWay -= 1
      defer { if state.loadsUnderWay == 0 { state.changedAt.removeAll() } }
      guard let answer, answer.subject != nil, ticket.startedAt >= state.floor else { return }
      let subjects = Self.subjects(of: key, answer)
      for subject in subjects {
        if let changedAt = state.changedAt[subject], changedAt > ticket.startedAt { return }
      }
      Self.drop(key, from: &state)
      let cost = size(answer.encoded) + Self.overhead
      let dropped = state.answers.insert(answer, for: key, cost: cost)
      guard cost <= state.answers.limit else { return }
      for subject in subjects { state.keysBySubject[subject, default: []].insert(key) }
      for (key, answer) in dropped {
        state.statistics.evictions += 1
        Self.forget(key, of: answer, in: &state)
      }
    }
  }

  /// Drops every answer of these customers.
  func changed(_ subjects: some Sequence<CustomerSubject>) {
    state.withLock { state in
      for subject in subjects {
        state.clock += 1
        if state.loadsUnderWay > 0 {
          if state.changedAt.count >= Self.changedSubjectsLimit {
            state.floor = state.clock
            state.changedAt.removeAll()
          }
          state.changedAt[subject] = state.clock
        }
        for key in state.keysBySubject[subject] ?? [] { Self.drop(key, from: &state) }
      }
    }
  }

  /// What a ``removeAll()`` took out, to be released without the lock.
  private struct Dropped: Sendable {
    let answers: LeastRecentlyUsed<Key, HeldAnswer<Encoded>>
    let keysBySubject: [CustomerSubject: Set<Key>]
  }

  /// Drops every answer; those that are being loaded are not kept.
  ///
  /// - Returns: what was dropped, for the caller to release when it holds no lock.
  func removeAll() -> some Sendable {
    state.withLock { state in
      let dropped = Dropped(answers: state.answers, keysBySubject: state.keysBySubject)
      state.clock += 1
      state.floor = state.clock
      state.changedAt.removeAll()
      state.answers.removeAll()
      state.keysBySubject = [:]
      return dropped
    }
  }

  /// About what one entry costs beside its bytes: two keys, the links and the look-up tables.
  private static var overhead: Int { 400 }

  /// Whose changes put an answer out of date: the customer that was found; and whoever the key
  /// names itself, if that is another one. An account that was merged into another, or a chain that
  /// an account has, may find somebody else after a change that names only itself.
  private static func subjects(of key: Key, _ answer: HeldAnswer<Encoded>) -> [CustomerSubject] {
    let found = answer.subject.map { [$0] } ?? []
    let named: CustomerSubject
    switch key.selector {
    case .account(let id): named = .account(key.scope, id)
    case .originalTransaction(let id): named = .unlinkedChain(key.scope, id)
    case .transaction, .appTransaction, .appAccountToken: return found
    }
    return answer.subject == named ? found : found + [named]
  }

  private static func drop(_ key: Key, from state: inout State) {
    guard let answer = state.answers.remove(key) else { return }
    forget(key, of: answer, in: &state)
  }

  private static func forget(
    _ key: Key, of answer: HeldAnswer<Encoded>, in state: inout State
  ) {
    for subject in subjects(of: key, answer) {
      state.keysBySubject[subject]?.remove(key)
      if state.keysBySubject[subject]?.isEmpty == true { state.keysBySubject[subject] = nil }
    }
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
