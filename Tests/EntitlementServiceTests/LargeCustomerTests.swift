import AppStorePayloads
import Dispatch
import EntitlementDomain
import EntitlementService
import EntitlementStore
import Logging
import NIOCore
import NIOPosix
import SQLiteStore
import StoreSimulator
import Synchronization
import TestSupport
import Testing
import Verification
import Workers

/// Customers with thousands of subscriptions in a real store, whose states are computed on a pool
/// with one thread.
@Suite("Large customers", .timeLimit(.minutes(20)))
struct LargeCustomerTests {
  private static let scope = AppScope(bundleID: SimulatedApp.bundleID, environment: .production)
  private static let chains = 2_000
  private static let large: [AccountID] = (0..<6).map { AccountID("large-\($0)") }

  /// Records where states are encoded, and can stop there.
  private final class Encodings: Sendable {
    private struct State {
      var running = 0
      var mostAtOnce = 0
      var onEventLoop = 0
      var order: [AccountID] = []
      var isHeld = false
    }

    private let state = Mutex(State())
    private let gate = DispatchSemaphore(value: 0)

    /// States of large customers are encoded one after the other, each after a ``next()``.
    func hold() { state.withLock { $0.isHeld = true } }
    func next() { gate.signal() }
    func release() {
      state.withLock { $0.isHeld = false }
      for _ in 0..<100 { gate.signal() }
    }

    @Sendable
    func encode(_ customer: CustomerState) throws(ServiceError) -> EncodedState {
      guard let account = customer.accountID, LargeCustomerTests.large.contains(account) else {
        return try StateCoding.encode(customer)
      }
      let isHeld = state.withLock { state in
        state.running += 1
        state.mostAtOnce = max(state.mostAtOnce, state.running)
        state.order.append(account)
        if MultiThreadedEventLoopGroup.currentEventLoop != nil { state.onEventLoop += 1 }
        return state.isHeld
      }
      if isHeld { gate.wait() }
      defer { state.withLock { $0.running -= 1 } }
      return try StateCoding.encode(customer)
    }

    var order: [AccountID] { state.withLock { $0.order } }
    var mostAtOnce: Int { state.withLock { $0.mostAtOnce } }
    var onEventLoop: Int { state.withLock { $0.onEventLoop } }
  }

  private final class Caller: ReadWaiter {
    let source: WorkSource
    let eventLoop: (any EventLoop)?
    private let state = Mutex<(isWaiting: Bool, result: Result<CustomerAnswer, ServiceError>?)>(
      (true, nil))

    init(_ source: WorkSource, on eventLoop: (any EventLoop)?) {
      self.source = source
      self.eventLoop = eventLoop
    }

    var isWaiting: Bool { state.withLock { $0.isWaiting } }
    var result: Result<CustomerAnswer, ServiceError>? { state.withLock { $0.result } }

    func leave() { state.withLock { $0.isWaiting = false } }
    func finish(_ result: Result<CustomerAnswer, ServiceError>) {
      state.withLock { $0.result = result }
    }
  }

  private struct Bench {
    let bench: ServiceBench
    let encodings = Encodings()
    let evaluations: EvaluationPool
    let reader: CustomerReader

    init(_ bench: ServiceBench, limits: EvaluationLimits = EvaluationLimits()) {
      self.bench = bench
      evaluations = EvaluationPool(width: 1, limits: limits)
      reader = CustomerReader(
        store: bench.store, catalog: bench.holder, clock: bench.clock.clock, cacheBytes: 1 << 26,
        limits: .forTests, evaluations: evaluations, encode: encodings.encode)
    }

    /// Begins a read. It is not answered from memory.
    func read(
      _ account: AccountID, _ source: WorkSource = .connection(1), at: Milliseconds? = nil,
      on eventLoop: (any EventLoop)? = nil
    ) throws -> Caller {
      let caller = Caller(source, on: eventLoop)
      let query = CustomerQuery(
        selector: .account(account), scope: LargeCustomerTests.scope, at: at)
      #expect(try reader.answer(to: query, orFinish: { caller }) == nil)
      return caller
    }

    func queued(_ count: Int) async throws {
      try await TestSupport.eventually(within: .seconds(600)) {
        evaluations.statistics.queued == count
      }
    }
  }

  /// Waits longer than other tests: a slow machine computes the states of large customers for long.
  private func eventually(line: UInt = #line, _ isSo: () async throws -> Bool) async throws {
    try await TestSupport.eventually(within: .seconds(600), line: line, isSo)
  }

