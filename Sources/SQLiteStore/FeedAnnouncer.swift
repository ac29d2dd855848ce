import Synchronization

/// Tells all who listen that the feed may have grown. What nobody has heard yet joins.
final class FeedAnnouncer: Sendable {
  private struct State {
    var listeners: [Int: AsyncStream<Void>.Continuation] = [:]
    var nextListener = 0
    var isClosed = false
  }

  private let state = Mutex(State())

  func listen() -> AsyncStream<Void> {
    // One that was not heard yet tells of all that follow it, too.
    let (stream, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
    let number = state.withLock { state -> Int? in
      if state.isClosed { return nil }
      defer { state.nextListener += 1 }
      state.listeners[state.nextListener] = continuation
      return state.nextListener
    }
    guard let number else {
      continuation.finish()
      return stream
    }
    continuation.onTermination = { [weak self] _ in
      self?.state.withLock { state in _ = state.listeners.removeValue(forKey: number) }
    }
    return stream
  }

  func announce() {
    // Outside the lock: a listener that ends takes it.
    for listener in state.withLock({ Array($0.listeners.values) }) { listener.yield() }
  }

  /// Ends every stream, and those that are asked for later.
  func close() {
    let listeners = state.withLock { state in
      defer { state.listeners = [:] }
      state.isClosed = true
      return Array(state.listeners.values)
    }
    for listener in listeners { listener.finish() }
  }
}
