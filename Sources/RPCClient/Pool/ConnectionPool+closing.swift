import NIOCore
import Synchronization

extension ConnectionPool {
  /// Takes no more calls, waits for those in flight, then closes all connections. Streams end at
  /// once. Cancelling the task ends the waiting.
  ///
  /// - Parameter time: for calls in flight; afterwards they fail with `connectionClosed`.
  func close(within time: Duration) async {
    var actions: [State.Action] = []
    // Under one lock, so that a stream that begins meanwhile is either ended here or refused.
    let streams = shared.withLock { shared in
      shared.state.closeStarted(&actions)
      return exchange(&shared.streams, with: [:])
    }
    for stream in streams.values { stream.end() }
    perform(actions)
    let alarm = eventLoopGroup.next().scheduleTask(in: .nanoseconds(time.nanoseconds)) {
      self.resumeClosers()
    }
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let isOver = shared.withLock { shared in
          if shared.isDrained || Task.isCancelled { return true }
          shared.closers.append(continuation)
          return false
        }
        if isOver { continuation.resume() }
      }
    } onCancel: {
      resumeClosers()
    }
    alarm.cancel()
    decide { state, actions in state.closeEnded(&actions) }
  }

  /// No call is in flight any more, or the time for it is over.
  func resumeClosers() {
    let closers = shared.withLock { shared in
      shared.isDrained = true
      return exchange(&shared.closers, with: [])
    }
    for closer in closers { closer.resume() }
  }
}
