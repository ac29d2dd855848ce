import EntitlementDomain
import EntitlementStore
import NIOCore
import Testing

@testable import EntitlementService

/// How new the answers must be that a reader asks the store for, where copies of the database may
/// answer.
@Suite("Freshness")
struct FreshnessTests {
  private static let scope = AppScope(bundleID: "com.example.scribe", environment: .production)

  private let store = GatedStore()
  private let timer = MovableTimer()
  private let horizon: FeedHorizon
  private let reader: CustomerReader

  init() {
    let clock = MovableClock()
    let timer = timer.timer
    horizon = FeedHorizon(staleness: .seconds(5), timer: timer)
    reader = CustomerReader(
      store: store,
      catalog: CatalogHolder(
        Catalog(apps: [CatalogApp(bundleID: Self.scope.bundleID)]), clock: clock.clock),
      clock: clock.clock, horizon: horizon, cacheBytes: 1 << 20,
      limits: .forTests, encode: { ByteBuffer(string: "revision \($0.revision)") })
  }

  private func query(_ consistency: Consistency = .minimizeLatency) -> CustomerQuery {
    CustomerQuery(selector: .account("a"), scope: Self.scope, consistency: consistency)
  }

  private func changes(_ latest: Int64) -> WrittenChanges {
    WrittenChanges(subjects: [.account(Self.scope, "a")], latest: latest)
  }

  private func follow(to position: Int64) {
    horizon.require(position)
    horizon.followed(to: position)
    horizon.looked(at: timer.timer.now())
  }

  @Test("Each mode asks for what it promises")
  func modes() async throws {
    follow(to: 100)
    store.set(revision: 250)
    #expect(try await reader.answer(to: query()).revision == 250)
    store.set(revision: 300)
    #expect(try await reader.answer(to: query(.atLeastAsFresh(revision: 300))).revision == 300)
    // A lower revision than what is followed asks for no less.
    reader.customersChanged(WrittenChanges(subjects: [.account(Self.scope, "a")], latest: 0))
    _ = try await reader.answer(to: query(.atLeastAsFresh(revision: 50)))
    _ = try await reader.answer(to: query(.fullyConsistent))
    #expect(
      store.freshness == [
        .includes(position: 100), .includes(position: 300), .includes(position: 100), .primary,
      ])
  }

  @Test("Once a node has written, it reads its own write, however far its follower is")
  func ownWrite() async throws {
    follow(to: 100)
    reader.customersChanged(changes(500))
    _ = try await reader.answer(to: query())
    #expect(store.freshness == [.includes(position: 500)])
    // What was required is not forgotten for a lower number.
    reader.customersChanged(changes(400))
    _ = try await reader.answer(to: query())
    #expect(store.freshness.last == .includes(position: 500))
  }

  @Test("An answer of a copy that lags, loaded while its change arrives, is not kept")
  func overtaken() async throws {
    follow(to: 100)
    store.holdReads()
    async let early = reader.answer(to: query())
    await store.readsBegun(1)
    reader.customersChanged(changes(200))
    store.letReadsGo()
    _ = try await early
    #expect(reader.cachedAnswer(to: query()) == nil)
    _ = try await reader.answer(to: query())
    #expect(store.freshness == [.includes(position: 100), .includes(position: 200)])
    #expect(reader.cachedAnswer(to: query()) != nil)
  }

  @Test("Who does not know what others write asks the primary, and says so")
  func notCurrent() async throws {
    follow(to: 100)
    _ = try await reader.answer(to: query())
    timer.advance(by: .seconds(5))
    #expect(reader.cachedAnswer(to: query()) != nil)
    timer.advance(by: .nanoseconds(1))
    #expect(reader.cachedAnswer(to: query()) == nil)
    _ = try await reader.answer(to: query())
    #expect(store.freshness == [.includes(position: 100), .primary])
    #expect(horizon.bypassCount == 1)
    follow(to: 100)
    #expect(reader.cachedAnswer(to: query()) != nil)
  }

  @Test("A revision that lies behind is known, also of an account that has none any more")
  func forgottenRevision() async throws {
    follow(to: 100)
    // It was deleted, and the feed does not tell of it any more.
    store.set(revision: 0)
    #expect(try await reader.answer(to: query(.atLeastAsFresh(revision: 100))).revision == 0)
    // A batch is answered alike, though not every one of its customers has changed since.
    let batch = try await reader.answers(
      to: [.account("a"), .account("b")], in: Self.scope,
      consistency: .atLeastAsFresh(revision: 100))
    #expect(batch.map(\.revision) == [0, 0])
    // Not one that nobody here has heard of.
    let error = await #expect(throws: ServiceError.self) {
      try await reader.answer(to: query(.atLeastAsFresh(revision: 101)))
    }
    #expect(error?.code == .unavailable)
  }

  @Test(
    "With a change of the feed in it: held, once everything out of date was dropped up to there")
  func including() async throws {
    follow(to: 100)
    _ = try await reader.answer(to: .account("a"), in: Self.scope, including: 100)
    // Its revision is lower, but nothing of it has changed up to there.
    #expect(store.reads == 1)
    _ = try await reader.answer(to: .account("a"), in: Self.scope, including: 100)
    #expect(store.reads == 1)
    _ = try await reader.answer(to: .account("a"), in: Self.scope, including: 101)
    #expect(store.freshness == [.includes(position: 100), .includes(position: 101)])
  }

  @Test("A load that may lack a change of the feed is not joined for it")
  func notJoined() async throws {
    follow(to: 100)
    store.holdReads()
    async let early = reader.answer(to: query())
    await store.readsBegun(1)
    async let late = reader.answer(to: .account("a"), in: Self.scope, including: 101)
    await store.readsBegun(2)
    store.letReadsGo()
    _ = try await (early, late)
    #expect(store.freshness == [.includes(position: 100), .includes(position: 101)])
    #expect(reader.statistics.joinedLoads == 0)
  }
}
