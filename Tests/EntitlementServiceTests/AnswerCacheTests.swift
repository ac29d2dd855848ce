import EntitlementDomain
import EntitlementStore
import NIOCore
import Testing
import Workers

@testable import EntitlementService

@Suite("Answer cache")
struct AnswerCacheTests {
  private static let scope = AppScope(bundleID: "com.example.scribe", environment: .production)

  private func key(_ id: AccountID) -> AnswerKey {
    AnswerKey(subject(id))
  }

  private func subject(_ id: AccountID) -> CustomerSubject { .account(Self.scope, id) }

  private func answer(
    _ text: String, of id: AccountID, at evaluatedAt: Milliseconds = 0,
    validUntil: Milliseconds? = nil
  ) -> EvaluatedAnswer {
    EvaluatedAnswer(
      encoded: EncodedState(ByteBuffer(string: text)), revision: 1, evaluatedAt: evaluatedAt,
      validUntil: validUntil, isUnchangedSinceRevision: true, subject: subject(id))
  }

  private func makeCache(bytes: Int = 1 << 20) -> AnswerCache { AnswerCache(bytes: bytes) }

  private func load(_ text: String, of id: AccountID, into cache: AnswerCache) {
    load(for: key(id), into: cache, answer(text, of: id))
  }

  private final class Caller: ReadWaiter {
    let source = WorkSource.server
    let isWaiting = true
    let eventLoop: (any EventLoop)? = nil
    func finish(_ result: Result<CustomerAnswer, ServiceError>) {}
  }

  /// A load that has begun to read the store.
  private func begun(_ key: AnswerKey, in cache: AnswerCache) -> CustomerLoad {
    let query = CustomerQuery(selector: .account("a"), scope: Self.scope)
    let lookup = cache.lookup(
      query, key: key, AnswerCache.Terms(allowsCached: false), revision: nil, at: 0, { Caller() })
    guard case .begun(let load) = lookup else { preconditionFailure("a load is in flight") }
    _ = cache.loadsBegan([load], required: .min, followed: .min)
    return load
  }

  private func load(for key: AnswerKey, into cache: AnswerCache, _ answer: EvaluatedAnswer) {
    _ = cache.loadsEnded([(begun(key, in: cache), answer)])
  }

  @Test("R30: an answer is served only before its next transition")
  func transition() {
    let cache = makeCache()
    load(for: key("a"), into: cache, answer("x", of: "a", validUntil: 1_000))
    #expect(cache.answer(for: key("a"), at: 999)?.text == "x")
    #expect(cache.answer(for: key("a"), at: 1_000) == nil)
    // The answer was removed, not only skipped.
    #expect(cache.statistics.entries == 0)
    #expect(cache.statistics.bytes == 0)
  }

  @Test("A cached answer has the moment of its look-up, which does not go back (R30)")
  func moment() {
    let cache = makeCache()
    load(for: key("a"), into: cache, answer("x", of: "a", at: 500, validUntil: 1_000))
    for (now, moment): (Milliseconds, Milliseconds) in [(500, 500), (999, 999), (499, 500)] {
      #expect(cache.answer(for: key("a"), at: now)?.moment == moment)
      let bytes = Array("a".utf8)
      let bundleID = Array(Self.scope.bundleID.rawValue.utf8)
      bytes.withUnsafeBytes { bytes in
        bundleID.withUnsafeBytes { bundleID in
          let query = QueryBytes(account: bytes, bundleID: bundleID, environment: .production)
          #expect(cache.answer(for: query, ServiceClock { now })?.moment == moment)
        }
      }
    }
    // A load that ends when its state is no longer valid is told as it was computed.
    let late = answer("x", of: "a", at: 500, validUntil: 1_000)
    #expect(CustomerAnswer(late, at: 1_000).moment == 500)
    #expect(CustomerAnswer(late, at: 700).moment == 700)
    #expect(CustomerAnswer(late).moment == 500)
  }

  @Test("A query by the bytes of a request finds the same answers as its key")
  func bytes() {
    let cache = makeCache()
    load("x", of: "a", into: cache)
    load("y", of: "a-longer-account-id", into: cache)
    let chain = CustomerSubject.unlinkedChain(Self.scope, "a")
    let key = AnswerKey(chain)
    load(
      for: key, into: cache,
      EvaluatedAnswer(
        encoded: EncodedState(ByteBuffer(string: "z")), revision: 1, evaluatedAt: 0,
        validUntil: nil,
        isUnchangedSinceRevision: true, subject: chain))
    #expect(found("a", in: cache) == "x")
    #expect(found("a-longer-account-id", in: cache) == "y")
    #expect(found("a", isChain: true, in: cache) == "z")
    #expect(found("b", in: cache) == nil)
    #expect(found("a-longer-account-iD", in: cache) == nil)
    #expect(found("a", bundleID: "com.example.scribf", in: cache) == nil)
    #expect(found("a", bundleID: "com.example.scribe2", in: cache) == nil)
    #expect(found("a", environment: .sandbox, in: cache) == nil)
    #expect(cache.statistics.hits == 3)
    cache.changed([subject("a")])
    #expect(found("a", in: cache) == nil)
  }

  @Test("R30: a query by bytes finds an answer only before its next transition")
  func transitionOfBytes() {
    let cache = makeCache()
    load(for: key("a"), into: cache, answer("x", of: "a", validUntil: 1_000))
    #expect(found("a", at: 999, in: cache) == "x")
    #expect(found("a", at: 1_000, in: cache) == nil)
    #expect(cache.statistics.hits == 1)
  }

