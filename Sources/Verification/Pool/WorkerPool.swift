import Cryptography
import Dispatch
import Locks

/// Runs CPU-bound work on a fixed number of its own threads. Each priority has a bounded FIFO
/// queue, and interactive work precedes bulk work (``WorkScheduler``). Work must not block, except
/// on short locks.
///
/// A batch costs the caller one hop to the pool and one hop back.
package final class WorkerPool: Sendable {
  /// Consecutive items of one batch, which one worker runs without a break.
  private struct Chunk {
    let count: Int
    let weight: Int
    let admitted: ContinuousClock.Instant
    /// Returns the number of items done; the others were skipped.
    let run: @Sendable (_ isOutOfTime: () -> Bool) -> Int
  }

  /// `open` until `shutdown()`, then `draining` until the queues are empty and no worker runs, then
  /// `closed`.
  private enum Phase { case open, draining, closed }

  private struct State {
    var phase = Phase.open
    /// After this time no new items are started; nil for no limit.
    var drainingEnd: ContinuousClock.Instant?
    var interactive = WorkQueue<Chunk>()
    var bulk = WorkQueue<Chunk>()
    var scheduler = WorkScheduler()
    /// Indexes of idle workers.
    var idle: [Int]
    var statistics = Statistics()
    var waitingForEnd: [CheckedContinuation<Void, Never>] = []

    mutating func append(_ chunks: [Chunk], _ priority: WorkPriority) {
      switch priority {
      case .interactive: interactive.append(contentsOf: chunks)
      case .bulk: bulk.append(contentsOf: chunks)
      }
    }

    mutating func popNext() -> (Chunk, WorkPriority)? {
      switch scheduler.next(interactive: interactive.first?.count, bulk: bulk.first?.count) {
      case .interactive: interactive.popFirst().map { ($0, .interactive) }
      case .bulk: bulk.popFirst().map { ($0, .bulk) }
      case nil: nil
      }
    }
  }

  private let state: LockedValue<State>
  // One serial queue for each worker, so that each has its own thread. On a concurrent queue,
  // workers would occupy the threads that run Swift tasks.
  private let queues: [DispatchQueue]
  private let capacity: Int
  private let weightCapacity: Int
  private let chunkSize: ChunkSize
  private let now: @Sendable () -> ContinuousClock.Instant

  /// - Parameters:
  ///   - label: prefix of the queue labels, which debuggers show.
  ///   - width: number of workers, at least one.
  ///   - capacity: maximum number of queued interactive items, and so of one batch. Bulk work has a
  ///     separate limit, a share of this one (``VerificationLimits/bulkShare``), so that it never
  ///     displaces interactive work.
  ///   - weightCapacity: maximum total weight of the queued and running interactive items, and so
  ///     of one batch, in the unit of `weight`. Bulk work has the same share of it.
  ///   - chunkSize: how batches are split between workers.
  ///   - now: the clock for deadlines and statistics.
  package init(
    label: String, width: Int, capacity: Int, weightCapacity: Int = .max,
    chunkSize: ChunkSize = ChunkSize(),
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    queues = (0..<max(width, 1)).map { DispatchQueue(label: "\(label).\($0)") }
    state = LockedValue(State(idle: Array(queues.indices)))
    self.capacity = capacity
    self.weightCapacity = weightCapacity
    self.chunkSize = chunkSize
    self.now = now
  }

  /// Whether new batches are accepted.
  package var isOpen: Bool { state.withLock { $0.phase == .open } }

  package var statistics: Statistics { state.withLock { $0.statistics } }

  /// Transforms all items, in parallel if there are many. Results are in the order of the items.
  ///
  /// - Parameters:
  ///   - deadline: checked before each item. After it, the rest is skipped.
  ///   - weight: the weight of an item, not negative.
  ///   - isCancelled: called before each item, on any thread. Once it returns true, the rest is
  ///     skipped.
  package func map<Item: Sendable, Output: Sendable>(
    _ items: [Item], priority: WorkPriority = .interactive,
    deadline: ContinuousClock.Instant? = nil, weight: (Item) -> Int = { _ in 0 },
    isCancelled: @escaping @Sendable () -> Bool = { false },
    _ transform: @escaping @Sendable (Item) -> Output
  ) async throws(PoolError) -> [Output] {
    guard !items.isEmpty else { return [] }
    let result = await withCheckedContinuation { continuation in
      let weights = items.map(weight)
      let ranges = chunkSize.chunks(weights: weights, workers: queues.count)
      let batch = WorkerBatch<Output>(chunks: ranges.count, continuation: continuation)
      let admitted = now()
      let chunks = ranges.enumerated().map { index, range in
        Chunk(
          count: range.count, weight: weights[range].reduce(0, +), admitted: admitted
        ) { [now] isOutOfTime in
          batch.work(on: index, items: items[range], transform) {
            if isCancelled() { return .cancelled }
            if let deadline, now() >= deadline { return .deadlineExceeded }
            return isOutOfTime() ? .shutdown : nil
          }
        }
      }
      do throws(PoolError) {
        try admit(chunks, priority)
      } catch {
        batch.fail(error)
      }
    }
    return try result.get()
  }

  /// Rejects new batches and returns when all workers are idle. May be called more than once; the
  /// earliest deadline applies.
  ///
  /// - Parameter deadline: items that have not started by then are skipped, and their batches end
  ///   with ``PoolError/shutdown``; nil for no limit.
  package func shutdown(deadline: ContinuousClock.Instant? = nil) async {
    await withCheckedContinuation { continuation in
      let isClosed = state.withLock { state in
        if let deadline { state.drainingEnd = min(deadline, state.drainingEnd ?? deadline) }
        if state.phase == .open {
          state.phase = state.idle.count == queues.count ? .closed : .draining
        }
        if state.phase == .closed { return true }
        state.waitingForEnd.append(continuation)
        return false
      }
      if isClosed { continuation.resume() }
    }
  }

  private func admit(_ chunks: [Chunk], _ priority: WorkPriority) throws(PoolError) {
    let items = chunks.reduce(0) { $0 + $1.count }
    let weight = chunks.reduce(0) { $0 + $1.weight }
    let woken: Result<[Int], PoolError> = state.withLock { state in
      guard state.phase == .open else { return .failure(.shutdown) }
      guard hasRoom(for: items, weight, priority, beside: state.statistics[priority]) else {
        state.statistics[priority].turnedAway += items
        return .failure(.full)
      }
      state.append(chunks, priority)
      state.statistics[priority].queued += items
      state.statistics[priority].weight += weight
      let woken = Array(state.idle.suffix(chunks.count))
      state.idle.removeLast(woken.count)
      return .success(woken)
    }
    for worker in try woken.get() {
      queues[worker].async { self.work(as: worker) }
    }
  }

  private func hasRoom(
    for items: Int, _ weight: Int, _ priority: WorkPriority, beside work: Work
  ) -> Bool {
    guard items <= capacity - work.queued, weight <= weightCapacity - work.weight else {
      return false
    }
    // A batch within the full capacity is admitted if no other bulk work is queued or running,
    // because the bulk share may be smaller than one batch.
    if priority == .interactive || work.queued + work.running == 0 { return true }
    return items <= capacity / VerificationLimits.bulkShare - work.queued
      && weight <= weightCapacity / VerificationLimits.bulkShare - work.weight
  }

  /// Runs chunks until the queues are empty.
  private func work(as worker: Int) {
    while let (chunk, priority) = take(as: worker) {
      let started = now()
      let done = chunk.run { isOutOfTime }
      let ended = now()
      state.withLock { state in
        var work = state.statistics[priority]
        work.running -= chunk.count
        work.weight -= chunk.weight
        work.done += done
        work.givenUp += chunk.count - done
        work.pieces += 1
        work.waitingTime += chunk.admitted.duration(to: started)
        work.workingTime += started.duration(to: ended)
        state.statistics[priority] = work
      }
    }
  }

  /// Whether the shutdown deadline has passed.
  private var isOutOfTime: Bool {
    guard let end = state.withLock({ $0.drainingEnd }) else { return false }
    return now() >= end
  }

  private func take(as worker: Int) -> (Chunk, WorkPriority)? {
    let (next, waiting) = state.withLock {
      state -> ((Chunk, WorkPriority)?, [CheckedContinuation<Void, Never>]) in
      if let (chunk, priority) = state.popNext() {
        state.statistics[priority].queued -= chunk.count
        state.statistics[priority].running += chunk.count
        return ((chunk, priority), [])
      }
      state.idle.append(worker)
      guard state.phase == .draining, state.idle.count == queues.count else { return (nil, []) }
      state.phase = .closed
      defer { state.waitingForEnd = [] }
      return (nil, state.waitingForEnd)
    }
    for continuation in waiting { continuation.resume() }
    return next
  }
}

