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
    /// Given up because their deadline had passed.
    package var expired = 0
    /// Turned away because the queue was full.
    package var turnedAway = 0
  }

  /// Consecutive items of one batch: what one worker does at a stretch.
  private struct Piece {
    let count: Int
    /// Returns false when the items were given up instead.
    let run: @Sendable () -> Bool
  }

  /// `open` until `shutdown()`, then `draining` until the queue is empty and no worker runs, then
  /// `closed`.
  private enum Phase { case open, draining, closed }

  private struct State {
    var phase = Phase.open
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
  private let itemsPerPiece: Int
  private let now: @Sendable () -> ContinuousClock.Instant

  /// - Parameters:
  ///   - label: names the threads in debuggers.
  ///   - width: workers at most, at least one.
  ///   - capacity: items that may wait; a larger batch than this never fits.
  ///   - itemsPerPiece: a batch is shared between workers in pieces of at least this many items.
  ///   - now: the clock that deadlines are told by.
  package init(
    label: String, width: Int, capacity: Int, itemsPerPiece: Int,
    now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
  ) {
    queues = (0..<max(width, 1)).map { DispatchQueue(label: "\(label).\($0)") }
    state = Mutex(State(idle: Array(queues.indices)))
    self.capacity = capacity
    self.itemsPerPiece = max(itemsPerPiece, 1)
    self.now = now
  }

  /// Whether new batches are taken.
  package var isOpen: Bool { state.withLock { $0.phase == .open } }

  package var statistics: Statistics { state.withLock { $0.statistics } }

  /// Transforms all items, in parallel when they are many. Results keep the order of the items.
  ///
  /// - Parameter deadline: checked when work on a piece of the batch starts. Once it has passed, the
  ///   rest is not done.
  package func map<Item: Sendable, Output: Sendable>(
    _ items: [Item], deadline: ContinuousClock.Instant? = nil,
    _ transform: @escaping @Sendable (Item) -> Output
  ) async throws(PoolError) -> [Output] {
    guard !items.isEmpty else { return [] }
    let result = await withCheckedContinuation { continuation in
      let ranges = pieces(of: items.count)
      let batch = Batch<Output>(pieces: ranges.count, continuation: continuation)
      let pieces = ranges.enumerated().map { index, range in
        Piece(count: range.count) { [now] in
          if batch.hasFailed { return false }
          if let deadline, now() >= deadline {
            batch.fail(.deadlineExceeded)
            return false
          }
          batch.finish(index, items[range].map(transform))
          return true
        }
      }
      do throws(PoolError) {
        try admit(pieces, items: items.count)
      } catch {
        batch.fail(error)
      }
    }
    return try result.get()
  }

  /// Turns away new batches, and returns when those that were admitted are done. May be called more
  /// than once.
  package func shutdown() async {
    await withCheckedContinuation { continuation in
      let isClosed = state.withLock { state in
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

  private func admit(_ pieces: [Piece], items: Int) throws(PoolError) {
    let woken: Result<[Int], PoolError> = state.withLock { state in
      guard state.phase == .open else { return .failure(.shutdown) }
      guard state.statistics.queued + items <= capacity else {
        state.statistics.turnedAway += items
        return .failure(.full)
      }
      state.pieces.append(contentsOf: pieces)
      state.statistics.queued += items
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
      let wasDone = piece.run()
      state.withLock { state in
        state.statistics.running -= piece.count
        if wasDone {
          state.statistics.done += piece.count
        } else {
          state.statistics.expired += piece.count
        }
      }
    }
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

/// The results of one batch while its pieces come in. Resumes its caller exactly once.
private final class Batch<Output: Sendable>: Sendable {
  private struct State {
    var outputs: [[Output]?]
    var missing: Int
    /// Nil once it was resumed.
    var continuation: CheckedContinuation<Result<[Output], PoolError>, Never>?
  }

  private let state: Mutex<State>

  init(pieces: Int, continuation: CheckedContinuation<Result<[Output], PoolError>, Never>) {
    state = Mutex(
      State(
        outputs: Array(repeating: nil, count: pieces), missing: pieces,
        continuation: continuation))
  }

  /// Whether the caller has its answer already: what is left of the batch need not be done.
  var hasFailed: Bool { state.withLock { $0.continuation == nil } }

  func finish(_ piece: Int, _ outputs: [Output]) {
    let (continuation, all) = state.withLock { state in
      state.outputs[piece] = outputs
      state.missing -= 1
      guard state.missing == 0 else {
        return (nil as CheckedContinuation<Result<[Output], PoolError>, Never>?, [] as [Output])
      }
      defer { state.continuation = nil }
      return (state.continuation, state.outputs.flatMap { $0 ?? [] })
    }
    continuation?.resume(returning: .success(all))
  }

  func fail(_ error: PoolError) {
    let continuation = state.withLock { state in
      defer { state.continuation = nil }
      return state.continuation
    }
    continuation?.resume(returning: .failure(error))
  }
}
