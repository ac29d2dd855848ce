package import NIOCore
import Synchronization

/// The other end of one connection. Safe to keep and to use from any thread.
package final class RPCPeer: Sendable {
  /// Counts the server's connections from 1.
  package let connectionID: UInt64
  /// Nil when the peer was gone before it could be asked for; a Unix socket's peer has no path.
  package let address: SocketAddress?
  /// The loop that all calls of the connection start on.
  package let eventLoop: any EventLoop
  package let allocator: ByteBufferAllocator
  private let closed = Atomic(false)

  init(connectionID: UInt64, channel: any Channel) {
    self.connectionID = connectionID
    self.address = channel.remoteAddress
    self.eventLoop = channel.eventLoop
    self.allocator = channel.allocator
  }

  /// Whether the connection is gone.
  package var isClosed: Bool {
    closed.load(ordering: .relaxed)
  }

  func markClosed() {
    closed.store(true, ordering: .relaxed)
  }
}
