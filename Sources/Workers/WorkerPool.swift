package import Dispatch
import Locks

/// Runs CPU-bound work on a fixed number of its own threads. Each priority has a bounded queue in
/// which sources take turns (``TurnQueue``), and interactive work precedes bulk work
/// (``WorkScheduler``). Work must not block, except on short locks.
///
/// A batch costs the caller one hop to the pool and one hop back.
package final class WorkerPool: Sendable {
  /// Consecutive items of one batch, which one worker runs without a break while its turn lasts.
  private struct Chunk {
    /// Items that were not done yet.
    var count: Int
    let weight: Int
    let source: WorkSource
    /// When it began to wait.
    var waitsSince: ContinuousClock.Instant
    /// Runs the last `count` items.
    let run: @Sendable (_ count: Int, Signals) -> ChunkProgress
  }

  /// The checks before each item.
  private struct Signals {
    /// Whether the shutdown deadline has passed.
    let isOutOfTime: () -> Bool
    let isTurnOver: () -> Bool
  }

  /// `open` until `shutdown()`, then `draining` until the queues are empty and no worker runs, then
  /// `closed`.
  private enum Phase { case open, draining, closed }

  /// The work of one source that was admitted and has not ended.
  private struct Share {
    var items = 0
    var weight = 0
  }

  /// The work of one priority.
  private struct Line {
    var queue: TurnQueue<Chunk>
    var shares: [WorkSource: Share] = [:]

    mutating func ended(_ items: Int, weight: Int, of source: WorkSource) {
      guard var share = shares.removeValue(forKey: source) else { return }
      share.items -= items
      share.weight -= weight
      if share.items > 0 { shares[source] = share }
    }
  }

  private struct State {
    var phase = Phase.open
    /// After this time no new items are started; nil for no limit.
    var drainingEnd: ContinuousClock.Instant?
    var interactive: Line
    var bulk: Line
    var scheduler = WorkScheduler()
    /// Indexes of idle workers.
    var idle: [Int]
    var statistics = Statistics()
    var waitingForEnd: [CheckedContinuation<Void, Never>] = []

    subscript(priority: WorkPriority) -> Line {
      // A copy would copy the queue.
      _read {
        switch priority {
        case .interactive: yield interactive
        case .bulk: yield bulk
        }
      }
      _modify {
        switch priority {
        case .interactive: yield &interactive
        case .bulk: yield &bulk
        }
      }
    }

    mutating func popNext() -> (Chunk, WorkPriority)? {
      let next = scheduler.next(
        interactive: interactive.queue.nextItems(), bulk: bulk.queue.nextItems())
      guard let next, let (chunk, _) = self[next].queue.popFirst() else { return nil }
      return (chunk, next)
    }
  }

  /// The limits of bulk work are the interactive ones divided by this. The queues are separate, so
  /// that bulk work never displaces interactive work.
  private static let bulkShare = 2

  private let state: LockedValue<State>
  // One serial queue for each worker, so that each has its own thread. On a concurrent queue,
  // workers would occupy the threads that run Swift tasks.
  private let queues: [DispatchQueue]
  private let capacity: Int
  private let weightCapacity: Int
  private let chunkSize: ChunkSize
  private let turn: Turn
  private let now: @Sendable () -> ContinuousClock.Instant

  /// - Parameters:
  ///   - label: prefix of the queue labels, which debuggers show.
  ///   - width: number of workers, at least one.
  ///   - capacity: maximum number of queued interactive items, and so of one batch. Bulk work has a
  ///     separate limit of half of it, so that it never displaces interactive work.
  ///   - weightCapacity: maximum total weight of the queued and running interactive items, and so
  ///     of one batch, in the unit of `weight`. Bulk work has the same share of it.
  ///   - chunkSize: how batches are split between workers.
  ///   - turn: how long a source is served before the next one.
  ///   - quality: of service. On Linux it sets the nice value of the threads: 10 for background.
  ///   - now: the clock for deadlines, turns and statistics.
  package init(
    label: String, width: Int, capacity: Int, weightCapacity: Int = .max,
    chunkSize: ChunkSize = ChunkSize(), turn: Turn = Turn(items: 1, time: .seconds(3_600)),
    quality: DispatchQoS = .unspecified,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    queues = (0..<max(width, 1)).map { DispatchQueue(label: "\(label).\($0)", qos: quality) }
    let line = Line(queue: TurnQueue(turn: turn))
    state = LockedValue(State(interactive: line, bulk: line, idle: Array(queues.indices)))
    self.capacity = capacity
    self.weightCapacity = weightCapacity
    self.chunkSize = chunkSize
    self.turn = turn
    self.now = now
  }

  /// Whether new batches are accepted.
  package var isOpen: Bool { state.withLock { $0.phase == .open } }

  package var statistics: Statistics { state.withLock { $0.statistics } }

  /// What may be queued with a priority, and the number of workers.
  package func limits(of priority: WorkPriority) -> Limits {
    let share = priority == .bulk ? Self.bulkShare : 1
    return Limits(workers: queues.count, items: capacity / share, weight: weightCapacity / share)
  }

  /// Transforms all items, in parallel if there are many. Results are in the order of the items.
  ///
  /// - Parameters:
  ///   - source: the source whose turn the work waits for.
  ///   - deadline: checked before each item. After it, the rest is skipped.
  ///   - weight: the weight of an item, not negative.
  ///   - isCancelled: called before each item, on any thread. Once it returns true, the rest is
  ///     skipped.
  package func map<Item: Sendable, Output: Sendable>(
    _ items: [Item], priority: WorkPriority = .interactive, of source: WorkSource = .server,
    deadline: ContinuousClock.Instant? = nil, weight: (Item) -> Int = { _ in 0 },
    isCancelled: @escaping @Sendable () -> Bool = { false },
    _ transform: @escaping @Sendable (Item) -> Output
  ) async throws(PoolError) -> [Output] {
    guard !items.isEmpty else { return [] }
    let result = await withCheckedContinuation { continuation in
      let weights = items.map(weight)
      let ranges = chunkSize.chunks(weights: weights, workers: queues.count)
      let batch = WorkerBatch<Output>(
        chunks: ranges.count, items: items.count, continuation: continuation)
      let admitted = now()
      let chunks = ranges.enumerated().map { index, range in
        Chunk(
          count: range.count, weight: weights[range].reduce(0, +), source: source,
          waitsSince: admitted
        ) { [now] count, signals in
          batch.work(
            on: index, items: items[range].suffix(count), transform,
            unless: {
              if isCancelled() { return .cancelled }
              if let deadline, now() >= deadline { return .deadlineExceeded }
              return signals.isOutOfTime() ? .shutdown : nil
            }, until: signals.isTurnOver)
        }
      }
      do throws(PoolError) {
        try admit(chunks, priority, of: source)
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

  private func admit(
    _ chunks: [Chunk], _ priority: WorkPriority, of source: WorkSource
  ) throws(PoolError) {
    let items = chunks.reduce(0) { $0 + $1.count }
    let weight = chunks.reduce(0) { $0 + $1.weight }
    let woken: Result<[Int], PoolError> = state.withLock { state in
      guard state.phase == .open else { return .failure(.shutdown) }
      let share = state[priority].shares[source] ?? Share()
      guard
        hasRoom(
          for: items, weight, priority, beside: state.statistics[priority],
          share: source == .server ? nil : share)
      else {
        state.statistics[priority].turnedAway += items
        return .failure(.full)
      }
      for chunk in chunks {
        state[priority].queue.append(chunk, items: chunk.count, of: source)
      }
      state[priority].shares[source] = Share(
        items: share.items + items, weight: share.weight + weight)
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

  /// A source may have as much as is free for the others: one source at most half of the room, two
  /// a third each, and so on. So a source that has little is admitted whatever the others do.
  ///
  /// - Parameter share: nil if the source has no share.
  private func hasRoom(
    for items: Int, _ weight: Int, _ priority: WorkPriority, beside work: Work, share: Share?
  ) -> Bool {
    // A batch within the full capacity is admitted if nothing else is queued or running, because
    // any share may be smaller than one batch.
    if work.queued + work.running == 0 { return items <= capacity && weight <= weightCapacity }
    let part = priority == .bulk ? Self.bulkShare : 1
    let freeItems = capacity / part - work.queued - items
    let freeWeight = weightCapacity / part - work.weight - weight
    guard freeItems >= 0, freeWeight >= 0 else { return false }
    guard let share else { return true }
    return share.items + items <= freeItems && share.weight + weight <= freeWeight
  }

  /// Runs chunks until the queues are empty.
  private func work(as worker: Int) {
    while let (chunk, priority) = take(as: worker) {
      let started = now()
      let turnEnd = started + turn.time
      let progress = chunk.run(
        chunk.count,
        Signals(isOutOfTime: { self.isOutOfTime }, isTurnOver: { self.now() >= turnEnd }))
      let ended = now()
      state.withLock { state in
        var work = state.statistics[priority]
        work.running -= chunk.count
        work.done += progress.done
        work.pieces += 1
        work.waitingTime += chunk.waitsSince.duration(to: started)
        work.workingTime += started.duration(to: ended)
        state[priority].queue.charge(
          chunk.source, started.duration(to: ended), items: progress.done)
        if progress.isInterrupted {
          var rest = chunk
          rest.count -= progress.done
          rest.waitsSince = ended
          work.queued += rest.count
          state[priority].queue.putBack(rest, items: rest.count, of: rest.source)
          state[priority].ended(progress.done, weight: 0, of: chunk.source)
          state.scheduler.putBack(rest.count, priority)
        } else {
          work.weight -= chunk.weight
          work.givenUp += chunk.count - progress.done
          state[priority].ended(chunk.count, weight: chunk.weight, of: chunk.source)
        }
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

  /// The limits of one priority. The workers are those of all.
  package struct Limits: Hashable, Sendable {
    package let workers: Int
    package let items: Int
    package let weight: Int
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
