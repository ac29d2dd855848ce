import Synchronization

/// The connection of one stream. The protocol has no message that ends a stream, so each stream has
/// its own connection, which is closed with it.
final class StreamConnection: Sendable {
  private enum State {
    case connecting
    case open(RPCConnection)
    case ended
  }

  private let queue: MessageQueue
  private let state = Mutex(State.connecting)

  /// - Parameter queue: receives the messages of the stream.
  init(for queue: MessageQueue) {
    self.queue = queue
  }

  /// Whether the stream was ended.
  var isEnded: Bool {
    state.withLock { if case .ended = $0 { true } else { false } }
  }

  /// Starts the call. If the stream was ended meanwhile, resets the connection instead.
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

  /// Ends the stream for its reader and for the server. Messages in the queue can still be read.
  func end(_ error: RPCClientError = .closed) {
    let former = state.withLock { exchange(&$0, with: .ended) }
    queue.end(error)
    if case .open(let connection) = former { connection.reset() }
  }
}