/// The priority of work.
package enum WorkPriority: String, Hashable, Sendable, CaseIterable {
  /// Work for a customer or for Apple's servers, which time out within seconds.
  case interactive
  /// An import. It must not slow down interactive work.
  case bulk
}

/// Why a batch has no results. Retrying is always safe.
package enum PoolError: Error, Hashable, Sendable {
  /// The queue is full. Retry later.
  case full
  /// The deadline passed before all items were started.
  case deadlineExceeded
  /// The caller cancelled the batch.
  case cancelled
  /// The pool is shutting down. It rejected the batch or ran out of time for it.
  case shutdown
}

extension WorkerPool {
  /// Counters of one priority, in items unless stated otherwise.
  package struct Work: Hashable, Sendable {
    package var queued = 0
    package var running = 0
    package var done = 0
    /// Admitted but not done: the deadline passed, the caller cancelled, or the pool shut down.
    package var givenUp = 0
    /// Rejected because the queue was full.
    package var turnedAway = 0
    /// Total weight of queued and running items.
    package var weight = 0
    /// Completed chunks. ``waitingTime`` and ``workingTime`` are sums over them.
    package var pieces = 0
    /// Total time that these chunks waited for a worker.
    package var waitingTime = Duration.zero
    /// Total wall-clock time that workers spent on these chunks.
    package var workingTime = Duration.zero
  }

  package struct Statistics: Hashable, Sendable {
    package var interactive = Work()
    package var bulk = Work()

    package subscript(priority: WorkPriority) -> Work {
      get {
        switch priority {
        case .interactive: interactive
        case .bulk: bulk
        }
      }
      set {
        switch priority {
        case .interactive: interactive = newValue
        case .bulk: bulk = newValue
        }
      }
    }

    /// Sums over both priorities.
    package var queued: Int { interactive.queued + bulk.queued }
    package var running: Int { interactive.running + bulk.running }
    package var done: Int { interactive.done + bulk.done }
    package var givenUp: Int { interactive.givenUp + bulk.givenUp }
    package var turnedAway: Int { interactive.turnedAway + bulk.turnedAway }
    package var weight: Int { interactive.weight + bulk.weight }
    package var pieces: Int { interactive.pieces + bulk.pieces }
    package var waitingTime: Duration { interactive.waitingTime + bulk.waitingTime }
    package var workingTime: Duration { interactive.workingTime + bulk.workingTime }
  }
}
