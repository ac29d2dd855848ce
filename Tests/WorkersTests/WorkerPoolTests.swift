import Dispatch
import Locks
import Testing
import Workers

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
    width: Int = 1, capacity: Int = 8, weightCapacity: Int = .max,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) -> WorkerPool {
    WorkerPool(
      label: "test", width: width, capacity: capacity, weightCapacity: weightCapacity,
      chunkSize: ChunkSize(minimumItems: 2), now: now)
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

  @Test func `what weighs too much is turned away until there is room again`() async throws {
    let pool = pool(weightCapacity: 10)
    await #expect(throws: PoolError.full) { try await pool.map([5, 6], weight: { $0 }) { $0 } }
    let gate = Gate()
    async let first = pool.map([4], weight: { $0 }) { item -> Int in
      gate.pass()
      return item
    }
    await gate.waitForArrival()
    // Running items still count.
    async let second = pool.map([1, 5], weight: { $0 }) { $0 }
    await wait { pool.statistics.queued == 2 }
    #expect(pool.statistics.weight == 10)
    await #expect(throws: PoolError.full) { try await pool.map([1], weight: { $0 }) { $0 } }
    #expect(pool.statistics.turnedAway == 3)
    gate.open()
    #expect(try await first == [4])
    #expect(try await second == [1, 5])
    await wait { pool.statistics.weight == 0 }
    #expect(try await pool.map([10], weight: { $0 }) { $0 } == [10])
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
    #expect(pool.statistics.givenUp == 2)
    #expect(pool.statistics.done == 3)
  }

  @Test func `a deadline that passes within a batch ends it there`() async throws {
    let start = ContinuousClock.Instant.now
    let clock = SharedClock(start)
    let pool = pool(now: { clock.now })
    await #expect(throws: PoolError.deadlineExceeded) {
      try await pool.map(Array(0..<6), deadline: start + .seconds(5)) { item in
        if item == 2 { clock.advance(to: start + .seconds(5)) }
        if item > 2 { Issue.record("this must not run") }
      }
    }
    await pool.shutdown()
    #expect(pool.statistics.done == 3)
    #expect(pool.statistics.givenUp == 3)
  }

  @Test func `a batch that is cancelled ends with the item at work`() async throws {
    let pool = pool()
    let isCancelled = LockedValue(false)
    await #expect(throws: PoolError.cancelled) {
      try await pool.map(Array(0..<6), isCancelled: { isCancelled.withLock { $0 } }) { item in
        if item == 1 { isCancelled.withLock { $0 = true } }
        if item > 1 { Issue.record("this must not run") }
      }
    }
    // Others are not touched.
    #expect(try await pool.map([7]) { $0 } == [7])
    await pool.shutdown()
    #expect(pool.statistics.done == 3)
    #expect(pool.statistics.givenUp == 4)
  }

  @Test func `a failed batch ends on all workers`() async throws {
    let pool = pool(width: 2)
    let gate = Gate()
    let asked = LockedValue(0)
    // Only the third call returns true, so one of the two chunks learns of it from the batch.
    let batch = Task { () throws(PoolError) in
      try await pool.map(
        Array(0..<4),
        isCancelled: {
          asked.withLock { asked in
            asked += 1
            return asked == 3
          }
        }
      ) { item in
        if item % 2 == 1 { Issue.record("this must not run") } else { gate.pass() }
      }
    }
    await gate.waitForArrival()
    await gate.waitForArrival()
    gate.open()
    await #expect(throws: PoolError.cancelled) { try await batch.value }
    gate.open()
    await pool.shutdown()
    #expect(pool.statistics.done == 2)
    #expect(pool.statistics.givenUp == 2)
  }

  @Test func `shutdown with a deadline gives up what has not begun by then`() async throws {
    let start = ContinuousClock.Instant.now
    let clock = SharedClock(start)
    let pool = pool(now: { clock.now })
    let gate = Gate()
    let running = Task { () throws(PoolError) in
      try await pool.map([0, 1, 2]) { item in
        if item > 1 { Issue.record("this must not run") } else { gate.pass() }
      }
    }
    await gate.waitForArrival()
    let queued = Task { () throws(PoolError) in
      try await pool.map([3, 4]) { _ in Issue.record("this must not run") }
    }
    await wait { pool.statistics.queued == 2 }
    let end = Task { await pool.shutdown(deadline: start + .seconds(5)) }
    await wait { !pool.isOpen }
    // Still in time for the second item.
    gate.open()
    await gate.waitForArrival()
    // One who waits for ever takes nothing from that deadline.
    let patientEnd = Task { await pool.shutdown() }
    clock.advance(to: start + .seconds(5))
    gate.open()
    await #expect(throws: PoolError.shutdown) { try await running.value }
    await #expect(throws: PoolError.shutdown) { try await queued.value }
    await end.value
    await patientEnd.value
    #expect(pool.statistics.done == 2)
    #expect(pool.statistics.givenUp == 3)
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

/// A clock that moves only on request.
final class SharedClock: Sendable {
  private let instant: LockedValue<ContinuousClock.Instant>

  init(_ start: ContinuousClock.Instant) {
    instant = LockedValue(start)
  }

  var now: ContinuousClock.Instant { instant.withLock { $0 } }

  func advance(to moment: ContinuousClock.Instant) {
    instant.withLock { $0 = moment }
  }
}
