import EntitlementDomain
import EntitlementService
import EntitlementStore
import NIOCore
import Synchronization
import Testing
import Workers

@Suite("Customer reader")
struct CustomerReaderTests {
  private static let scope = AppScope(bundleID: "com.example.scribe", environment: .production)

  private let store = GatedStore()
  private let now = MovableClock()

  private static func catalog(days: Int64 = 1) -> Catalog {
    Catalog(
      apps: [CatalogApp(bundleID: scope.bundleID)],
      products: [
        CatalogProduct(id: "season", kind: .nonRenewing, duration: CalendarDuration(days: days))
      ])
  }

  private func makeHolder() -> CatalogHolder { CatalogHolder(Self.catalog(), clock: now.clock) }

  private func makeReader(
    _ holder: CatalogHolder? = nil, permits: Int = 8
  ) -> CustomerReader {
    CustomerReader(
      store: store, catalog: holder ?? makeHolder(), clock: now.clock, cacheBytes: 1 << 20,
      limits: ReadLimits(permits: permits),
      encode: { EncodedState(ByteBuffer(string: "revision \($0.revision)")) })
  }

  private func query(
    _ id: AccountID = "a", _ consistency: Consistency = .minimizeLatency, at: Milliseconds? = nil
  ) -> CustomerQuery {
    CustomerQuery(selector: .account(id), scope: Self.scope, consistency: consistency, at: at)
  }

  @Test("The second answer comes from memory")
  func cached() async throws {
    let reader = makeReader()
    #expect(reader.cachedAnswer(to: query()) == nil)
    #expect(try await reader.answer(to: query()).text == "revision 1")
    #expect(reader.cachedAnswer(to: query())?.text == "revision 1")
    #expect(store.reads == 1)
  }