  /// The only transaction of a subscription that has ended. Its signature is invented: stores keep
  /// it and verify nothing.
  private static func transaction(_ number: Int) throws -> SignedFact {
    let payload = Array(
      """
      {"transactionId":"\(number)","originalTransactionId":"\(number)",\
      "bundleId":"\(scope.bundleID)","environment":"Production",\
      "productId":"com.example.scribe.pro.monthly","subscriptionGroupIdentifier":"21000001",\
      "type":"Auto-Renewable Subscription","inAppOwnershipType":"PURCHASED","purchaseDate":100,\
      "expiresDate":2592000100,"signedDate":1000}
      """.utf8)
    let digest = try StoredPayload.digest(of: payload)
    return SignedFact(
      fact: try PayloadDecoder.fact(
        kind: .transaction, payload: payload, digest: digest, bundleID: scope.bundleID),
      signed: SignedPayload(
        header: [1], payload: payload, signature: [UInt8](repeating: digest.bytes[0], count: 64)))
  }

  /// Runs `body` with a store of large customers.
  private func withLargeCustomers(
    limits: EvaluationLimits = EvaluationLimits(), _ body: (Bench) async throws -> Void
  ) async throws {
    try await ServiceBench.run { service async throws in
      for (number, account) in Self.large.enumerated() {
        let facts = try (0..<Self.chains).map { chain in
          try Self.transaction(number * Self.chains + chain)
        }
        for start in stride(from: 0, to: facts.count, by: 500) {
          _ = try await service.store.commit(
            Submission(
              facts: Array(facts[start..<start + 500]), accountID: account, receivedAt: 1_000))
        }
      }
      let bench = Bench(service, limits: limits)
      // Also after a failure: nothing may wait for ever.
      defer { bench.encodings.release() }
      try await body(bench)
    }
  }

