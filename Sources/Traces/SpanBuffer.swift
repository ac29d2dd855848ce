import Synchronization

/// Finished spans that wait for their export. Bounded: while the buffer is full, further spans are
/// dropped.
package final class SpanBuffer: Sendable {
  package struct Counts: Hashable, Sendable {
    package var exported = 0
    /// Spans that were not recorded, or never reached the collector.
    package var dropped = 0
    /// Batches that the collector did not take.
    package var failures = 0
    package var buffered = 0

    package init() {}
  }

  private struct State {
    var spans: [SpanRecord] = []
    var counts = Counts()
  }

  package let limit: Int
  private let state = Mutex(State())
  /// Has an element when spans should be exported.
  package let wakeUps: AsyncStream<Void>
  private let continuation: AsyncStream<Void>.Continuation

  package init(limit: Int = TraceLimits.bufferedSpans) {
    self.limit = limit
    // One is enough: all spans are exported then.
    (wakeUps, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
  }

  package var counts: Counts {
    state.withLock { state in
      var counts = state.counts
      counts.buffered = state.spans.count
      return counts
    }
  }

  func add(_ span: SpanRecord) {
    let isBatch = state.withLock { state in
      guard state.spans.count < limit else {
        state.counts.dropped += 1
        return false
      }
      state.spans.append(span)
      return state.spans.count % TraceLimits.spansPerBatch == 0
    }
    if isBatch { wakeUp() }
  }

  package func wakeUp() {
    continuation.yield()
  }

  /// Takes the oldest spans; none if there are none.
  package func take() -> [SpanRecord] {
    state.withLock { state in
      let batch = Array(state.spans.prefix(TraceLimits.spansPerBatch))
      state.spans.removeFirst(batch.count)
      return batch
    }
  }

  /// Puts a batch back that could not be sent yet.
  package func putBack(_ batch: [SpanRecord]) {
    state.withLock { state in
      let kept = batch.suffix(max(0, limit - state.spans.count))
      state.counts.dropped += batch.count - kept.count
      state.spans.insert(contentsOf: kept, at: 0)
    }
  }

  // MARK: Counting

  package func exported(_ count: Int) {
    state.withLock { $0.counts.exported += count }
  }

  package func dropped(_ count: Int) {
    state.withLock { $0.counts.dropped += count }
  }

  /// The collector did not take a batch.
  package func failed() {
    state.withLock { $0.counts.failures += 1 }
  }
}