  @Test("An app or environment that the catalog does not name is an error, never NEW (R27)")
  func notServed() async throws {
    let reader = makeReader()
    let states = CustomerStates(store: store, catalog: makeHolder(), clock: now.clock)
    let scopes = [
      (AppScope(bundleID: "com.example.scribbe", environment: .production), "bundle_id"),
      (AppScope(bundleID: Self.scope.bundleID, environment: .xcode), "environment"),
    ]
    for (scope, field) in scopes {
      let error = await #expect(throws: ServiceError.self) {
        try await reader.answer(to: CustomerQuery(selector: .account("a"), scope: scope))
      }
      #expect(error?.code == .invalidArgument(field: field))
      await #expect(throws: ServiceError.self) {
        try await states.page(in: scope, after: nil, limit: 10)
      }
    }
    #expect(store.reads == 0)
  }

  @Test("The misses of a batch are one read of the store, and are cached")
  func batch() async throws {
    let reader = makeReader()
    _ = try await reader.answer(to: query("cached"))
    let selectors: [CustomerSelector] = [
      .account("a"), .account("cached"), .account("b"), .account("a"), .transaction("1"),
    ]
    store.set(revision: 2)
    let answers = try await reader.answers(to: selectors, in: Self.scope)
    #expect(
      answers.map(\.text)
        == ["revision 2", "revision 1", "revision 2", "revision 2", "revision 0"])
    #expect(store.reads == 2)
    #expect(reader.cachedAnswer(to: query("b"))?.text == "revision 2")
    _ = try await reader.answers(to: Array(selectors.dropLast()), in: Self.scope)
    #expect(store.reads == 2)
  }

  @Test("A customer that changes while its batch is loaded is not cached")
  func changedMeanwhile() async throws {
    let reader = makeReader()
    store.holdReads()
    async let answers = reader.answers(to: [.account("a"), .account("b")], in: Self.scope)
    await store.readsBegun(1)
    reader.customersChanged(
      WrittenChanges(subjects: [.account(Self.scope, "a")], latest: 2))
    store.letReadsGo()
    _ = try await answers
    #expect(reader.cachedAnswer(to: query("a")) == nil)
    #expect(reader.cachedAnswer(to: query("b")) != nil)
  }

  @Test("A batch fails if the read of one customer fails")
  func failedBatch() async throws {
    let reader = makeReader()
    func failure(
      _ selectors: [CustomerSelector], _ consistency: Consistency, in scope: AppScope = Self.scope
    ) async -> ServiceError.Code? {
      do {
        _ = try await reader.answers(to: selectors, in: scope, consistency: consistency)
        return nil
      } catch {
        return (error as? ServiceError)?.code
      }
    }
    #expect(await failure([.account("a")], .atLeastAsFresh(revision: 2)) == .unavailable)
    #expect(await failure([.account("a")], .atLeastAsFresh(revision: 1)) == nil)
    // As for a single query: the revision is checked only for selectors with cached answers.
    #expect(await failure([.transaction("1")], .atLeastAsFresh(revision: 2)) == nil)
    store.set(error: StoreError(.unavailable, "away"))
    #expect(await failure([.account("a"), .account("b")], .minimizeLatency) == .unavailable)
    let unserved = AppScope(bundleID: "com.example.scribbe", environment: .production)
    #expect(
      await failure([.account("a")], .minimizeLatency, in: unserved)
        == .invalidArgument(field: "bundle_id"))
  }

  @Test("Concurrent callers of one customer share a load")
  func joined() async throws {
    let reader = makeReader()
    store.holdReads()
    let answers = try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0..<50 {
        group.addTask { try await reader.answer(to: self.query()).text }
      }
      await store.readsBegun(1)
      store.letReadsGo()
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(answers == Array(repeating: "revision 1", count: 50))
    #expect(store.reads == 1)
  }

  /// A caller that records its result.
  private final class Caller: ReadWaiter {
    let source = WorkSource.server
    let isWaiting: Bool
    let eventLoop: (any EventLoop)? = nil
    private let received = Mutex<Result<CustomerAnswer, ServiceError>?>(nil)

    init(isWaiting: Bool = true) { self.isWaiting = isWaiting }

    var result: Result<CustomerAnswer, ServiceError>? { received.withLock { $0 } }

    func finish(_ result: Result<CustomerAnswer, ServiceError>) {
      received.withLock { $0 = result }
    }
  }

  @Test("A load in flight is joined if its answer is fresh enough")
  func joinedLoad() async throws {
    let reader = makeReader()
    store.holdReads()
    async let first = reader.answer(to: query())
    await store.readsBegun(1)
    let joined = Caller()
    #expect(try reader.answer(to: query(), orFinish: { joined }) == nil)
    #expect(reader.statistics.joinedLoads == 1)
    // The load in flight may not be fresh enough for these.
    for consistency in [Consistency.atLeastAsFresh(revision: 2), .fullyConsistent] {
      _ = try reader.answer(to: query("a", consistency), orFinish: { Caller() })
    }
    await store.readsBegun(3)
    store.set(revision: 2)
    reader.customersChanged(WrittenChanges(subjects: [.account(Self.scope, "a")], latest: 2))
    _ = try reader.answer(to: query(), orFinish: { Caller() })
    await store.readsBegun(4)
    #expect(reader.statistics.joinedLoads == 1)
    store.letReadsGo()
    #expect(try await first.text == "revision 1")
    while joined.result == nil { await Task.yield() }
    #expect(try joined.result?.get().text == "revision 1")
  }

  @Test("Every caller may join a load that has not begun, whatever freshness the caller asks for")
  func joinedBeforeItsTurn() async throws {
    let reader = makeReader(permits: 1)
    store.holdReads()
    async let other = reader.answer(to: query("other"))
    await store.readsBegun(1)
    async let first = reader.answer(to: query())
    while reader.readStatistics.waiting == 0 { await Task.yield() }
    store.set(revision: 7)
    reader.customersChanged(WrittenChanges(subjects: [.account(Self.scope, "a")], latest: 7))
    async let second = reader.answer(to: query("a", .atLeastAsFresh(revision: 7)))
    while reader.statistics.joinedLoads == 0 { await Task.yield() }
    store.letReadsGo()
    #expect(try await other.text == "revision 1")
    #expect(try await first.text == "revision 7")
    #expect(try await second.text == "revision 7")
    #expect(store.reads == 2)
  }

  @Test("Waiting reads share the next batch; a failed one does not fail the others")
  func sharedBatch() async throws {
    let reader = makeReader(permits: 1)
    store.holdReads()
    async let first = reader.answer(to: query("first"))
    await store.readsBegun(1)
    let callers = (0..<20).map { _ in Caller() }
    for (index, caller) in callers.enumerated() {
      _ = try reader.answer(to: query(AccountID("\(index)")), orFinish: { caller })
    }
    store.fail(account: "3")
    #expect(reader.readStatistics.waiting == 20)
    store.letReadsGo()
    _ = try await first
    while callers.contains(where: { $0.result == nil }) { await Task.yield() }
    // Batches of 1, 16 and 4.
    #expect(store.reads == 3)
    for (index, caller) in callers.enumerated() {
      switch caller.result {
      case .success: #expect(index != 3)
      case .failure(let error): #expect(index == 3 && error.code == .unavailable)
      case nil: break
      }
    }
  }

  @Test("A load without a waiting caller is not read")
  func unwanted() async throws {
    let reader = makeReader(permits: 1)
    store.holdReads()
    async let first = reader.answer(to: query("first"))
    await store.readsBegun(1)
    let gone = Caller(isWaiting: false)
    _ = try reader.answer(to: query("a"), orFinish: { gone })
    _ = try reader.answer(to: query("b"), orFinish: { gone })
    async let wanted = reader.answer(to: query("b"))
    while reader.statistics.joinedLoads == 0 { await Task.yield() }
    store.letReadsGo()
    _ = try await (first, wanted)
    #expect(store.lookups == 2)
    #expect(gone.result != nil)
    // A later read begins a new load.
    #expect(try await reader.answer(to: query("a")).text == "revision 1")
  }

  @Test("A read after a change does not join a load that began before it")
  func notJoinedAfterChange() async throws {
    let reader = makeReader()
    store.holdReads()
    async let early = reader.answer(to: query())
    await store.readsBegun(1)
    store.set(revision: 2)
    reader.customersChanged(WrittenChanges(subjects: [.account(Self.scope, "a")], latest: 2))
    async let late = reader.answer(to: query())
    await store.readsBegun(2)
    store.letReadsGo()
    #expect(try await early.text == "revision 1")
    #expect(try await late.text == "revision 2")
    #expect(reader.cachedAnswer(to: query())?.text == "revision 2")
  }

  @Test("AT_LEAST_AS_FRESH is answered from memory only if the answer is fresh enough")
  func atLeastAsFresh() async throws {
    let reader = makeReader()
    _ = try await reader.answer(to: query())
    #expect(reader.cachedAnswer(to: query("a", .atLeastAsFresh(revision: 1))) != nil)
    #expect(reader.cachedAnswer(to: query("a", .atLeastAsFresh(revision: 2))) == nil)
    store.set(revision: 3)
    #expect(
      try await reader.answer(to: query("a", .atLeastAsFresh(revision: 2))).revision == 3)
    let error = await #expect(throws: ServiceError.self) {
      try await reader.answer(to: query("a", .atLeastAsFresh(revision: 9)))
    }
    #expect(error?.code == .unavailable)
  }

  @Test("FULLY_CONSISTENT reads the store every time")
  func fullyConsistent() async throws {
    let reader = makeReader()
    _ = try await reader.answer(to: query("a", .fullyConsistent))
    _ = try await reader.answer(to: query("a", .fullyConsistent))
    #expect(store.reads == 2)
  }

  @Test("An answer for a given moment is neither read from the cache nor cached")
  func atMoment() async throws {
    let reader = makeReader()
    _ = try await reader.answer(to: query(at: 5))
    #expect(reader.cachedAnswer(to: query()) == nil)
    _ = try await reader.answer(to: query())
    #expect(reader.cachedAnswer(to: query(at: 5)) == nil)
  }

  @Test("A failure is not cached: the next read tries again")
  func failure() async throws {
    let reader = makeReader()
    store.set(error: StoreError(.unavailable, "busy"))
    let error = await #expect(throws: ServiceError.self) { try await reader.answer(to: query()) }
    #expect(error?.code == .unavailable)
    store.set(error: nil)
    #expect(try await reader.answer(to: query()).revision == 1)
  }

  private var purchase: Fact {
    var purchase = TransactionFact(
      bundleID: Self.scope.bundleID, environment: .production, originalTransactionID: "1",
      transactionID: "1", productID: "season", type: .nonRenewing, purchaseDate: 1_000,
      signedDate: 1_000, digest: PayloadDigest(words: (0, 0)))
    purchase.ownership = .purchased
    return .transaction(purchase)
  }

  @Test("An answer states whether time has changed it since its revision")
  func unchangedSinceRevision() async throws {
    let reader = makeReader()
    store.set(facts: [purchase], changedAt: 2_000)
    now.set(3_000)
    #expect(try await reader.answer(to: query()).isUnchangedSinceRevision)
    // A day later the purchase has ended: the same revision has another state.
    now.set(86_401_000)
    #expect(reader.cachedAnswer(to: query()) == nil)
    #expect(try await !reader.answer(to: query()).isUnchangedSinceRevision)
  }

  @Test("A revision older than the catalog in force may have had another answer")
  func changedByCatalog() async throws {
    store.set(facts: [purchase], changedAt: 2_000)
    now.set(2_001)
    let later = makeReader()
    now.set(3_000)
    #expect(try await !later.answer(to: query()).isUnchangedSinceRevision)
    // A revision committed under this catalog was answered with this catalog only.
    store.set(facts: [purchase], changedAt: 2_001)
    later.customersChanged(WrittenChanges(subjects: [.account(Self.scope, "a")], latest: 2))
    #expect(try await later.answer(to: query()).isUnchangedSinceRevision)
  }

  @Test("A new catalog in force drops the cached answers")
  func replaced() async throws {
    let holder = makeHolder()
    let reader = CustomerReader(
      store: store, catalog: holder, clock: now.clock, cacheBytes: 1 << 20,
      limits: .forTests, encode: { EncodedState(ByteBuffer(string: "\($0.coreState)")) })
    store.set(facts: [purchase], changedAt: 1_000)
    now.set(Milliseconds(1_000 + 2 * Milliseconds.dayLength))
    #expect(try await reader.answer(to: query()).text == "inactive")
    #expect(reader.cachedAnswer(to: query()) != nil)
    holder.replace(with: Self.catalog(days: 3))
    #expect(reader.cachedAnswer(to: query()) == nil)
    #expect(reader.statistics.entries == 0)
    #expect(try await reader.answer(to: query()).text == "active")
    #expect(reader.cachedAnswer(to: query())?.text == "active")
  }

  @Test("A load in flight when the catalog is replaced is neither joined nor cached")
  func replacedMeanwhile() async throws {
    let holder = makeHolder()
    let reader = makeReader(holder)
    store.holdReads()
    async let early = reader.answer(to: query())
    await store.readsBegun(1)
    holder.replace(with: Self.catalog(days: 3))
    async let late = reader.answer(to: query("a"))
    await store.readsBegun(2)
    store.letReadsGo()
    _ = try await (early, late)
    #expect(reader.statistics.joinedLoads == 0)
    #expect(reader.statistics.entries == 1)

    // Without a later read, no answer is cached.
    store.holdReads()
    async let alone = reader.answer(to: query("b"))
    await store.readsBegun(3)
    holder.replace(with: Self.catalog(days: 4))
    store.letReadsGo()
    _ = try await alone
    #expect(reader.cachedAnswer(to: query("b")) == nil)
  }

  @Test("A load fails if the catalog is replaced by one without its app")
  func appGone() async throws {
    let holder = makeHolder()
    let reader = makeReader(holder)
    store.holdReads()
    async let answer = reader.answer(to: query())
    await store.readsBegun(1)
    holder.replace(with: Catalog())
    store.letReadsGo()
    do {
      _ = try await answer
      Issue.record("the catalog in force does not name the app")
    } catch let error as ServiceError {
      #expect(error.code == .invalidArgument(field: "bundle_id"))
    }
    #expect(reader.statistics.entries == 0)
  }

  @Test("A new catalog ends NOT_MODIFIED for earlier revisions, also of the same millisecond")
  func notModifiedAcrossCatalogs() async throws {
    let holder = makeHolder()
    let reader = makeReader(holder)
    now.set(2_000)
    store.set(facts: [purchase], changedAt: 2_000)
    #expect(try await reader.answer(to: query()).isUnchangedSinceRevision)
    // The clock does not advance: the commit and both catalogs have the same millisecond.
    for days: Int64 in 2...3 {
      holder.replace(with: Self.catalog(days: days))
      #expect(try await !reader.answer(to: query()).isUnchangedSinceRevision)
    }
    #expect(holder.snapshot.inForceSince == 2_002)
    now.set(2_003)
    store.set(facts: [purchase], changedAt: 2_003)
    reader.customersChanged(WrittenChanges(subjects: [.account(Self.scope, "a")], latest: 2))
    #expect(try await reader.answer(to: query()).isUnchangedSinceRevision)
  }
}
