import NIOCore
import Synchronization

extension ConnectionPool {
  /// Refuses new calls, waits for the calls in flight, then closes all connections. Streams end at
  /// once. Cancelling the task ends the wait.
  ///
  /// - Parameter time: the longest wait. Calls that are still in flight then fail with
  ///   `connectionClosed`.
  func close(within time: Duration) async {
    var actions: [State.Action] = []
    // Under one lock, so that a stream that starts at the same time is either ended here or
    // refused.
    let streams = shared.withLock { shared in
      shared.state.closeStarted(&actions)
      return exchange(&shared.streams, with: [:])
    }
    for stream in streams.values { stream.end() }
    perform(actions)
    let timer = eventLoopGroup.next().scheduleTask(in: .nanoseconds(time.nanoseconds)) {
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
    timer.cancel()
    decide { state, actions in state.closeEnded(&actions) }
  }

  /// The last call in flight has ended, or the wait has timed out.
  func resumeClosers() {
    let closers = shared.withLock { shared in
      shared.isDrained = true
      return exchange(&shared.closers, with: [])
    }
    for closer in closers { closer.resume() }
  }
}
