import EntitlementDomain
import EntitlementService
import EntitlementStore
import NIOCore
import NIOPosix
import Synchronization
import Testing
import Workers

@Suite("Reads on event loops", .timeLimit(.minutes(1)))
struct EventLoopReadTests {
  private static let scope = AppScope(bundleID: "com.example.scribe", environment: .production)

  private let store = GatedStore()
  private let now = MovableClock()
  /// Whether each state was encoded on an event loop.
  private let encodings = Encodings()

  private final class Encodings: Sendable {
    let onEventLoop = Mutex<[Bool]>([])
  }

  /// Succeeds with whether it was answered on its event loop.
  private final class Caller: ReadWaiter {
    let source = WorkSource.server
    let eventLoop: (any EventLoop)?
    let isWaiting = true
    private let answered: EventLoopPromise<Bool>

    init(on eventLoop: any EventLoop) {
      self.eventLoop = eventLoop
      answered = eventLoop.makePromise()
    }

    func finish(_ result: Result<CustomerAnswer, ServiceError>) {
      let isOnLoop = eventLoop?.inEventLoop ?? false
      answered.completeWith(Result { try result.map { _ in isOnLoop }.get() })
    }

    func isAnsweredOnItsLoop() async throws -> Bool { try await answered.futureResult.get() }
  }

  private func makeReader() -> CustomerReader {
    let catalog = Catalog(
      apps: [CatalogApp(bundleID: Self.scope.bundleID)])
    return CustomerReader(
      store: store, catalog: CatalogHolder(catalog, clock: now.clock), clock: now.clock,
      cacheBytes: 1 << 20, limits: ReadLimits(permits: 8),
      encode: { [encodings] state in
        encodings.onEventLoop.withLock {
          $0.append(MultiThreadedEventLoopGroup.currentEventLoop != nil)
        }
        return EncodedState(ByteBuffer(string: "revision \(state.revision)"))
      })
  }

  private func read(_ ids: [AccountID], on eventLoop: any EventLoop, with reader: CustomerReader)
    async throws -> [Caller]
  {
    try await eventLoop.submit {
      try ids.map { id in
        let caller = Caller(on: eventLoop)
        let cached = try reader.answer(
          to: CustomerQuery(selector: .account(id), scope: Self.scope), orFinish: { caller })
        #expect(cached == nil)
        return caller
      }
    }.get()
  }

  @Test("Reads of one turn share a batch, which runs on their event loop")
  func turn() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let reader = makeReader()
    for caller in try await read(["a", "b", "c"], on: group.next(), with: reader) {
      #expect(try await caller.isAnsweredOnItsLoop())
    }
    #expect(store.reads == 1)
    #expect(store.lookups == 3)
    #expect(encodings.onEventLoop.withLock { $0 } == [true, true, true])
    try await group.shutdownGracefully()
  }

  @Test("A caller that joins a load is answered on its own event loop")
  func joined() async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)
    let reader = makeReader()
    store.holdReads()
    let first = try await read(["a"], on: group.next(), with: reader)
    await store.readsBegun(1)
    let second = try await read(["a"], on: group.next(), with: reader)
    store.letReadsGo()
    for caller in first + second { #expect(try await caller.isAnsweredOnItsLoop()) }
    #expect(store.reads == 1)
    try await group.shutdownGracefully()
  }

  @Test("States of many facts are computed off the event loop", arguments: [511, 512])
  func manyFacts(count: Int) async throws {
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    let facts = (0..<count).map { index in
      Fact.transaction(
        TransactionFact(
          bundleID: "com.example.scribe", environment: .production, originalTransactionID: "1",
          transactionID: TransactionID("\(index)"), productID: "p", type: .consumable,
          purchaseDate: 1, signedDate: 1, digest: PayloadDigest(words: (1, 2))))
    }
    store.set(facts: facts, changedAt: 1)
    let caller = try await read(["a"], on: group.next(), with: makeReader())[0]
    #expect(try await caller.isAnsweredOnItsLoop())
    #expect(encodings.onEventLoop.withLock { $0 } == [count < EvaluationPool.factsInPlace])
    try await group.shutdownGracefully()
  }
}
