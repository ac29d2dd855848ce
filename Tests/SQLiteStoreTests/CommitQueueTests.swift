import Dispatch
import EntitlementStore
import GRDB
import Synchronization
import TestSupport
import Testing
import Workers

@testable import SQLiteStore

@Suite("Writes that share SQLite transactions")
struct CommitQueueTests {
  private let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  /// Blocks the writing thread until it is opened.
  private final class Gate: Sendable {
    private let reached = Mutex(false)
    private let opening = DispatchSemaphore(value: 0)

    var isReached: Bool { reached.withLock { $0 } }

    func open() { opening.signal() }

    func pass() {
      reached.withLock { $0 = true }
      opening.wait()
      // For the next one.
      opening.signal()
    }
  }

  /// Notes in which order writes ran.
  private final class WriteLog<Entry: Sendable>: Sendable {
    private let state = Mutex<[Entry]>([])

    var entries: [Entry] { state.withLock { $0 } }

    func append(_ entry: Entry) { state.withLock { $0.append(entry) } }
  }

  @Test("A source with 1,000 waiting writes delays another source's write by one transaction")
  func turns() async throws {
    let pool = try DatabasePool(path: folder.file("queue.sqlite"))
    let queue = CommitQueue(pool: pool, maximumCommitsPerTransaction: 128)
    let order = WriteLog<Int>()
    let gate = Gate()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { try await queue.commit({ _ in gate.pass() }, of: .caller(1)) }
      try await eventually { gate.isReached }
      for number in 0..<1_003 {
        group.addTask {
          try await queue.commit(
            { _ in order.append(number) },
            of: .caller(number < 1_000 ? 1 : 2))
        }
        // One after the other, so that their order is known.
        while queue.waitingCount <= number { await Task.yield() }
      }
      gate.open()
      try await group.waitForAll()
    }
    let all = order.entries
    #expect(all.prefix(128).filter { $0 >= 1_000 } == [1_000, 1_001, 1_002])
    #expect(all.filter { $0 < 1_000 } == Array(0..<1_000))
    try pool.close()
  }

  @Test("A source that fills its share of the queue is refused, and others are admitted")
  func shares() async throws {
    var limits = SQLiteStoreLimits()
    limits.maximumWaitingCommits = 10
    let store = try SQLiteStore.open(at: folder.file("entitle.sqlite"), limits: limits)
    let gate = Gate()
    let written = WriteLog<WorkSource>()
    @Sendable func write(as source: WorkSource) async throws {
      let context = CallContext(deadline: nil, source: source)
      try await CallContext.$current.withValue(context) {
        try await store.write { _ in
          gate.pass()
          written.append(source)
        }
      }
    }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<5 { group.addTask { try await write(as: .caller(1)) } }
      try await eventually { store.pendingWrites == 5 }
      let refusal = await #expect(throws: StoreError.self) { try await write(as: .caller(1)) }
      #expect(refusal?.code == .unavailable)
      group.addTask { try await write(as: .caller(2)) }
      try await eventually { store.pendingWrites == 6 }
      gate.open()
      try await group.waitForAll()
    }
    #expect(written.entries.count { $0 == .caller(2) } == 1)
    try await write(as: .caller(1))
    await store.close()
  }
}
