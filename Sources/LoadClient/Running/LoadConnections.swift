import NIOCore
import RPCClient
import Wire

/// The connections of one thread. Used on the event loop of the thread.
final class LoadConnections {
  let all: [LoadConnection]
  private var next = 0
  private var open: Int

  /// Called when a connection was reopened.
  var onReconnect: (() -> Void)?

  /// - Parameter connections: all on one event loop; not empty.
  init(_ connections: [RPCConnection], to target: RPCTarget) {
    all = connections.map { LoadConnection($0, to: target) }
    open = all.count
    for connection in all {
      connection.onReconnect = { [weak self] in
        self?.open += 1
        self?.onReconnect?()
      }
    }
  }

  /// Chooses an open connection, round robin.
  ///
  /// - Parameter limit: of calls in flight on one connection.
  /// - Returns: nil when no open connection is below the limit.
  func withRoom(below limit: Int) -> (LoadConnection, RPCConnection)? {
    for _ in all {
      let connection = all[next]
      next = (next + 1) % all.count
      if let rpc = connection.rpc, connection.inFlight < limit { return (connection, rpc) }
    }
    return nil
  }

  /// Marks a connection as lost, and reopens it.
  ///
  /// - Returns: false when it was already marked.
  func lost(_ connection: LoadConnection) -> Bool {
    guard connection.lost() else { return false }
    open -= 1
    return true
  }

  var isNoneOpen: Bool { open == 0 }

  func close() -> [RPCConnection] { all.compactMap { $0.close() } }
}

/// One connection of a thread, which is reopened when it is lost. Used on its event loop.
final class LoadConnection {
  private let target: RPCTarget
  private let eventLoop: any EventLoop
  private(set) var rpc: RPCConnection?
  var inFlight = 0
  private var isClosing = false
  /// Called when the connection was reopened.
  var onReconnect: (() -> Void)?

  /// Pause between two attempts, so that a restarting server is not flooded.
  private static let pause = TimeAmount.milliseconds(100)

  init(_ rpc: RPCConnection, to target: RPCTarget) {
    self.rpc = rpc
    self.target = target
    eventLoop = rpc.eventLoop
  }

  /// Marks the connection as lost, and reopens it.
  ///
  /// - Returns: false when it was already marked.
  func lost() -> Bool {
    guard rpc != nil else { return false }
    rpc = nil
    reconnectLater()
    return true
  }

  func close() -> RPCConnection? {
    isClosing = true
    return exchange(&rpc, with: nil)
  }

  private func reconnectLater() {
    guard !isClosing else { return }
    eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { self.reconnect() }
  }

  private func reconnect() {
    guard !isClosing, rpc == nil else { return }
    let loopBound = NIOLoopBound(self, eventLoop: eventLoop)
    Task { [target, eventLoop] in
      let connection = try? await RPCConnection.connect(to: target, eventLoopGroup: eventLoop)
      eventLoop.execute { loopBound.value.connected(connection) }
    }
  }

  private func connected(_ connection: RPCConnection?) {
    guard let connection else { return reconnectLater() }
    guard !isClosing else {
      Task { await connection.close() }
      return
    }
    rpc = connection
    onReconnect?()
  }
}
