import Cryptography

/// One batch while its pieces are worked on, and their results until all have come in. Resumes its
/// caller exactly once.
final class WorkerBatch<Output: Sendable>: Sendable {
  typealias Answer = Result<[Output], PoolError>

  private struct State {
    var outputs: [[Output]?]
    var missing: Int
    /// Nil once it was resumed.
    var continuation: CheckedContinuation<Answer, Never>?
  }

  private let state: Guarded<State>

  /// - Parameter pieces: how many must come in.
  init(pieces: Int, continuation: CheckedContinuation<Answer, Never>) {
    state = Guarded(
      State(
        outputs: Array(repeating: nil, count: pieces), missing: pieces,
        continuation: continuation))
  }

  /// Does one piece, until the batch has failed or is to end. An item costs far more than to ask
  /// before each.
  ///
  /// - Parameters:
  ///   - piece: its index; each is worked on once.
  ///   - interruption: why the batch is to end; nil to go on.
  /// - Returns: how many items were done.
  func work<Item>(
    on piece: Int, items: ArraySlice<Item>, _ transform: (Item) -> Output,
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
    finish(piece, outputs)
    return outputs.count
  }

  /// Ends the batch, unless it has ended before.
  func fail(_ error: PoolError) {
    let continuation = state.withLock { state in
      defer { state.continuation = nil }
      return state.continuation
    }
    continuation?.resume(returning: .failure(error))
  }

  /// Whether the caller has its answer already: what is left of the batch need not be done.
  private var hasFailed: Bool { state.withLock { $0.continuation == nil } }

  private func finish(_ piece: Int, _ outputs: [Output]) {
    let (continuation, all) = state.withLock { state in
      state.outputs[piece] = outputs
      state.missing -= 1
      guard state.missing == 0 else {
        return (nil as CheckedContinuation<Answer, Never>?, [] as [Output])
      }
      defer { state.continuation = nil }
      // Most batches are one piece, and results are not cheap to copy.
      let all = state.outputs.count == 1 ? outputs : state.outputs.flatMap { $0 ?? [] }
      return (state.continuation, all)
    }
    continuation?.resume(returning: .success(all))
  }
}
