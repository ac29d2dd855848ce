import Locks
import Testing
import Workers

@Suite("Interactive and bulk work", .timeLimit(.minutes(1)))
struct WorkPriorityTests {
  /// One worker, held by a first item until the gate opens.
  private func pool(
    capacity: Int = 100, weightCapacity: Int = .max,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) -> WorkerPool {
    WorkerPool(
      label: "test", width: 1, capacity: capacity, weightCapacity: weightCapacity,
      chunkSize: ChunkSize(maximumItems: 1), now: now)
  }

  /// Whose items were done, in their order.
  private final class Order: Sendable {
    private let turns = LockedValue<[WorkPriority]>([])

    func append(_ priority: WorkPriority) { turns.withLock { $0.append(priority) } }

    var all: [WorkPriority] { turns.withLock { $0 } }
  }

  private func wait(until condition: () -> Bool) async {
    while !condition() { await Task.yield() }
  }

  @Test func `interactive work overtakes bulk work, which gets its share`() async throws {
    let pool = pool()
    let gate = WorkerPoolTests.Gate()
    let order = Order()
    async let first = pool.map([0]) { item -> Int in
      gate.pass()
      return item
    }
    await gate.waitForArrival()
    async let bulk = pool.map(Array(0..<4), priority: .bulk) { item -> Int in
      order.append(.bulk)
      return item
    }
    await wait { pool.statistics.bulk.queued == 4 }
    async let interactive = pool.map(Array(0..<40)) { item -> Int in
      order.append(.interactive)
      return item
    }
    await wait { pool.statistics.interactive.queued == 40 }
    gate.open()
    _ = try await (first, bulk, interactive)
    func runs(_ count: Int) -> [WorkPriority] { Array(repeating: .interactive, count: count) }
    let expected = runs(16) + [.bulk] + runs(16) + [.bulk] + runs(8) + [.bulk, .bulk]
    #expect(order.all == expected)
  }

  @Test func `an import never turns interactive work away`() async throws {
    let pool = pool(capacity: 8, weightCapacity: 80)
    let gate = WorkerPoolTests.Gate()
    async let first = pool.map([0]) { item -> Int in
      gate.pass()
      return item
    }
    await gate.waitForArrival()
    // One batch may be larger than the share of bulk work.
    async let large = pool.map(Array(0..<6), priority: .bulk, weight: { _ in 10 }) { $0 }
    await wait { pool.statistics.bulk.queued == 6 }
    await #expect(throws: PoolError.full) { try await pool.map([0], priority: .bulk) { $0 } }
    #expect(pool.statistics.bulk.turnedAway == 1)
    async let interactive = pool.map(Array(0..<8), weight: { _ in 10 }) { $0 }
    await wait { pool.statistics.interactive.queued == 8 }
    #expect(pool.statistics.weight == 140)
    await #expect(throws: PoolError.full) { try await pool.map([0]) { $0 } }
    #expect(pool.statistics.interactive.turnedAway == 1)
    gate.open()
    _ = try await (first, large, interactive)
    await pool.shutdown()
    #expect(pool.statistics.weight == 0)
    #expect(pool.statistics.bulk.done == 6)
    #expect(pool.statistics.interactive.done == 9)
  }

  @Test func `bulk work fills half of the room`() async throws {
    let pool = pool(capacity: 8, weightCapacity: 80)
    let gate = WorkerPoolTests.Gate()
    async let first = pool.map([0]) { item -> Int in
      gate.pass()
      return item
    }
    await gate.waitForArrival()
    async let some = pool.map([0, 1], priority: .bulk, weight: { _ in 10 }) { $0 }
    await wait { pool.statistics.bulk.queued == 2 }
    await #expect(throws: PoolError.full) {
      try await pool.map([0, 1, 2], priority: .bulk) { $0 }
    }
    await #expect(throws: PoolError.full) {
      try await pool.map([0], priority: .bulk, weight: { _ in 21 }) { $0 }
    }
    async let more = pool.map([0, 1], priority: .bulk, weight: { _ in 10 }) { $0 }
    await wait { pool.statistics.bulk.queued == 4 }
    gate.open()
    _ = try await (first, some, more)
    await pool.shutdown()
  }

  @Test func `times are of pieces: how long they waited, and how long they took`() async throws {
    let start = ContinuousClock.Instant.now
    let clock = SharedClock(start)
    let pool = pool(now: { clock.now })
    let gate = WorkerPoolTests.Gate()
    async let first = pool.map([0]) { item -> Int in
      gate.pass()
      return item
    }
    await gate.waitForArrival()
    async let bulk = pool.map([0, 1], priority: .bulk) { item -> Int in
      clock.advance(to: clock.now + .seconds(1))
      return item
    }
    await wait { pool.statistics.bulk.queued == 2 }
    clock.advance(to: start + .seconds(10))
    gate.open()
    _ = try await (first, bulk)
    await pool.shutdown()
    let statistics = pool.statistics
    #expect(statistics.interactive.pieces == 1)
    #expect(statistics.interactive.waitingTime == .zero)
    #expect(statistics.interactive.workingTime == .seconds(10))
    #expect(statistics.bulk.pieces == 2)
    #expect(statistics.bulk.waitingTime == .seconds(21))
    #expect(statistics.bulk.workingTime == .seconds(2))
    #expect(statistics.workingTime == .seconds(12))
  }

  @Test func `a drain ends bulk work too`() async throws {
    let pool = pool()
    let gate = WorkerPoolTests.Gate()
    async let first = pool.map([0]) { item -> Int in
      gate.pass()
      return item
    }
    await gate.waitForArrival()
    async let bulk = pool.map([1, 2], priority: .bulk) { $0 }
    await wait { pool.statistics.bulk.queued == 2 }
    let end = Task { await pool.shutdown() }
    await wait { !pool.isOpen }
    await #expect(throws: PoolError.shutdown) { try await pool.map([3], priority: .bulk) { $0 } }
    gate.open()
    #expect(try await first == [0])
    #expect(try await bulk == [1, 2])
    await end.value
  }
}
