import Synchronization

/// The connection of one stream: the protocol has no way to end a stream, so that each has one of
/// its own, which is closed with it.
final class StreamConnection: Sendable {
  private enum State {
    case connecting
    case open(RPCConnection)
    case ended
  }

  private let queue: MessageQueue
  private let state = Mutex(State.connecting)

  /// - Parameter queue: where the stream's messages go.
  init(for queue: MessageQueue) {
    self.queue = queue
  }

  /// Whether nobody wants the stream any more.
  var isEnded: Bool {
    state.withLock { if case .ended = $0 { true } else { false } }
  }

  /// Makes the call, unless nobody wants it any more. Then the connection is closed.
  func start(_ request: RPCRequest, over connection: RPCConnection) {
    let isWanted = state.withLock { state in
      if case .ended = state { return false }
      state = .open(connection)
      return true
    }
    if isWanted {
      connection.startStream(request, into: queue)
    } else {
      connection.reset()
    }
  }

  /// Ends the stream, for its reader and for the server; what has come is still read.
  func end(_ error: RPCClientError = .closed) {
    let former = state.withLock { exchange(&$0, with: .ended) }
    queue.end(error)
    if case .open(let connection) = former { connection.reset() }
  }
}
