import EntitlementDomain
import EntitlementStore
import Synchronization
import TestSupport
import Testing
import Workers

@testable import PostgresStore

@Suite("Writes that share transactions")
struct WriteQueueTests {
  @Test("Writes that arrive while the writer is busy are committed together")
  func together() async throws {
    let work = GatedWork()
    let queue = WriteQueue(limits: limits { $0.writingConnections = 1 }) { await work.run($0) }
    try await withThrowingTaskGroup(of: Int.self) { group in
      group.addTask { try await queue.commit { sampleJob(0, ["a"], $0) } }
      try await eventually { work.batches.count == 1 }
      for number in 1...9 {
        group.addTask { try await queue.commit { sampleJob(number, ["\(number)"], $0) } }
      }
      try await eventually { queue.pendingCount == 10 }
      work.open()
      #expect(Set(try await group.reduce(into: []) { $0.append($1) }) == Set(0...9))
    }
    #expect(work.numbers.map(\.count) == [1, 9])
    await queue.close()
  }

  @Test("Writes of one chain have one writer and keep their order; chains share all writers")
  func shards() async throws {
    var random = SeededRandom(for: "Writes of few chains and four writers")
    let chains = (0..<300).map { _ in "\(Int.random(in: 0..<40, using: &random))" }
    let limits = limits {
      $0.writingConnections = 4
      $0.maximumCommitsPerTransaction = 5
    }
    let gate = GatedWork(ending: { _ in BatchOutcome() })
    let working = Mutex<(now: [String: Int], meetings: Int)>(([:], 0))
    let queue = WriteQueue(limits: limits) { batch in
      _ = await gate.run(batch)
      let wanted = batch.jobs.map(\.shardKey)
      working.withLock { working in
        for key in Set(wanted) {
          if working.now[key, default: 0] > 0 { working.meetings += 1 }
          working.now[key, default: 0] += 1
        }
      }
      for _ in 0..<20 { await Task.yield() }
      working.withLock { working in
        for key in Set(wanted) { working.now[key, default: 0] -= 1 }
      }
      return GatedWork.answer(batch.jobs)
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (number, chain) in chains.enumerated() {
        group.addTask {
          let value = try await queue.commit { sampleJob(number, ["\(number)"], chain: chain, $0) }
          #expect(value == number)
        }
        try await eventually { queue.pendingCount == number + 1 }
      }
      // Each writer has its first batch.
      try await eventually { gate.waitingCount == 4 }
      gate.open()
      try await group.waitForAll()
    }
    #expect(working.withLock { $0.meetings } == 0)
    let order = gate.numbers.joined()
    #expect(order.count == chains.count)
    for numbers in Dictionary(grouping: order, by: { chains[$0] }).values {
      #expect(numbers == numbers.sorted())
    }
    await queue.close()
  }

  @Test("The chain chooses the writer; without one the account does, or else another lock")
  func shardKeys() {
    #expect(sampleJob(0, ["a", "b"], chain: "7").shardKey == "c0:7")
    #expect(sampleJob(1, ["b", "a"]).shardKey == "g0:a")
    let account = LedgerKey.account(ScopedAccount(StoreSample.scope, "alice"))
    let grant = LedgerKey.grant(ScopedGrant(StoreSample.scope, "0"))
    let job = WriteJob(
      keys: [grant, account], scopes: PostgresScopeIDs(), headers: HeaderIDs(), byteCount: 0,
      deadline: .now + .seconds(60), decide: { _ in { _ in } }, fail: { _ in }, refreshIDs: {})
    #expect(job.shardKey == "a0:alice")
  }

