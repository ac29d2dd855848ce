package import NIOCore
import Synchronization
package import Wire

/// What a client asks for.
package struct RPCCall: Sendable {
  /// The encoded request message. A slice of what was received: a call that is kept for long
  /// should keep what it decoded from this instead, as the slice holds a whole read's memory.
  package let payload: ByteBuffer
  package let metadata: RPCMetadata
  /// When the client stops waiting; nil is never. After it the server answers by itself.
  package let deadline: NIODeadline?
  package let peer: RPCPeer

  package var eventLoop: any EventLoop {
    peer.eventLoop
  }

  package var allocator: ByteBufferAllocator {
    peer.allocator
  }
}

/// The way to answer one unary call, once, from any thread. Uses after the first, and after the
/// call has ended by itself, have no effect.
///
/// On the call's event loop the answer is written at once and flushed with all others of the same
/// read; from elsewhere it hops to the loop. Every call must be answered: until then, or until
/// its deadline, it counts as in flight.
package struct RPCAnswer: Sendable {
  let call: CallID
  let deadline: NIODeadline?
  let peer: RPCPeer
  let connection: NIOLoopBound<ServerConnectionHandler>

  /// Answers with an encoded response message.
  package func succeed(_ payload: ByteBuffer) {
    if peer.eventLoop.inEventLoop {
      connection.value.answer(call, with: payload)
    } else {
      peer.eventLoop.execute { connection.value.answer(call, with: payload) }
    }
  }

  package func fail(_ status: RPCStatus) {
    if peer.eventLoop.inEventLoop {
      connection.value.fail(call, status)
    } else {
      peer.eventLoop.execute { connection.value.fail(call, status) }
    }
  }

  /// Whether it is known on every thread that nobody waits for the answer any more: the
  /// connection is gone or the deadline has passed.
  package var isCancelled: Bool {
    peer.isClosed || (deadline.map { $0 <= .now() } ?? false)
  }

  /// Runs `body` on the event loop when the call ends without its answer: the client went away,
  /// broke the protocol, the deadline passed, or the server shuts down. Runs it soon if the call
  /// has ended already. It has a turn of the loop to itself: no method of this module is on the
  /// stack.
  package func onCancel(_ body: @escaping @Sendable () -> Void) {
    if peer.eventLoop.inEventLoop {
      connection.value.onCancel(of: call, body)
    } else {
      peer.eventLoop.execute { connection.value.onCancel(of: call, body) }
    }
  }
}

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
