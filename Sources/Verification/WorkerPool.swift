import Dispatch
import Synchronization

/// Runs CPU-bound work on threads of its own: a fixed width, a bounded queue, first come first
/// served. Work must not block on anything but short locks.
///
/// Callers hop out once and back once for each batch.
package final class WorkerPool: Sendable {
  /// What the pool is doing and has done, in items.
  package struct Statistics: Hashable, Sendable {
    package var queued = 0
    package var running = 0
    package var done = 0
    /// Admitted and not done: the deadline had passed, the caller had given up, or there was no time
    /// left before the end.
    package var givenUp = 0
    /// Turned away because there was no room.
    package var turnedAway = 0
    /// The weight of what is queued and running.
    package var weight = 0
  }

  /// Consecutive items of one batch: what one worker does at a stretch.
  private struct Piece {
    let count: Int
    let weight: Int
    /// Returns how many items were done; the others were given up.
    let run: @Sendable (_ isOutOfTime: () -> Bool) -> Int
  }

  /// `open` until `shutdown()`, then `draining` until the queue is empty and no worker runs, then
  /// `closed`.
  private enum Phase { case open, draining, closed }

  private struct State {
    var phase = Phase.open
    /// When draining stops to begin new work; nil for never.
    var drainingEnd: ContinuousClock.Instant?
    /// Nil where a piece was taken: what it held is not kept any longer.
    var pieces: [Piece?] = []
    /// Pieces before this one were taken.
    var next = 0
    /// Workers that have nothing to do, by index.
    var idle: [Int]
    var statistics = Statistics()
    var waitingForEnd: [CheckedContinuation<Void, Never>] = []
  }

  private let state: Mutex<State>
  // A serial queue for each worker: those get threads of their own. Workers on a concurrent queue
  // would share the few threads on which Swift runs its tasks, and hold them while there is work.
  private let queues: [DispatchQueue]
  private let capacity: Int
  private let weightCapacity: Int
  private let itemsPerPiece: Int
  private let now: @Sendable () -> ContinuousClock.Instant

  /// - Parameters:
  ///   - label: names the threads in debuggers.
  ///   - width: workers at most, at least one.
  ///   - capacity: items that may wait; a larger batch than this never fits.
  ///   - weightCapacity: what the items that wait or are worked on may weigh together, in the unit
  ///     of those who submit them; a heavier batch than this never fits.
  ///   - itemsPerPiece: a batch is shared between workers in pieces of at least this many items.
  ///   - now: the clock that deadlines are told by.
  package init(
    label: String, width: Int, capacity: Int, weightCapacity: Int = .max, itemsPerPiece: Int,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    queues = (0..<max(width, 1)).map { DispatchQueue(label: "\(label).\($0)") }
    state = Mutex(State(idle: Array(queues.indices)))
    self.capacity = capacity
    self.weightCapacity = weightCapacity
    self.itemsPerPiece = max(itemsPerPiece, 1)
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
    _ items: [Item], deadline: ContinuousClock.Instant? = nil,
    weight: (Item) -> Int = { _ in 0 },
    isCancelled: @escaping @Sendable () -> Bool = { false },
    _ transform: @escaping @Sendable (Item) -> Output
  ) async throws(PoolError) -> [Output] {
    guard !items.isEmpty else { return [] }
    let result = await withCheckedContinuation { continuation in
      let ranges = pieces(of: items.count)
      let batch = WorkerBatch<Output>(pieces: ranges.count, continuation: continuation)
      let pieces = ranges.enumerated().map { index, range in
        let weight = items[range].reduce(0) { $0 + weight($1) }
        return Piece(count: range.count, weight: weight) { [now] isOutOfTime in
          batch.work(on: index, items: items[range], transform) {
            if isCancelled() { return .cancelled }
            if let deadline, now() >= deadline { return .deadlineExceeded }
            return isOutOfTime() ? .shutdown : nil
          }
        }
      }
      do throws(PoolError) {
        try admit(pieces)
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

  /// Even shares, no more than there are workers, none below the least worth sharing.
  private func pieces(of count: Int) -> [Range<Int>] {
    let pieceCount = max(1, min(queues.count, count / itemsPerPiece))
    return (0..<pieceCount).map { index in
      count * index / pieceCount..<count * (index + 1) / pieceCount
    }
  }

  private func admit(_ pieces: [Piece]) throws(PoolError) {
    let items = pieces.reduce(0) { $0 + $1.count }
    let weight = pieces.reduce(0) { $0 + $1.weight }
    let woken: Result<[Int], PoolError> = state.withLock { state in
      guard state.phase == .open else { return .failure(.shutdown) }
      guard items <= capacity - state.statistics.queued,
        weight <= weightCapacity - state.statistics.weight
      else {
        state.statistics.turnedAway += items
        return .failure(.full)
      }
      state.pieces.append(contentsOf: pieces)
      state.statistics.queued += items
      state.statistics.weight += weight
      let woken = Array(state.idle.suffix(pieces.count))
      state.idle.removeLast(woken.count)
      return .success(woken)
    }
    for worker in try woken.get() {
      queues[worker].async { self.work(as: worker) }
    }
  }

  /// Takes pieces until none is left.
  private func work(as worker: Int) {
    while let piece = take(as: worker) {
      let done = piece.run { isOutOfTime }
      state.withLock { state in
        state.statistics.running -= piece.count
        state.statistics.weight -= piece.weight
        state.statistics.done += done
        state.statistics.givenUp += piece.count - done
      }
    }
  }

  /// Whether the time that was given for draining has passed.
  private var isOutOfTime: Bool {
    guard let end = state.withLock({ $0.drainingEnd }) else { return false }
    return now() >= end
  }

  private func take(as worker: Int) -> Piece? {
    let (piece, waiting) = state.withLock { state -> (Piece?, [CheckedContinuation<Void, Never>]) in
      guard state.next < state.pieces.count, let piece = state.pieces[state.next] else {
        state.pieces.removeAll(keepingCapacity: true)
        state.next = 0
        state.idle.append(worker)
        guard state.phase == .draining, state.idle.count == queues.count else { return (nil, []) }
        state.phase = .closed
        defer { state.waitingForEnd = [] }
        return (nil, state.waitingForEnd)
      }
      state.pieces[state.next] = nil
      state.next += 1
      // What was taken goes when it is the greater part, so that a queue that never empties stays
      // short, at a constant cost for each piece.
      if state.next > state.pieces.count / 2 {
        state.pieces.removeFirst(state.next)
        state.next = 0
      }
      state.statistics.queued -= piece.count
      state.statistics.running += piece.count
      return (piece, [])
    }
    for continuation in waiting { continuation.resume() }
    return piece
  }
}