  @Test("Limits of writes, locks and bytes end a batch; a large write runs alone")
  func limitsOfTransactions() async throws {
    let work = GatedWork()
    let limits = limits {
      $0.writingConnections = 1
      $0.maximumCommitsPerTransaction = 4
      $0.maximumLocksPerTransaction = 10
      $0.maximumBytesPerTransaction = 100
    }
    let queue = WriteQueue(limits: limits) { await work.run($0) }
    // Each job has two locks, the fifth has ten.
    let jobs: [(bytes: Int, locks: Int)] = [
      (1, 1), (1, 1), (1, 1), (1, 1), (1, 9), (90, 1), (20, 1), (500, 1), (1, 1),
    ]
    try await withThrowingTaskGroup(of: Int.self) { group in
      group.addTask { try await queue.commit { sampleJob(-1, ["x"], $0) } }
      try await eventually { work.batches.count == 1 }
      for (number, job) in jobs.enumerated() {
        let locks = Set((0..<job.locks).map { "\(number)-\($0)" })
        group.addTask {
          try await queue.commit { sampleJob(number, locks, bytes: job.bytes, $0) }
        }
        try await eventually { queue.pendingCount == number + 2 }
      }
      work.open()
      try await group.waitForAll()
    }
    #expect(work.numbers == [[-1], [0, 1, 2, 3], [4], [5], [6], [7], [8]])
    await queue.close()
  }

  @Test("Writes above the limit are refused; an unreachable database fails all waiting writes")
  func refusalAndFailure() async throws {
    let work = GatedWork(ending: { jobs in
      for job in jobs { job.fail(Self.answer) }
      return BatchOutcome(unreachable: Self.answer)
    })
    let limits = limits {
      $0.writingConnections = 1
      $0.maximumWaitingCommits = 3
    }
    let queue = WriteQueue(limits: limits) { await work.run($0) }
    await withTaskGroup(of: StoreError?.self) { group in
      for number in 0..<3 { group.addTask { await Self.failure(of: number, in: queue) } }
      try? await eventually { queue.pendingCount == 3 }
      #expect(await Self.failure(of: 3, in: queue)?.code == .unavailable)
      work.open()
      for await failure in group { #expect(failure?.message == Self.answer.message) }
    }
    await queue.close()
    #expect(await Self.failure(of: 4, in: queue)?.code == .closed)
  }

  @Test("A write past its deadline is not started")
  func late() async throws {
    let time = Mutex(ContinuousClock.now)
    let start = time.withLock { $0 }
    let work = GatedWork()
    let queue = WriteQueue(
      limits: limits { $0.writingConnections = 1 }, clock: { time.withLock { $0 } },
      work: { await work.run($0) })
    let failures = await withTaskGroup(of: (Int, StoreError?).self) { group in
      // The first job is in flight. Two of the others are too old when it ends.
      for (number, limit) in [30, 5, 20, 10].enumerated() {
        group.addTask {
          (number, await Self.failure(of: number, in: queue, by: start + .seconds(limit)))
        }
        try? await eventually {
          queue.pendingCount == number + 1 && work.batches.count == 1
        }
      }
      time.withLock { $0 += .seconds(10) }
      work.open()
      return await group.reduce(into: [:]) { $0[$1.0] = .some($1.1) }
    }
    #expect(failures.filter { $0.value != nil }.keys.sorted() == [1, 3])
    #expect(failures[1]??.code == .unavailable)
    #expect(work.numbers == [[0], [2]])
    await queue.close()
  }

  @Test("Each caller is answered by its deadline, while the database does not answer")
  func answeredByDeadline() async throws {
    let time = Mutex(ContinuousClock.now)
    let start = time.withLock { $0 }
    let work = GatedWork()
    let queue = WriteQueue(
      limits: limits { $0.writingConnections = 1 }, clock: { time.withLock { $0 } },
      work: { await work.run($0) })
    let calls = (0..<4).map { number in
      Task { await Self.failure(of: number, in: queue, by: start + .seconds(number < 2 ? 10 : 20)) }
    }
    try await eventually { queue.pendingCount == 4 && work.batches.count == 1 }
    let inFlight = try #require(work.numbers.first)
    time.withLock { $0 += .seconds(10) }
    for number in 0..<2 {
      let failure = await calls[number].value
      #expect(failure?.code == .unavailable)
      #expect(
        failure?.message.contains(
          inFlight.contains(number) ? "submitting the same again is safe" : "nothing was stored")
          == true)
    }
    // The batch in flight still counts, and those that wait for longer.
    #expect(queue.pendingCount == 2 + inFlight.count { $0 < 2 })
    work.open()
    // The database answers at last: what was not expired is committed.
    for number in 2..<4 { #expect(await calls[number].value == nil) }
    #expect(Set(work.numbers.joined()).isSuperset(of: [2, 3]))
    await queue.close()
    #expect(queue.pendingCount == 0)
  }

  @Test("Closing waits for writes in flight and for waiting writes")
  func closing() async throws {
    let work = GatedWork()
    let queue = WriteQueue(limits: limits { $0.writingConnections = 1 }) { await work.run($0) }
    async let first = queue.commit { sampleJob(0, ["a"], $0) }
    try await eventually { work.batches.count == 1 }
    async let second = queue.commit { sampleJob(1, ["b"], $0) }
    try await eventually { queue.pendingCount == 2 }
    let committed = Task {
      await queue.close()
      return work.numbers
    }
    work.open()
    #expect(try await [first, second] == [0, 1])
    #expect(await committed.value == [[0], [1]])
    #expect(queue.pendingCount == 0)
    #expect(await Self.failure(of: 2, in: queue)?.code == .closed)
  }

  // MARK: Turns of sources

  @Test("A source with 1,000 waiting writes delays another source's write by one batch")
  func turns() async throws {
    let work = GatedWork()
    let queue = WriteQueue(limits: limits { $0.writingConnections = 1 }) { await work.run($0) }
    try await withThrowingTaskGroup(of: Int.self) { group in
      func add(_ numbers: Range<Int>, of source: WorkSource) async throws {
        for number in numbers {
          group.addTask { try await queue.commit { sampleJob(number, [], of: source, $0) } }
          // One after the other, so that their order is known.
          while queue.pendingCount <= number { await Task.yield() }
        }
      }
      try await add(0..<1, of: .caller(1))
      try await eventually { work.batches.count == 1 }
      try await add(1..<1_000, of: .caller(1))
      try await add(1_000..<1_003, of: .caller(2))
      work.open()
      try await group.waitForAll()
    }
    let batches = work.numbers
    #expect(batches[1].filter { $0 >= 1_000 } == [1_000, 1_001, 1_002])
    // Batches are as large as without turns.
    #expect(batches.map(\.count) == [1] + Array(repeating: 128, count: 7) + [106])
    let hog = batches.joined().filter { $0 < 1_000 }
    #expect(hog == Array(0..<1_000))
    await queue.close()
  }

  @Test("Writes of two sources to one chain take turns, and those of each keep their order")
  func turnsOfOneChain() async throws {
    let work = GatedWork()
    let queue = WriteQueue(limits: limits { $0.writingConnections = 4 }) { await work.run($0) }
    try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<7 {
        group.addTask {
          try await queue.commit {
            sampleJob(number, [], of: .caller(number < 5 ? 1 : 2), chain: "7", $0)
          }
        }
        try await eventually {
          queue.pendingCount == number + 1 && work.batches.count == 1
        }
      }
      work.open()
      try await group.waitForAll()
    }
    #expect(work.numbers == [[0], [1, 5, 2, 6, 3, 4]])
    await queue.close()
  }

