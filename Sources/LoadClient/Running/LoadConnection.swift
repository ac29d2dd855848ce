import NIOCore
import RPCClient
import Wire

/// One connection of a thread, which is opened again when it is lost. On its event loop.
final class LoadConnection {
  private let address: ServerAddress
  private let eventLoop: any EventLoop
  private(set) var rpc: RPCConnection?
  var inFlight = 0
  private var isClosing = false
  /// Called when it is there again.
  var onReconnect: (() -> Void)?

  /// Between two attempts: a restarting server is not flooded.
  private static let pause = TimeAmount.milliseconds(100)

  init(_ rpc: RPCConnection, to address: ServerAddress) {
    self.rpc = rpc
    self.address = address
    eventLoop = rpc.eventLoop
  }

  /// It does not work any more.
  ///
  /// - Returns: whether that was not known.
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
    Task { [address, eventLoop] in
      let connection = try? await RPCConnection.connect(to: address, eventLoopGroup: eventLoop)
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
