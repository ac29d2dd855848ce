import Dispatch
import EntitlementDomain
import StoreSimulator
import Synchronization
import Testing
import Verification

@Suite("The pool of workers", .timeLimit(.minutes(1)))
struct WorkerPoolTests {
  /// Holds a worker until it is opened, and tells when one has arrived.
  final class Gate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)
    private let arrivals: AsyncStream<Void>
    private let arrived: AsyncStream<Void>.Continuation

    init() {
      (arrivals, arrived) = AsyncStream.makeStream()
    }

    func pass() {
      arrived.yield()
      semaphore.wait()
    }

    func open(_ count: Int = 1) {
      for _ in 0..<count { semaphore.signal() }
    }

    func waitForArrival() async {
      for await _ in arrivals { return }
    }
  }

  private func pool(
    width: Int = 1, capacity: Int = 8,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) -> WorkerPool {
    WorkerPool(label: "test", width: width, capacity: capacity, itemsPerPiece: 2, now: now)
  }

  /// Lets other tasks run until `condition` holds.
  private func wait(until condition: () -> Bool) async {
    while !condition() { await Task.yield() }
  }

  @Test(arguments: [1, 2, 3, 8], [0, 1, 2, 3, 7, 64, 1_000])
  func `results keep the order of the items`(width: Int, count: Int) async throws {
    let pool = pool(width: width, capacity: 1_000)
    let results = try await pool.map(Array(0..<count)) { $0 * 2 }
    #expect(results == (0..<count).map { $0 * 2 })
    #expect(pool.statistics.queued == 0)
    await pool.shutdown()
    #expect(pool.statistics.done == count)
    #expect(pool.statistics.running == 0)
  }

  @Test func `many callers at once all get their own results`() async throws {
    let pool = pool(width: 4, capacity: 100_000)
    try await withThrowingTaskGroup { group in
      for caller in 0..<200 {
        group.addTask {
          let items = Array(caller..<caller + caller % 17)
          let results = try await pool.map(items) { $0 + 1 }
          #expect(results == items.map { $0 + 1 })
        }
      }
      try await group.waitForAll()
    }
    #expect(pool.statistics.turnedAway == 0)
  }

  @Test func `what does not fit is turned away at once, and nothing of it runs`() async throws {
    let pool = pool(capacity: 4)
    let gate = Gate()
    async let first = pool.map([0]) { item -> Int in
      gate.pass()
      return item
    }
    await gate.waitForArrival()
    async let second = pool.map([1, 2, 3]) { $0 }
    await wait { pool.statistics.queued == 3 }
    await #expect(throws: PoolError.full) {
      try await pool.map([4, 5]) { _ in Issue.record("this must not run") }
    }
    async let third = pool.map([6]) { $0 }
    await wait { pool.statistics.queued == 4 }
    #expect(pool.statistics.running == 1)
    #expect(pool.statistics.turnedAway == 2)
    gate.open()
    _ = try await first
    #expect(try await second == [1, 2, 3])
    #expect(try await third == [6])
  }

  @Test func `a batch above the capacity never fits`() async {
    let pool = pool(capacity: 4)
    await #expect(throws: PoolError.full) { try await pool.map(Array(0..<5)) { $0 } }
  }

  @Test func `no more workers run than the pool is wide`() async throws {
    let pool = pool(width: 2, capacity: 100)
    let gate = Gate()
    async let results = pool.map(Array(0..<10)) { item -> Int in
      gate.pass()
      return item
    }
    await gate.waitForArrival()
    await gate.waitForArrival()
    // The batch was shared between the two, and both are at work on their halves.
    #expect(pool.statistics.running == 10)
    #expect(pool.statistics.queued == 0)
    async let waiting = pool.map([10]) { $0 }
    await wait { pool.statistics.queued == 1 }
    gate.open(10)
    #expect(try await results == Array(0..<10))
    #expect(try await waiting == [10])
  }

  @Test func `work whose deadline passed while it waited is not done`() async throws {
    let start = ContinuousClock.Instant.now
    let clock = SharedClock(start)
    let pool = pool(now: { clock.now })
    let gate = Gate()
    async let first = pool.map([0], deadline: start + .seconds(1)) { item -> Int in
      gate.pass()
      return item
    }
    await gate.waitForArrival()
    let late = Task { () throws(PoolError) in
      try await pool.map([1, 2], deadline: start + .seconds(5)) { _ in
        Issue.record("this must not run")
      }
    }
    await wait { pool.statistics.queued == 2 }
    async let inTime = pool.map([3], deadline: start + .seconds(6)) { $0 }
    async let patient = pool.map([4]) { $0 }
    await wait { pool.statistics.queued == 4 }
    clock.advance(to: start + .seconds(5))
    gate.open()
    // Work that has begun is finished.
    _ = try await first
    await #expect(throws: PoolError.deadlineExceeded) { try await late.value }
    #expect(try await inTime == [3])
    #expect(try await patient == [4])
    await pool.shutdown()
    #expect(pool.statistics.expired == 2)
    #expect(pool.statistics.done == 3)
  }

  @Test func `shutdown finishes what was admitted and takes nothing new`() async throws {
    let pool = pool()
    let gate = Gate()
    async let first = pool.map([1]) { item -> Int in
      gate.pass()
      return item
    }
    await gate.waitForArrival()
    async let second = pool.map([2, 3]) { $0 }
    await wait { pool.statistics.queued == 2 }
    let end = Task { await pool.shutdown() }
    await wait { !pool.isOpen }
    await #expect(throws: PoolError.shutdown) { try await pool.map([4]) { $0 } }
    gate.open()
    #expect(try await first == [1])
    #expect(try await second == [2, 3])
    await end.value
    #expect(pool.statistics.done == 3)
    // Again, and on a pool that never worked.
    await pool.shutdown()
    await self.pool().shutdown()
  }
}

/// A clock that moves when it is told to.
final class SharedClock: Sendable {
  private let instant: Mutex<ContinuousClock.Instant>

  init(_ start: ContinuousClock.Instant) {
    instant = Mutex(start)
  }

  var now: ContinuousClock.Instant { instant.withLock { $0 } }

  func advance(to moment: ContinuousClock.Instant) {
    instant.withLock { $0 = moment }
  }
}