  private func found(
    _ id: String, isChain: Bool = false, bundleID: String = "com.example.scribe",
    environment: StoreEnvironment = .production, at now: Milliseconds = 0, in cache: AnswerCache
  ) -> String? {
    Array(id.utf8).withUnsafeBytes { id in
      Array(bundleID.utf8).withUnsafeBytes { bundleID in
        let query =
          isChain
          ? QueryBytes(originalTransaction: id, bundleID: bundleID, environment: environment)
          : QueryBytes(account: id, bundleID: bundleID, environment: environment)
        return cache.answer(for: query, ServiceClock { now })?.text
      }
    }
  }

  @Test("A change invalidates the answers about its customer only")
  func change() {
    let cache = makeCache()
    load("x", of: "a", into: cache)
    load("y", of: "b", into: cache)
    cache.changed([subject("a")])
    #expect(cache.answer(for: key("a"), at: 0) == nil)
    #expect(cache.answer(for: key("b"), at: 0)?.text == "y")
  }

  @Test("An answer is not cached if its customer changed during the load")
  func changedMeanwhile() {
    let cache = makeCache()
    let early = begun(key("a"), in: cache)
    let other = begun(key("b"), in: cache)
    cache.changed([subject("a")])
    let late = begun(key("a"), in: cache)
    _ = cache.loadsEnded([(early, answer("old", of: "a"))])
    #expect(cache.answer(for: key("a"), at: 0) == nil)
    _ = cache.loadsEnded([(other, answer("b", of: "b"))])
    #expect(cache.answer(for: key("b"), at: 0)?.text == "b")
    _ = cache.loadsEnded([(late, answer("new", of: "a"))])
    #expect(cache.answer(for: key("a"), at: 0)?.text == "new")
  }

  @Test("Beyond the limit of recorded changes, no answer of a load in flight is cached")
  func manyChanges() {
    let cache = makeCache()
    let early = begun(key("a"), in: cache)
    cache.changed((0...10_000).map { subject(AccountID("x\($0)")) })
    _ = cache.loadsEnded([(early, answer("old", of: "a"))])
    #expect(cache.answer(for: key("a"), at: 0) == nil)
    load("new", of: "a", into: cache)
    #expect(cache.answer(for: key("a"), at: 0)?.text == "new")
  }

  @Test("The size is bounded, and the least recently used answer is evicted")
  func bounded() {
    let cache = makeCache(bytes: 2_000)
    let large = String(repeating: "x", count: 300)
    load(large, of: "a", into: cache)
    load(large, of: "b", into: cache)
    _ = cache.answer(for: key("a"), at: 0)
    load(large, of: "c", into: cache)
    #expect(cache.answer(for: key("a"), at: 0) != nil)
    #expect(cache.answer(for: key("b"), at: 0) == nil)
    #expect(cache.statistics.evictions == 1)
    #expect(cache.statistics.bytes <= 2_000)
    // An answer above the limit evicts nothing.
    load(String(repeating: "x", count: 3_000), of: "d", into: cache)
    #expect(cache.statistics.entries == 2)
  }

  @Test("An answer without a subject is not cached")
  func withoutSubject() {
    let cache = makeCache()
    let answer = EvaluatedAnswer(
      encoded: EncodedState(ByteBuffer(string: "x")), revision: 1, evaluatedAt: 0, validUntil: nil,
      isUnchangedSinceRevision: true, subject: nil)
    load(for: key("a"), into: cache, answer)
    #expect(cache.answer(for: key("a"), at: 0) == nil)
  }

  @Test("A change of the customer found, or of the subject that the key names, drops the answer")
  func otherSubject() {
    let cache = makeCache()
    let chain = CustomerSubject.unlinkedChain(Self.scope, "c")
    for changed in [subject("owner"), chain] {
      load(for: AnswerKey(chain), into: cache, answer("x", of: "owner"))
      load("y", of: "c", into: cache)
      cache.changed([subject("other"), .unlinkedChain(Self.scope, "other")])
      #expect(cache.answer(for: AnswerKey(chain), at: 0)?.text == "x")
      cache.changed([changed])
      #expect(cache.answer(for: AnswerKey(chain), at: 0) == nil)
      // The account has the same id as the chain.
      #expect(cache.answer(for: key("c"), at: 0)?.text == "y")
    }
    #expect(AnswerKey(selector: .transaction("t"), scope: Self.scope) == nil)
  }

  @Test("Hits, misses and joined loads are counted")
  func counted() {
    let cache = makeCache()
    #expect(cache.answer(for: key("a"), at: 0) == nil)
    #expect(cache.statistics.misses == 0)
    let first = begun(key("a"), in: cache)
    let query = CustomerQuery(selector: .account("a"), scope: Self.scope)
    guard
      case .joined = cache.lookup(
        query, key: key("a"), AnswerCache.Terms(), revision: nil, at: 0, { Caller() })
    else {
      Issue.record("the load in flight was not joined")
      return
    }
    let ended = cache.loadsEnded([(first, answer("x", of: "a"))])
    #expect(ended.map(\.waiters.count) == [2])
    _ = cache.answer(for: key("a"), at: 0)
    #expect(cache.statistics.hits == 1)
    #expect(cache.statistics.misses == 2)
    #expect(cache.statistics.joinedLoads == 1)
  }
}

extension AnswerCache {
  fileprivate func answer(for key: AnswerKey, at now: Milliseconds) -> CustomerAnswer? {
    answer(for: key, Terms(), at: now)
  }
}