  @Test("Submissions and other reads do not wait for six reads of large customers")
  func othersGoOn() async throws {
    try await withLargeCustomers { bench async throws in
      bench.encodings.hold()
      let callers = try Self.large.enumerated().map { index, account in
        try bench.read(account, .connection(UInt64(index)))
      }
      try await bench.queued(5)
      // All six are stopped, and would be as long as this takes.
      for purchase in 0..<20 {
        let account = AccountID("other-\(purchase)")
        let result = try await bench.bench.submit(
          [try bench.bench.purchase("\(purchase)")], account: account)
        #expect(result.items.map(\.verdict) == [.ok])
        let answer = try await bench.reader.answer(
          to: CustomerQuery(selector: .account(account), scope: Self.scope))
        #expect(answer.revision > 0)
      }
      #expect(bench.evaluations.statistics.queued == 5)
      #expect(bench.evaluations.statistics.running == 1)
      bench.encodings.release()
      try await eventually { callers.allSatisfy { $0.result != nil } }
      for caller in callers { #expect(try caller.result?.get().revision ?? 0 > 0) }
      #expect(bench.encodings.mostAtOnce == 1)
      #expect(bench.encodings.onEventLoop == 0)
    }
  }

  @Test("A computation ends when no caller waits, and later callers get another one")
  func cancelled() async throws {
    try await withLargeCustomers { bench async throws in
      bench.encodings.hold()
      let first = try bench.read(Self.large[0])
      try await eventually { bench.encodings.order == [Self.large[0]] }
      let gone = [try bench.read(Self.large[1]), try bench.read(Self.large[1])]
      let staying = [try bench.read(Self.large[2]), try bench.read(Self.large[2])]
      try await bench.queued(2)
      for caller in gone + [staying[0]] { caller.leave() }
      bench.encodings.release()
      try await eventually { staying[1].result != nil && gone[1].result != nil }
      _ = try first.result?.get()
      _ = try staying[1].result?.get()
      for caller in gone {
        guard case .failure(let error) = caller.result else {
          Issue.record("the state was computed for no caller")
          continue
        }
        #expect(error.code == .cancelled)
      }
      #expect(bench.encodings.order == [Self.large[0], Self.large[2]])
      try await eventually { bench.evaluations.statistics.givenUp == 1 }
      let again = try bench.read(Self.large[1])
      try await eventually { again.result != nil }
      _ = try again.result?.get()
    }
  }

  @Test("A watch that ends does not wait for the computation of a state, which ends too")
  func watch() async throws {
    try await withLargeCustomers { bench async throws in
      let service = bench.bench
      let watermark = FeedWatermark(staleness: .seconds(5), timer: .system)
      let follower = ChangeFollower(
        store: service.store, watermark: watermark, logger: service.log.logger,
        changed: { _ in }, cleared: {})
      let following = Task { await follower.run() }
      bench.encodings.hold()
      let first = try bench.read(Self.large[0])
      try await eventually { bench.encodings.order == [Self.large[0]] }
      let watch = CustomerWatch(store: service.store, reader: bench.reader, watermark: watermark)
      let request = WatchRequest(cursor: WatchCursor(position: 0), accounts: [Self.large[1]])
      let watching = Task {
        let watcher = try await watch.start(request)
        while true { _ = try await watcher.next() }
      }
      try await bench.queued(1)
      watching.cancel()
      let error = await #expect(throws: ServiceError.self) { try await watching.value }
      #expect(error?.code == .cancelled)
      bench.encodings.release()
      try await eventually { first.result != nil && bench.evaluations.statistics.givenUp == 1 }
      #expect(bench.encodings.order == [Self.large[0]])
      following.cancel()
      await following.value
    }
  }

  @Test("A running computation learns that its task was cancelled")
  func running() async throws {
    let pool = EvaluationPool(width: 1)
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    let task = Task {
      try await pool.run(facts: EvaluationPool.factsInPlace + 1, of: .server) {
        isCancelled -> Int? in
        begin.yield()
        while !isCancelled() {}
        return nil
      }
    }
    for await _ in begun { break }
    task.cancel()
    await #expect(throws: PoolError.cancelled) { try await task.value }
  }

  @Test("Large customers of one source do not delay those of another by more than a turn")
  func turns() async throws {
    try await withLargeCustomers { bench async throws in
      bench.encodings.hold()
      var callers = [try bench.read(Self.large[0])]
      try await eventually { bench.encodings.order.count == 1 }
      for account in Self.large[1...4] {
        callers.append(try bench.read(account))
        try await bench.queued(callers.count - 1)
      }
      callers.append(try bench.read(Self.large[5], .connection(2)))
      try await bench.queued(5)
      bench.encodings.release()
      try await eventually { callers.allSatisfy { $0.result != nil } }
      #expect(bench.encodings.order.firstIndex(of: Self.large[5]) == 2)
    }
  }

  @Test("What does not fit in the queue is RESOURCE_EXHAUSTED, and one source leaves room")
  func shed() async throws {
    var limits = EvaluationLimits()
    limits.computations = 4
    try await withLargeCustomers(limits: limits) { bench async throws in
      bench.encodings.hold()
      var admitted = [try bench.read(Self.large[0])]
      try await eventually { bench.encodings.order.count == 1 }
      // The one that runs counts against the share of its source.
      admitted.append(try bench.read(Self.large[1]))
      try await bench.queued(1)
      let refused = try bench.read(Self.large[2])
      try await eventually { refused.result != nil }
      guard case .failure(let error) = refused.result else {
        Issue.record("the queue has no limit")
        return
      }
      #expect(error.code == .resourceExhausted)
      #expect(bench.evaluations.statistics.turnedAway == 1)
      admitted.append(try bench.read(Self.large[3], .connection(2)))
      try await bench.queued(2)
      bench.encodings.release()
      try await eventually { admitted.allSatisfy { $0.result != nil } }
      for caller in admitted { #expect(try caller.result?.get().revision ?? 0 > 0) }
    }
  }

  @Test("A small customer does not wait for a large one that was read in the same batch")
  func sameBatch() async throws {
    try await withLargeCustomers { bench async throws in
      _ = try await bench.bench.submit([try bench.bench.purchase()], account: "small")
      bench.encodings.hold()
      let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
      let loop = group.next()
      let callers = try await loop.submit {
        [try bench.read(Self.large[0], on: loop), try bench.read("small", on: loop)]
      }.get()
      try await eventually { bench.encodings.order.count == 1 && callers[1].result != nil }
      #expect(bench.reader.readStatistics.batches == 1)
      #expect(callers[0].result == nil)
      bench.encodings.release()
      try await eventually { callers[0].result != nil }
      _ = try callers[0].result?.get()
      #expect(bench.encodings.onEventLoop == 0)
      try await group.shutdownGracefully()
    }
  }

  @Test("Lists, explanations and exports compute large customers on the pool too")
  func otherCalls() async throws {
    try await withLargeCustomers { bench async throws in
      let service = bench.bench
      let states = CustomerStates(
        store: service.store, catalog: service.holder, clock: service.clock.clock,
        evaluations: bench.evaluations)
      #expect(try await states.page(in: Self.scope, after: nil, limit: 10).count == 6)
      try await eventually { bench.evaluations.statistics.done == 6 }
      let explanations = ExplanationService(
        store: service.store, catalog: service.holder, clock: service.clock.clock,
        evaluations: bench.evaluations)
      let query = ExplanationQuery(selector: .account(Self.large[0]), scope: Self.scope)
      _ = try await explanations.explain(query)
      try await eventually { bench.evaluations.statistics.done == 7 }
      let records = CustomerRecords(
        store: service.store, catalog: service.holder, clock: service.clock.clock,
        changes: service.changes, evaluations: bench.evaluations)
      _ = try await records.export(Self.large[0], in: Self.scope)
      try await eventually { bench.evaluations.statistics.done == 8 }
      let past = try bench.read(Self.large[0], at: 2_000)
      try await eventually { past.result != nil }
      try await eventually { bench.evaluations.statistics.done == 9 }
    }
  }
}
