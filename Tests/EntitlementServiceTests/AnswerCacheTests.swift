import EntitlementDomain
import EntitlementStore
import Testing

@testable import EntitlementService

@Suite("Answers in memory")
struct AnswerCacheTests {
  private static let scope = AppScope(bundleID: "com.example.scribe", environment: .production)

  private typealias Cache = AnswerCache<String>

  private func key(_ id: AccountID) -> Cache.Key {
    Cache.Key(subject(id))
  }

  private func subject(_ id: AccountID) -> CustomerSubject { .account(Self.scope, id) }

  private func answer(
    _ text: String, of id: AccountID, validUntil: Milliseconds? = nil
  ) -> HeldAnswer<String> {
    HeldAnswer(
      encoded: text, revision: 1, validUntil: validUntil, isUnchangedSinceRevision: true,
      subject: subject(id))
  }

  private func cache(bytes: Int = 1 << 20) -> Cache {
    Cache(bytes: bytes, size: { $0.utf8.count })
  }

  private func load(_ text: String, of id: AccountID, into cache: Cache) {
    cache.loadEnded(cache.loadStarted(), key: key(id), answer: answer(text, of: id))
  }

  @Test("R30: an answer is served before its next transition, and never at or after it")
  func transition() {
    let cache = cache()
    let ticket = cache.loadStarted()
    cache.loadEnded(ticket, key: key("a"), answer: answer("x", of: "a", validUntil: 1_000))
    #expect(cache.answer(for: key("a"), at: 999)?.encoded == "x")
    #expect(cache.answer(for: key("a"), at: 1_000) == nil)
    // It was dropped, not only passed over.
    #expect(cache.statistics.entries == 0)
    #expect(cache.statistics.bytes == 0)
  }

  @Test("A question in the bytes of a request finds what its key finds, and nothing else")
  func bytes() {
    let cache = cache()
    load("x", of: "a", into: cache)
    load("y", of: "a-longer-account-id", into: cache)
    let chain = CustomerSubject.unlinkedChain(Self.scope, "a")
    let key = Cache.Key(chain)
    cache.loadEnded(
      cache.loadStarted(), key: key,
      answer: HeldAnswer(
        encoded: "z", revision: 1, validUntil: nil, isUnchangedSinceRevision: true, subject: chain))
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

  @Test("R30: nor is it served at or after its next transition to a question in bytes")
  func transitionOfBytes() {
    let cache = cache()
    cache.loadEnded(
      cache.loadStarted(), key: key("a"), answer: answer("x", of: "a", validUntil: 1_000))
    #expect(found("a", at: 999, in: cache) == "x")
    #expect(found("a", at: 1_000, in: cache) == nil)
    #expect(cache.statistics.hits == 1)
  }

  private func found(
    _ id: String, isChain: Bool = false, bundleID: String = "com.example.scribe",
    environment: StoreEnvironment = .production, at now: Milliseconds = 0, in cache: Cache
  ) -> String? {
    Array(id.utf8).withUnsafeBytes { id in
      Array(bundleID.utf8).withUnsafeBytes { bundleID in
        let question =
          isChain
          ? QuestionBytes(originalTransaction: id, bundleID: bundleID, environment: environment)
          : QuestionBytes(account: id, bundleID: bundleID, environment: environment)
        return cache.answer(for: question, ServiceClock { now })?.encoded
      }
    }
  }

  @Test("A change drops the answers of its customer, and no others")
  func change() {
    let cache = cache()
    load("x", of: "a", into: cache)
    load("y", of: "b", into: cache)
    cache.changed([subject("a")])
    #expect(cache.answer(for: key("a"), at: 0) == nil)
    #expect(cache.answer(for: key("b"), at: 0)?.encoded == "y")
  }

  @Test("An answer whose customer changed while it was loaded is not kept")
  func changedMeanwhile() {
    let cache = cache()
    let early = cache.loadStarted()
    let other = cache.loadStarted()
    cache.changed([subject("a")])
    let late = cache.loadStarted()
    cache.loadEnded(early, key: key("a"), answer: answer("old", of: "a"))
    #expect(cache.answer(for: key("a"), at: 0) == nil)
    cache.loadEnded(other, key: key("b"), answer: answer("b", of: "b"))
    #expect(cache.answer(for: key("b"), at: 0)?.encoded == "b")
    cache.loadEnded(late, key: key("a"), answer: answer("new", of: "a"))
    #expect(cache.answer(for: key("a"), at: 0)?.encoded == "new")
  }

  @Test("More changes than are remembered make every load under way out of date")
  func manyChanges() {
    let cache = cache()
    let early = cache.loadStarted()
    cache.changed((0...10_000).map { subject(AccountID("x\($0)")) })
    cache.loadEnded(early, key: key("a"), answer: answer("old", of: "a"))
    #expect(cache.answer(for: key("a"), at: 0) == nil)
    load("new", of: "a", into: cache)
    #expect(cache.answer(for: key("a"), at: 0)?.encoded == "new")
  }

  @Test("The bytes are bounded; what was used last stays")
  func bounded() {
    let cache = cache(bytes: 2_000)
    let large = String(repeating: "x", count: 300)
    load(large, of: "a", into: cache)
    load(large, of: "b", into: cache)
    _ = cache.answer(for: key("a"), at: 0)
    load(large, of: "c", into: cache)
    #expect(cache.answer(for: key("a"), at: 0) != nil)
    #expect(cache.answer(for: key("b"), at: 0) == nil)
    #expect(cache.statistics.evictions == 1)
    #expect(cache.statistics.bytes <= 2_000)
    // One that could never fit drops nothing.
    load(String(repeating: "x", count: 3_000), of: "d", into: cache)
    #expect(cache.statistics.entries == 2)
  }

  @Test("An answer that depends on more than one customer is not held")
  func withoutSubject() {
    let cache = cache()
    let answer = HeldAnswer(
      encoded: "x", revision: 1, validUntil: nil, isUnchangedSinceRevision: true, subject: nil)
    cache.loadEnded(cache.loadStarted(), key: key("a"), answer: answer)
    #expect(cache.answer(for: key("a"), at: 0) == nil)
  }

  @Test("An answer goes with a change of the customer found, and of whoever its question names")
  func otherSubject() {
    let cache = cache()
    let chain = CustomerSubject.unlinkedChain(Self.scope, "c")
    for changed in [subject("owner"), chain] {
      cache.loadEnded(
        cache.loadStarted(), key: Cache.Key(chain), answer: answer("x", of: "owner"))
      load("y", of: "c", into: cache)
      cache.changed([subject("other"), .unlinkedChain(Self.scope, "other")])
      #expect(cache.answer(for: Cache.Key(chain), at: 0)?.encoded == "x")
      cache.changed([changed])
      #expect(cache.answer(for: Cache.Key(chain), at: 0) == nil)
      // The account has the same id as the chain.
      #expect(cache.answer(for: key("c"), at: 0)?.encoded == "y")
    }
    #expect(Cache.Key(selector: .transaction("t"), scope: Self.scope) == nil)
  }

  @Test("Hits and misses are counted")
  func counted() {
    let cache = cache()
    // Who looks twice before it waits for the store has missed once.
    for _ in 0..<2 { #expect(cache.answer(for: key("a"), at: 0) == nil) }
    #expect(cache.statistics.misses == 0)
    cache.missed()
    load("x", of: "a", into: cache)
    _ = cache.answer(for: key("a"), at: 0)
    #expect(cache.statistics.hits == 1)
    #expect(cache.statistics.misses == 1)
  }
}
