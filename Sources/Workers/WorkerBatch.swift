import Locks

/// A batch in progress. Collects the results of its chunks and resumes the caller exactly once.
final class WorkerBatch<Output: Sendable>: Sendable {
  typealias Answer = Result<[Output], PoolError>

  private struct State {
    var outputs: [[Output]]
    /// Items without an output.
    var missing: Int
    /// Nil after it was resumed.
    var continuation: CheckedContinuation<Answer, Never>?
  }

  private let state: LockedValue<State>

  /// - Parameters:
  ///   - chunks: number of chunks.
  ///   - items: number of items in all of them.
  init(chunks: Int, items: Int, continuation: CheckedContinuation<Answer, Never>) {
    state = LockedValue(
      State(
        outputs: Array(repeating: [], count: chunks), missing: items, continuation: continuation))
  }

  /// Runs one chunk until it is done, its turn is over, or the batch has ended. An item costs far
  /// more than the checks before it.
  ///
  /// - Parameters:
  ///   - chunk: index of the chunk. One worker runs it at a time.
  ///   - items: the items of the chunk that were not done yet.
  ///   - failure: the reason to end the batch; nil to continue.
  ///   - isTurnOver: not called before the first item, so that each turn makes progress.
  func work<Item>(
    on chunk: Int, items: ArraySlice<Item>, _ transform: (Item) -> Output,
    unless failure: () -> PoolError?, until isTurnOver: () -> Bool
  ) -> ChunkProgress {
    var outputs: [Output] = []
    outputs.reserveCapacity(items.count)
    for item in items {
      if hasFailed { return ChunkProgress(done: outputs.count) }
      if !outputs.isEmpty, isTurnOver() {
        add(outputs, to: chunk)
        return ChunkProgress(done: outputs.count, isInterrupted: true)
      }
      if let error = failure() {
        fail(error)
        return ChunkProgress(done: outputs.count)
      }
      outputs.append(transform(item))
    }
    add(outputs, to: chunk)
    return ChunkProgress(done: outputs.count)
  }

  /// Ends the batch if it has not ended yet.
  func fail(_ error: PoolError) {
    let continuation = state.withLock { state in
      defer { state.continuation = nil }
      return state.continuation
    }
    continuation?.resume(returning: .failure(error))
  }

  /// Whether the caller was resumed. The rest of the batch is then skipped.
  private var hasFailed: Bool { state.withLock { $0.continuation == nil } }

  private func add(_ outputs: [Output], to chunk: Int) {
    let (continuation, all) = state.withLock { state in
      if state.outputs[chunk].isEmpty {
        state.outputs[chunk] = outputs
      } else {
        state.outputs[chunk] += outputs
      }
      state.missing -= outputs.count
      guard state.missing == 0 else {
        return (nil as CheckedContinuation<Answer, Never>?, [] as [Output])
      }
      defer { state.continuation = nil }
      // Most batches have one chunk, and results are expensive to copy.
      let all = state.outputs.count == 1 ? state.outputs[0] : state.outputs.flatMap(\.self)
      return (state.continuation, all)
    }
    continuation?.resume(returning: .success(all))
  }
}

/// What a worker did with a chunk.
struct ChunkProgress: Sendable {
  /// Number of items done.
  var done: Int
  /// Whether the rest of the chunk still has to be done.
  var isInterrupted = false
}

/// How a batch is split between workers.
package struct ChunkSize: Hashable, Sendable {
  /// Minimum number of items, if the batch has as many. Waking another worker for fewer is not
  /// worth it.
  package var minimumItems: Int
  /// Maximum number of items. A chunk delays the work that is queued behind it.
  package var maximumItems: Int
  /// Maximum total weight of a chunk with more than one item.
  package var maximumWeight: Int

  package init(minimumItems: Int = 1, maximumItems: Int = .max, maximumWeight: Int = .max) {
    self.minimumItems = max(minimumItems, 1)
    self.maximumItems = max(maximumItems, 1)
    self.maximumWeight = maximumWeight
  }

  /// Splits a batch into chunks of about equal size, at most one for each worker unless the chunks
  /// would be too large.
  ///
  /// - Parameters:
  ///   - weights: the weights of the items, not negative.
  ///   - workers: number of workers, at least one.
  /// - Returns: ranges that cover all items once, in order; empty for an empty batch.
  func chunks(weights: [Int], workers: Int) -> [Range<Int>] {
    guard !weights.isEmpty else { return [] }
    let worthSharing = min(workers, weights.count / minimumItems)
    // Rounded up without an overflow.
    let bounded = (weights.count - 1) / maximumItems + 1
    let shares = max(1, worthSharing, bounded)
    var chunks: [Range<Int>] = []
    for share in 0..<shares {
      var start = weights.count * share / shares
      let end = weights.count * (share + 1) / shares
      var weight = 0
      for item in start..<end {
        if item > start, weights[item] > maximumWeight - weight {
          chunks.append(start..<item)
          start = item
          weight = 0
        }
        weight += weights[item]
      }
      if start < end { chunks.append(start..<end) }
    }
    return chunks
  }
}
