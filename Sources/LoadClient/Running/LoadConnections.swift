import RPCClient
import Wire

/// The connections of one thread. On its event loop.
final class LoadConnections {
  let all: [LoadConnection]
  private var next = 0
  private var open: Int

  /// Called when one is there again.
  var onReconnect: (() -> Void)?

  /// - Parameter connections: of one event loop; not empty.
  init(_ connections: [RPCConnection], to address: ServerAddress) {
    all = connections.map { LoadConnection($0, to: address) }
    open = all.count
    for connection in all {
      connection.onReconnect = { [weak self] in
        self?.open += 1
        self?.onReconnect?()
      }
    }
  }

  /// The connections take turns.
  ///
  /// - Parameter limit: of calls in flight.
  /// - Returns: nil when none is there that has fewer of them.
  func withRoom(below limit: Int) -> (LoadConnection, RPCConnection)? {
    for _ in all {
      let connection = all[next]
      next = (next + 1) % all.count
      if let rpc = connection.rpc, connection.inFlight < limit { return (connection, rpc) }
    }
    return nil
  }

  /// One does not work any more, and is opened again.
  ///
  /// - Returns: whether that was not known.
  func lost(_ connection: LoadConnection) -> Bool {
    guard connection.lost() else { return false }
    open -= 1
    return true
  }

  var isNoneOpen: Bool { open == 0 }

  func close() -> [RPCConnection] { all.compactMap { $0.close() } }
}
