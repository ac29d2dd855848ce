import Synchronization

/// The connection of one stream: the protocol has no way to end a stream, so that each has one of
/// its own, which is closed with it.
final class StreamConnection: Sendable {
  private enum State {
    case connecting
    case open(RPCConnection)
    case ended
  }

  private let state = Mutex(State.connecting)

  /// - Returns: whether the stream is still wanted; otherwise the connection is closed.
  func opened(_ connection: RPCConnection) -> Bool {
    let isWanted = state.withLock { state in
      if case .ended = state { return false }
      state = .open(connection)
      return true
    }
    if !isWanted { connection.reset() }
    return isWanted
  }

  func end() {
    let former = state.withLock { exchange(&$0, with: .ended) }
    if case .open(let connection) = former { connection.reset() }
  }
}
