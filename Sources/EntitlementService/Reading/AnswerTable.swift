import EntitlementDomain
import EntitlementStore
import Synchronization

/// The table behind ``AnswerCache``: answers by their questions, the least recently used go first.
///
/// It knows nothing of what an answer carries, so that a look-up is compiled for its types; code that
/// is generic over them would ask the runtime for them at every step.
final class AnswerTable: Sendable {
  typealias Key = AnswerKey

  /// Passed from the start of a load to its end.
  struct LoadTicket: Sendable {
    fileprivate let startedAt: UInt64
  }

  private struct State {
    var answers: LeastRecentlyUsed<Key, AnswerTerms>
    /// The keys of answers about each subject, beside the key that names the subject itself: those
    /// are few.
    var otherKeys: [CustomerSubject: Set<Key>] = [:]
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
  private static let changedSubjectsLimit = 10_000

  /// About what one entry costs beside its bytes: keys, terms, links and the look-up table.
  static let overhead = 400

  private let state: Mutex<State>

  /// - Parameter bytes: the bound on the sum of all costs.
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

  func answer(for key: Key, at now: Milliseconds) -> AnswerTerms? {
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

  /// The same for a question that was not taken out of its request. An answer that is out of date stays,
  /// for the look-up by key that follows.
  func answer(for question: QuestionBytes, _ clock: ServiceClock) -> AnswerTerms? {
    let hash = question.hash
    return state.withLock { state in
      let answer = state.answers.value(hash: hash) { question.isAsked(by: $0) }
      guard let answer else { return nil }
      if let end = answer.validUntil, clock.now() >= end { return nil }
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
  ///
  /// - Parameter cost: the bytes that the answer occupies, with ``overhead``.
  func loadEnded(_ ticket: LoadTicket, key: Key, answer: AnswerTerms?, cost: Int) {
    state.withLock { state in
      state.loadsUnderWay -= 1
      defer { if state.loadsUnderWay == 0 { state.changedAt.removeAll() } }
      guard let answer, let subject = answer.subject, ticket.startedAt >= state.floor else {
        return
      }
      let subjects = key.named == subject ? [subject] : [subject, key.named]
      for subject in subjects {
        if let changedAt = state.changedAt[subject], changedAt > ticket.startedAt { return }
      }
      Self.drop(key, from: &state)
      let dropped = state.answers.insert(answer, for: key, cost: cost)
      guard cost <= state.answers.limit else { return }
      if key.named != subject { state.otherKeys[subject, default: []].insert(key) }
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
        // Whoever the key names itself is concerned, too: an account that was merged into another,
        // or a chain that an account has, may find somebody else after a change that names only
        // itself.
        Self.drop(Key(subject), from: &state)
        for key in state.otherKeys[subject] ?? [] { Self.drop(key, from: &state) }
      }
    }
  }

  /// What a ``removeAll()`` took out, to be released without the lock.
  private struct Dropped: Sendable {
    let answers: LeastRecentlyUsed<Key, AnswerTerms>
    let otherKeys: [CustomerSubject: Set<Key>]
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

  private static func drop(_ key: Key, from state: inout State) {
    guard let answer = state.answers.remove(key) else { return }
    forget(key, of: answer, in: &state)
  }

  private static func forget(_ key: Key, of answer: AnswerTerms, in state: inout State) {
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
