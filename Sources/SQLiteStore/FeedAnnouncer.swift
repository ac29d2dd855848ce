import Synchronization

/// Notifies subscribers of new changes in the feed. Pending notifications are coalesced.
final class FeedAnnouncer: Sendable {
  private struct State {
    var subscribers: [Int: AsyncStream<Void>.Continuation] = [:]
    var nextSubscriber = 0
    var isClosed = false
  }

  private let state = Mutex(State())

  func subscribe() -> AsyncStream<Void> {
    // One pending notification covers all later ones.
    let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state -> Int? in
      if state.isClosed { return nil }
      defer { state.nextSubscriber += 1 }
      state.subscribers[state.nextSubscriber] = continuation
      return state.nextSubscriber
    }
    guard let number else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { state in _ = state.subscribers.removeValue(forKey: number) }
    }
    return stream
  }

  func announce() {
    // Outside the lock, because the termination handler of a subscriber takes it.
    for subscriber in state.withLock({ Array($0.subscribers.values) }) { subscriber.yield() }
  }

  /// Finishes every stream, and later ones at once.
  func close() {
    let subscribers = state.withLock { state in
      defer { state.subscribers = [:] }
      state.isClosed = true
      return Array(state.subscribers.values)
    }
    for subscriber in subscribers { subscriber.finish() }
  }
}
