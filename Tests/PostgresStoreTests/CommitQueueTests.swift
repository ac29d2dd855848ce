import EntitlementDomain
import EntitlementStore
import Synchronization
import TestSupport
import Testing

@testable import PostgresStore

@Suite("Writes that share transactions")
struct CommitQueueTests {
  @Test("Those that come while others are under way are committed together")
  func together() async throws {
    let work = GatedWork()
    let queue = CommitQueue(limits: limits { $0.writingConnections = 1 }) { await work.run($0) }
    try await withThrowingTaskGroup(of: Int.self) { group in
      group.addTask { try await queue.commit { job(0, ["a"], $0) } }
      try await eventually { work.batches.count == 1 }
      for number in 1...9 {
        group.addTask { try await queue.commit { job(number, ["\(number)"], $0) } }
      }
      try await eventually { queue.pendingCount == 10 }
      work.open()
      #expect(Set(try await group.reduce(into: []) { $0.append($1) }) == Set(0...9))
    }
    #expect(work.batches.map(\.count) == [1, 9])
  }

  @Test("Those that want the same locks are never under way in two lanes")
  func affinity() async throws {
    var random = SeededRandom(for: "Writes of few locks in many lanes")
    let wanted = (0..<400).map { _ in
      Set(
        (0...Int.random(in: 0...2, using: &random)).map { _ in
          "\(Int.random(in: 0..<12, using: &random))"
        })
    }
    let held = Mutex<(now: [String: Int], count: Int, meetings: Int)>(([:], 0, 0))
    let limits = limits {
      $0.writingConnections = 4
      $0.minimumWaitingForFurtherLane = 1
      $0.maximumCommitsPerTransaction = 5
    }
    let queue = CommitQueue(limits: limits) { jobs in
      let locks = Set(jobs.flatMap(\.locks))
      held.withLock { held in
        for lock in locks {
          if held.now[lock, default: 0] > 0 { held.meetings += 1 }
          held.now[lock, default: 0] += 1
        }
        held.count += jobs.count
      }
      for _ in 0..<20 { await Task.yield() }
      held.withLock { held in for lock in locks { held.now[lock, default: 0] -= 1 } }
      for job in jobs { job.fail(Self.answer) }
      return nil
    }
    await withTaskGroup(of: Void.self) { group in
      for (number, locks) in wanted.enumerated() {
        group.addTask {
          let _: Int? = try? await queue.commit { job(number, locks, $0) }
        }
      }
    }
    let outcome = held.withLock { $0 }
    #expect(outcome.meetings == 0)
    #expect(outcome.count == wanted.count)
    await queue.close()
  }

  @Test("Limits of number, locks and bytes end a transaction; a large write goes alone")
  func limitsOfTransactions() async throws {
    let work = GatedWork()
    let limits = limits {
      $0.writingConnections = 1
      $0.maximumCommitsPerTransaction = 4
      $0.maximumLocksPerTransaction = 10
      $0.maximumBytesPerTransaction = 100
    }
    let queue = CommitQueue(limits: limits) { await work.run($0) }
    let sizes = [1, 1, 1, 1, 1, 90, 20, 500, 1]
    try await withThrowingTaskGroup(of: Int.self) { group in
      group.addTask { try await queue.commit { job(-1, ["x"], $0) } }
      try await eventually { work.batches.count == 1 }
      for (number, size) in sizes.enumerated() {
        group.addTask {
          try await queue.commit { job(number, ["\(number)"], bytes: size, $0) }
        }
        try await eventually { queue.pendingCount == number + 2 }
      }
      work.open()
      try await group.waitForAll()
    }
    #expect(
      work.batches.map { $0.map { number($0) } } == [[-1], [0, 1, 2, 3], [4, 5], [6], [7], [8]])
  }

  @Test("More than may wait are refused; a failure that others would meet is told to them")
  func refusalAndFailure() async throws {
    let work = GatedWork(failure: Self.answer)
    let limits = limits {
      $0.writingConnections = 1
      $0.maximumWaitingCommits = 3
    }
    let queue = CommitQueue(limits: limits) { await work.run($0) }
    await withTaskGroup(of: StoreError?.self) { group in
      for number in 0..<3 {
        group.addTask {
          do throws(StoreError) {
            let _: Int = try await queue.commit { job(number, ["\(number)"], $0) }
            return nil
          } catch {
            return error
          }
        }
      }
      try? await eventually { queue.pendingCount == 3 }
      let refusal = await #expect(throws: StoreError.self) {
        let _: Int = try await queue.commit { job(3, ["3"], $0) }
      }
      #expect(refusal?.code == .unavailable)
      work.open()
      for await failure in group { #expect(failure?.message == Self.answer.message) }
    }
    await queue.close()
    let closed = await #expect(throws: StoreError.self) {
      let _: Int = try await queue.commit { job(4, ["4"], $0) }
    }
    #expect(closed?.code == .closed)
  }

  private static let answer = StoreError(.unavailable, "the database is away")

  private func limits(_ change: (inout PostgresStoreLimits) -> Void) -> PostgresStoreLimits {
    var limits = PostgresStoreLimits()
    change(&limits)
    return limits
  }
}

private typealias Tell = @Sendable (Result<Int, StoreError>) -> Void

/// A job that wants locks and does nothing: its grants' ids stand for them.
private func job(
  _ number: Int, _ locks: Set<String>, bytes: Int = 0, _ tell: @escaping Tell
) -> CommitJob {
  var keys = Set(
    locks.map { LedgerKey.grant(ScopedGrant(StoreSample.scope, GrantID($0))) })
  keys.insert(.notification(NotificationUUID("number \(number)")))
  return CommitJob(
    keys: keys, scopes: ScopeNumbers(), headers: HeaderNumbers(), byteCount: bytes,
    decide: { _ in { _ in tell(.success(number)) } }, fail: { tell(.failure($0)) })
}

private func number(_ job: CommitJob) -> Int {
  for case .notification(let uuid) in job.keys {
    return Int(uuid.rawValue.split(separator: " ").last ?? "") ?? .min
  }
  return .min
}

/// Lets nothing through until it is opened, and then answers each job.
private final class GatedWork: Sendable {
  private struct State {
    var batches: [[CommitJob]] = []
    var isOpen = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())
  private let failure: StoreError?

  init(failure: StoreError? = nil) { self.failure = failure }

  var batches: [[CommitJob]] { state.withLock { $0.batches } }

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }

  func run(_ jobs: [CommitJob]) async -> StoreError? {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        state.batches.append(jobs)
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
    for job in jobs {
      if let failure {
        job.fail(failure)
      } else {
        var ledger = Ledger(reader: LoadedRows())
        (try? job.decide(&ledger))?(ChangeNumbering(base: 0))
      }
    }
    return failure
  }
}
