import Cryptography
import Dispatch

/// Runs CPU-bound work on threads of its own: a fixed width, a bounded queue for each priority,
/// interactive work before bulk work (``WorkTurns``), within each first come first served. Work must
/// not block on anything but short locks.
///
/// Callers hop out once and back once for each batch.
package final class WorkerPool: Sendable {
  /// Consecutive items of one batch: what one worker does at a stretch.
  private struct Piece {
    let count: Int
    let weight: Int
    let admitted: ContinuousClock.Instant
    /// Returns how many items were done; the others were given up.
    let run: @Sendable (_ isOutOfTime: () -> Bool) -> Int
  }

  /// `open` until `shutdown()`, then `draining` until the queues are empty and no worker runs, then
  /// `closed`.
  private enum Phase { case open, draining, closed }

  private struct State {
    var phase = Phase.open
    /// When draining stops to begin new work; nil for never.
    var drainingEnd: ContinuousClock.Instant?
    var interactive = WorkQueue<Piece>()
    var bulk = WorkQueue<Piece>()
    var turns = WorkTurns()
    /// Workers that have nothing to do, by index.
    var idle: [Int]
    var statistics = Statistics()
    var waitingForEnd: [CheckedContinuation<Void, Never>] = []

    mutating func append(_ pieces: [Piece], _ priority: WorkPriority) {
      switch priority {
      case .interactive: interactive.append(contentsOf: pieces)
      case .bulk: bulk.append(contentsOf: pieces)
      }
    }

    mutating func popNext() -> (Piece, WorkPriority)? {
      switch turns.next(interactive: interactive.first?.count, bulk: bulk.first?.count) {
      case .interactive: interactive.popFirst().map { ($0, .interactive) }
      case .bulk: bulk.popFirst().map { ($0, .bulk) }
      case nil: nil
      }
    }
  }

  private let state: Guarded<State>
  // A serial queue for each worker: those get threads of their own. Workers on a concurrent queue
  // would share the few threads on which Swift runs its tasks, and hold them while there is work.
  private let queues: [DispatchQueue]
  private let capacity: Int
  private let weightCapacity: Int
  private let pieceSize: PieceSize
  private let now: @Sendable () -> ContinuousClock.Instant

  /// - Parameters:
  ///   - label: names the threads in debuggers.
  ///   - width: workers at most, at least one.
  ///   - capacity: interactive items that may wait; a larger batch than this never fits. Bulk work
  ///     has room of its own, a share of this (``VerificationLimits/bulkShare``), so that it never
  ///     turns interactive work away.
  ///   - weightCapacity: what the items of one priority that wait or are worked on may weigh
  ///     together, in the unit of those who submit them, for bulk work the same share of it; a
  ///     heavier batch than this never fits.
  ///   - pieceSize: how batches are shared between workers.
  ///   - now: the clock that deadlines and times are told by.
  package init(
    label: String, width: Int, capacity: Int, weightCapacity: Int = .max,
    pieceSize: PieceSize = PieceSize(),
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    queues = (0..<max(width, 1)).map { DispatchQueue(label: "\(label).\($0)") }
    state = Guarded(State(idle: Array(queues.indices)))
    self.capacity = capacity
    self.weightCapacity = weightCapacity
    self.pieceSize = pieceSize
    self.now = now
  }

  /// Whether new batches are taken.
  package var isOpen: Bool { state.withLock { $0.phase == .open } }

  package var statistics: Statistics { state.withLock { $0.statistics } }

  /// Transforms all items, in parallel when they are many. Results keep the order of the items.
  ///
  /// - Parameters:
  ///   - deadline: looked at before each item. Once it has passed, the rest is not done.
  ///   - weight: what an item weighs, not negative.
  ///   - isCancelled: asked before each item, on any thread. Once it is true, the rest is not done.
  package func map<Item: Sendable, Output: Sendable>(
    _ items: [Item], priority: WorkPriority = .interactive,
    deadline: ContinuousClock.Instant? = nil, weight: (Item) -> Int = { _ in 0 },
    isCancelled: @escaping @Sendable () -> Bool = { false },
    _ transform: @escaping @Sendable (Item) -> Output
  ) async throws(PoolError) -> [Output] {
    guard !items.isEmpty else { return [] }
    let result = await withCheckedContinuation { continuation in
      let weights = items.map(weight)
      let ranges = pieceSize.pieces(weights: weights, workers: queues.count)
      let batch = WorkerBatch<Output>(pieces: ranges.count, continuation: continuation)
      let admitted = now()
      let pieces = ranges.enumerated().map { index, range in
        Piece(
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
        try admit(pieces, priority)
      } catch {
        batch.fail(error)
      }
    }
    return try result.get()
  }

  /// Turns away new batches, and returns when no worker is at work any more. May be called more
  /// than once; the earliest deadline counts.
  ///
  /// - Parameter deadline: items that have not begun by then are given up, and their batches end
  ///   with ``PoolError/shutdown``; nil to finish all that was admitted.
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

  private func admit(_ pieces: [Piece], _ priority: WorkPriority) throws(PoolError) {
    let items = pieces.reduce(0) { $0 + $1.count }
    let weight = pieces.reduce(0) { $0 + $1.weight }
    let woken: Result<[Int], PoolError> = state.withLock { state in
      guard state.phase == .open else { return .failure(.shutdown) }
      guard hasRoom(for: items, weight, priority, beside: state.statistics[priority]) else {
        state.statistics[priority].turnedAway += items
        return .failure(.full)
      }
      state.append(pieces, priority)
      state.statistics[priority].queued += items
      state.statistics[priority].weight += weight
      let woken = Array(state.idle.suffix(pieces.count))
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
    // A batch that fits at all fits when no other bulk work is there: its share may be smaller
    // than one batch.
    if priority == .interactive || work.queued + work.running == 0 { return true }
    return items <= capacity / VerificationLimits.bulkShare - work.queued
      && weight <= weightCapacity / VerificationLimits.bulkShare - work.weight
  }

  /// Takes pieces until none is left.
  private func work(as worker: Int) {
    while let (piece, priority) = take(as: worker) {
      let started = now()
      let done = piece.run { isOutOfTime }
      let ended = now()
      state.withLock { state in
        var work = state.statistics[priority]
        work.running -= piece.count
        work.weight -= piece.weight
        work.done += done
        work.givenUp += piece.count - done
        work.pieces += 1
        work.waitingTime += piece.admitted.duration(to: started)
        work.workingTime += started.duration(to: ended)
        state.statistics[priority] = work
      }
    }
  }

  /// Whether the time that was given for draining has passed.
  private var isOutOfTime: Bool {
    guard let end = state.withLock({ $0.drainingEnd }) else { return false }
    return now() >= end
  }

  private func take(as worker: Int) -> (Piece, WorkPriority)? {
    let (next, waiting) = state.withLock {
      state -> ((Piece, WorkPriority)?, [CheckedContinuation<Void, Never>]) in
      if let (piece, priority) = state.popNext() {
        state.statistics[priority].queued -= piece.count
        state.statistics[priority].running += piece.count
        return ((piece, priority), [])
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
