import Cryptography
import Locks

/// A batch in progress. Collects the results of its chunks and resumes the caller exactly once.
final class WorkerBatch<Output: Sendable>: Sendable {
  typealias Answer = Result<[Output], PoolError>

  private struct State {
    var outputs: [[Output]?]
    var missing: Int
    /// Nil after it was resumed.
    var continuation: CheckedContinuation<Answer, Never>?
  }

  private let state: LockedValue<State>

  /// - Parameter chunks: number of chunks.
  init(chunks: Int, continuation: CheckedContinuation<Answer, Never>) {
    state = LockedValue(
      State(
        outputs: Array(repeating: nil, count: chunks), missing: chunks,
        continuation: continuation))
  }

  /// Runs one chunk until it is done or the batch has ended. An item costs far more than the check
  /// before it.
  ///
  /// - Parameters:
  ///   - chunk: index of the chunk. Each chunk runs once.
  ///   - interruption: the reason to end the batch; nil to continue.
  /// - Returns: number of items done.
  func work<Item>(
    on chunk: Int, items: ArraySlice<Item>, _ transform: (Item) -> Output,
    unless interruption: () -> PoolError?
  ) -> Int {
    var outputs: [Output] = []
    outputs.reserveCapacity(items.count)
    for item in items {
      if hasFailed { return outputs.count }
      if let error = interruption() {
        fail(error)
        return outputs.count
      }
      outputs.append(transform(item))
    }
    finish(chunk, outputs)
    return outputs.count
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

  private func finish(_ chunk: Int, _ outputs: [Output]) {
    let (continuation, all) = state.withLock { state in
      state.outputs[chunk] = outputs
      state.missing -= 1
      guard state.missing == 0 else {
        return (nil as CheckedContinuation<Answer, Never>?, [] as [Output])
      }
      defer { state.continuation = nil }
      // Most batches have one chunk, and results are expensive to copy.
      let all = state.outputs.count == 1 ? outputs : state.outputs.flatMap { $0 ?? [] }
      return (state.continuation, all)
    }
    continuation?.resume(returning: .success(all))
  }
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