  @Test("A large write that does not fit waits for the next batch, and others fill the batch")
  func largeWrites() async throws {
    let work = GatedWork()
    let limits = limits {
      $0.writingConnections = 1
      $0.maximumBytesPerTransaction = 100
    }
    let queue = WriteQueue(limits: limits) { await work.run($0) }
    let jobs: [(source: UInt64, bytes: Int)] = [
      (1, 100), (1, 100), (1, 100), (2, 1), (2, 1), (2, 1), (2, 1),
    ]
    try await withThrowingTaskGroup(of: Int.self) { group in
      for (number, job) in jobs.enumerated() {
        group.addTask {
          try await queue.commit {
            sampleJob(number, [], of: .caller(job.source), bytes: job.bytes, $0)
          }
        }
        try await eventually { queue.pendingCount == number + 1 && work.batches.count == 1 }
      }
      work.open()
      try await group.waitForAll()
    }
    #expect(work.numbers == [[0], [1], [3, 4, 5, 6], [2]])
    await queue.close()
  }

  @Test("A source that fills its share of the queue is refused, and others are admitted")
  func shares() async throws {
    let work = GatedWork()
    let limits = limits {
      $0.writingConnections = 2
      $0.maximumWaitingCommits = 10
    }
    let queue = WriteQueue(limits: limits) { await work.run($0) }
    await withTaskGroup(of: StoreError?.self) { group in
      for number in 0..<5 {
        group.addTask { await Self.failure(of: number, in: queue, from: .caller(1)) }
      }
      try? await eventually { queue.pendingCount == 5 }
      #expect(await Self.failure(of: 5, in: queue, from: .caller(1))?.code == .unavailable)
      for number in 6..<8 {
        group.addTask { await Self.failure(of: number, in: queue, from: .caller(2)) }
      }
      try? await eventually { queue.pendingCount == 7 }
      work.open()
      for await failure in group { #expect(failure == nil) }
    }
    // What has ended leaves room, a moment after the answer.
    try? await eventually { queue.pendingCount == 0 }
    #expect(await Self.failure(of: 8, in: queue, from: .caller(1)) == nil)
    await queue.close()
    #expect(queue.pendingCount == 0)
  }

  // MARK: Locks of other sessions

  @Test("A lock is waited for only once: writes that need it fail fast, and others succeed")
  func lockedWrites() async throws {
    let isLocked = Mutex(true)
    let work = GatedWork(
      holding: { _ in false },
      ending: { jobs in
        guard isLocked.withLock({ $0 }) else { return GatedWork.answer(jobs) }
        let locked = jobs.filter { $0.locks.contains { $0.hasSuffix(":locked") } }
        for job in locked { job.fail(.lockedElsewhere) }
        _ = GatedWork.answer(jobs.filter { job in !locked.contains { $0 === job } })
        return BatchOutcome(locked: locked)
      })
    let time = Mutex(ContinuousClock.now)
    let queue = WriteQueue(
      limits: limits { $0.writingConnections = 1 }, clock: { time.withLock { $0 } },
      work: { await work.run($0) })
    #expect(await Self.failure(of: 0, ["locked", "second"], in: queue) != nil)
    for number in 1..<50 {
      let failure = await Self.failure(of: number, ["locked"], in: queue)
      #expect(failure?.message == StoreError.lockedElsewhere.message)
      #expect(await Self.failure(of: 100 + number, ["other"], in: queue) == nil)
    }
    #expect(work.numbers.count { $0.contains { $0 < 100 } } == 1, "it was tried again at once")
    // After the pause one job runs alone as a trial; then the pause doubles.
    for _ in 0..<2 {
      time.withLock { $0 += LockCircuitBreaker.firstPause }
      for number in 50..<60 {
        #expect(await Self.failure(of: number, ["locked"], in: queue) != nil)
      }
    }
    #expect(work.numbers.filter { $0.contains { $0 < 100 } } == [[0], [50]])
    #expect(work.batches.filter(\.isTrial).count == 1)
    isLocked.withLock { $0 = false }
    time.withLock { $0 += LockCircuitBreaker.longestPause }
    #expect(await Self.failure(of: 60, ["locked"], in: queue) == nil)
    #expect(await Self.failure(of: 61, ["locked"], in: queue) == nil)
    #expect(work.batches.filter(\.isTrial).count == 2)
    await queue.close()
  }

  private static func failure(
    of number: Int, _ locks: Set<String>? = nil, in queue: WriteQueue,
    by deadline: ContinuousClock.Instant = .now + .seconds(60), from source: WorkSource = .server
  ) async -> StoreError? {
    do throws(StoreError) {
      let value = try await queue.commit {
        sampleJob(number, locks ?? ["\(number)"], of: source, deadline: deadline, $0)
      }
      #expect(value == number)
      return nil
    } catch {
      return error
    }
  }

  private static let answer = StoreError(.unavailable, "the database is away")

  private func limits(_ change: (inout PostgresStoreLimits) -> Void) -> PostgresStoreLimits {
    var limits = PostgresStoreLimits()
    change(&limits)
    return limits
  }
}
