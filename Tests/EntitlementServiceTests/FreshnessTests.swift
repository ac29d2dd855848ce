import EntitlementDomain
import EntitlementStore
import NIOCore
import Testing

@testable import EntitlementService

/// The freshness that a reader requires of the store, which may read from a replica.
@Suite("Freshness")
struct FreshnessTests {
  private static let scope = AppScope(bundleID: "com.example.scribe", environment: .production)

  private let store = GatedStore()
  private let timer = MovableTimer()
  private let watermark: FeedWatermark
  private let reader: CustomerReader

  init() {
    let clock = MovableClock()
    let timer = timer.timer
    watermark = FeedWatermark(staleness: .seconds(5), timer: timer)
    reader = CustomerReader(
      store: store,
      catalog: CatalogHolder(
        Catalog(apps: [CatalogApp(bundleID: Self.scope.bundleID)]), clock: clock.clock),
      clock: clock.clock, watermark: watermark, cacheBytes: 1 << 20,
      limits: .forTests, encode: { EncodedState(ByteBuffer(string: "revision \($0.revision)")) })
  }

  private func query(_ consistency: Consistency = .minimizeLatency) -> CustomerQuery {
    CustomerQuery(selector: .account("a"), scope: Self.scope, consistency: consistency)
  }

  private func changes(_ latest: Int64) -> WrittenChanges {
    WrittenChanges(subjects: [.account(Self.scope, "a")], latest: latest)
  }

  private func follow(to position: Int64) {
    watermark.require(position)
    watermark.advance(to: position)
    watermark.recordPoll(begunAt: timer.timer.now())
  }

  @Test("Each consistency mode requires its freshness of the store")
  func modes() async throws {
    follow(to: 100)
    store.set(revision: 250)
    #expect(try await reader.answer(to: query()).revision == 250)
    store.set(revision: 300)
    #expect(try await reader.answer(to: query(.atLeastAsFresh(revision: 300))).revision == 300)
    // A revision below the followed position requires the followed position.
    reader.customersChanged(WrittenChanges(subjects: [.account(Self.scope, "a")], latest: 0))
    _ = try await reader.answer(to: query(.atLeastAsFresh(revision: 50)))
    _ = try await reader.answer(to: query(.fullyConsistent))
    #expect(
      store.freshness == [
        .includes(position: 100), .includes(position: 300), .includes(position: 100), .primary,
      ])
  }

  @Test("A node reads its own writes, even if its follower lags")
  func ownWrite() async throws {
    follow(to: 100)
    reader.customersChanged(changes(500))
    _ = try await reader.answer(to: query())
    #expect(store.freshness == [.includes(position: 500)])
    // A lower position does not replace the required one.
    reader.customersChanged(changes(400))
    _ = try await reader.answer(to: query())
    #expect(store.freshness.last == .includes(position: 500))
  }

  @Test("An answer of a lagging replica is not cached if its change arrives during the load")
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

  @Test("A node that is not current reads the primary, and counts the bypass")
  func notCurrent() async throws {
    follow(to: 100)
    _ = try await reader.answer(to: query())
    timer.advance(by: .seconds(5))
    #expect(reader.cachedAnswer(to: query()) != nil)
    timer.advance(by: .nanoseconds(1))
    #expect(reader.cachedAnswer(to: query()) == nil)
    _ = try await reader.answer(to: query())
    #expect(store.freshness == [.includes(position: 100), .primary])
    #expect(watermark.bypassCount == 1)
    follow(to: 100)
    #expect(reader.cachedAnswer(to: query()) != nil)
  }

  @Test("A revision below the followed position is accepted, also for a deleted account")
  func forgottenRevision() async throws {
    follow(to: 100)
    // The account was deleted, and its deletion is no longer in the feed.
    store.set(revision: 0)
    #expect(try await reader.answer(to: query(.atLeastAsFresh(revision: 100))).revision == 0)
    // The same holds for a batch.
    let batch = try await reader.answers(
      to: [.account("a"), .account("b")], in: Self.scope,
      consistency: .atLeastAsFresh(revision: 100))
    #expect(batch.map(\.revision) == [0, 0])
    // A revision above the followed position is not known.
    let error = await #expect(throws: ServiceError.self) {
      try await reader.answer(to: query(.atLeastAsFresh(revision: 101)))
    }
    #expect(error?.code == .unavailable)
  }

  @Test("A cached answer includes a change of the feed up to the followed position")
  func including() async throws {
    follow(to: 100)
    _ = try await reader.answer(to: .account("a"), in: Self.scope, including: 100)
    // The revision of the answer is lower, but the customer has not changed up to that position.
    #expect(store.reads == 1)
    _ = try await reader.answer(to: .account("a"), in: Self.scope, including: 100)
    #expect(store.reads == 1)
    _ = try await reader.answer(to: .account("a"), in: Self.scope, including: 101)
    #expect(store.freshness == [.includes(position: 100), .includes(position: 101)])
  }

  @Test("A load that may lack a required change of the feed is not joined")
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
