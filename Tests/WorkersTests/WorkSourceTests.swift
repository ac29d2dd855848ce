import Locks
import Testing
import Workers

@Suite("Turns of sources in the pool of workers", .timeLimit(.minutes(1)))
struct WorkSourceTests {
  private func wait(until condition: () -> Bool) async {
    while !condition() { await Task.yield() }
  }

  /// The sources whose items were done, in their order.
  private final class Order: Sendable {
    private let sources = LockedValue<[WorkSource]>([])

    func append(_ source: WorkSource) { sources.withLock { $0.append(source) } }

    var all: [WorkSource] { sources.withLock { $0 } }
  }

  /// A pool with one worker, which is busy until the gate opens.
  private func busyPool(
    _ gate: WorkerPoolTests.Gate, capacity: Int = 1_000, weightCapacity: Int = .max, turn: Turn,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) async -> (WorkerPool, Task<[Int], any Error>) {
    let pool = WorkerPool(
      label: "test", width: 1, capacity: capacity, weightCapacity: weightCapacity,
      chunkSize: ChunkSize(maximumItems: 8), turn: turn, now: now)
    let first = Task {
      try await pool.map([0]) { item -> Int in
        gate.pass()
        return item
      }
    }
    await gate.waitForArrival()
    return (pool, first)
  }

  @Test func `a source that came last waits for one turn of each other`() async throws {
    let gate = WorkerPoolTests.Gate()
    let order = Order()
    let (pool, first) = await busyPool(gate, turn: Turn(items: 16, time: .seconds(60)))
    let flood = [1, 2].map { (number: UInt64) in
      Task {
        let source = WorkSource.connection(number)
        return try await pool.map(Array(0..<200), of: source) { _ in order.append(source) }.count
      }
    }
    await wait { pool.statistics.queued == 400 }
    async let honest = pool.map([0], of: .connection(3)) { item -> Int in
      order.append(.connection(3))
      return item
    }
    await wait { pool.statistics.queued == 401 }
    gate.open()
    _ = try await (first.value, honest)
    // One turn of each of the other two.
    #expect(order.all.firstIndex(of: .connection(3)) == 32)
    for task in flood { #expect(try await task.value == 200) }
    await pool.shutdown()
  }

  @Test func `work that takes long is interrupted at the end of its turn, and loses nothing`()
    async throws
  {
    let gate = WorkerPoolTests.Gate()
    let order = Order()
    let clock = SharedClock(.now)
    let (pool, first) = await busyPool(
      gate, turn: Turn(items: 8, time: .milliseconds(8)), now: { clock.now })
    let slow = Task {
      try await pool.map(Array(0..<8), of: .connection(1)) { item -> Int in
        clock.advance(to: clock.now + .milliseconds(4))
        order.append(.connection(1))
        return item
      }
    }
    await wait { pool.statistics.queued == 8 }
    async let fast = pool.map(Array(0..<12), of: .connection(2)) { item -> Int in
      order.append(.connection(2))
      return item
    }
    await wait { pool.statistics.queued == 20 }
    gate.open()
    _ = try await first.value
    #expect(try await slow.value == Array(0..<8))
    #expect(try await fast == Array(0..<12))
    func items(_ number: UInt64, _ count: Int) -> [WorkSource] {
      Array(repeating: .connection(number), count: count)
    }
    #expect(order.all == items(1, 2) + items(2, 12) + items(1, 6))
    await pool.shutdown()
    #expect(pool.statistics.done == 21)
    #expect(pool.statistics.givenUp == 0)
    #expect(pool.statistics.queued == 0)
    #expect(pool.statistics.running == 0)
  }

  @Test func `no source fills the queue, and its share shrinks as more want one`() async throws {
    let gate = WorkerPoolTests.Gate()
    let (pool, first) = await busyPool(
      gate, capacity: 90, weightCapacity: 900, turn: Turn(items: 1, time: .seconds(60)))
    var admitted: [Task<Int, any Error>] = []
    func fill(_ number: UInt64, weight: Int = 0) async -> Int {
      var count = 0
      while true {
        let refused = pool.statistics.turnedAway
        let queued = pool.statistics.queued
        admitted.append(
          Task {
            try await pool.map([0], of: .connection(number), weight: { _ in weight }) { $0 }.count
          })
        await wait {
          let now = pool.statistics
          return now.turnedAway > refused || now.queued > queued
        }
        if pool.statistics.turnedAway > refused { return count }
        count += 1
      }
    }
    // Half of the room; of the rest, half again. The others find room in any case.
    #expect(await fill(1) == 45)
    #expect(await fill(2) == 22)
    #expect(await fill(1) == 0)
    #expect(await fill(3, weight: 200) == 2)
    #expect(await fill(4) == 10)
    gate.open()
    _ = try await first.value
    var refused = 0
    for task in admitted {
      do { _ = try await task.value } catch { refused += 1 }
    }
    #expect(refused == 5)
    // The shares come back.
    await wait { pool.statistics.running == 0 }
    #expect(try await pool.map(Array(0..<90), of: .connection(1)) { $0 }.count == 90)
    await pool.shutdown()
  }
}
