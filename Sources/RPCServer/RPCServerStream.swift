package import Framing
package import NIOCore
import Synchronization
import Wire

/// Sends the messages of one server-streaming call, from any thread.
///
/// Messages of one thread keep their order. If the client does not read and the connection's write
/// buffer is full (`RPCLimits.writeBuffer`), the stream ends with RESOURCE_EXHAUSTED, which bounds
/// the memory of a slow reader.
package final class RPCServerStream: Sendable {
  let call: CallID
  package let peer: RPCPeer
  private let connection: NIOLoopBound<ServerConnectionHandler>
  private let ended = Atomic(false)
  private let deadline: NIODeadline?
  /// Counts the call's memory until the stream is deallocated.
  private let memory: CallMemory

  init(
    call: CallID, deadline: NIODeadline?, peer: RPCPeer,
    connection: NIOLoopBound<ServerConnectionHandler>, memory: CallMemory
  ) {
    self.call = call
    self.deadline = deadline
    self.peer = peer
    self.connection = connection
    self.memory = memory
  }

  /// Whether the stream was finished, failed or cancelled, so that nothing more can be sent.
  package var isEnded: Bool {
    ended.load(ordering: .relaxed) || peer.isClosed || (deadline.map { $0 <= .now() } ?? false)
  }

  /// Sends one encoded message.
  ///
  /// - Parameter cursor: Where a reader that has this message can resume. Sent to the client if the
  ///   stream ends because it is read too slowly.
  /// - Returns: Whether the stream is still open. On other threads than the event loop, a failure
  ///   of this message is reported only by the next call.
  @discardableResult
  package func send(_ payload: ByteBuffer, cursor: String? = nil) -> Bool {
    if isEnded {
      return false
    }
    perform { $0.send(payload, cursor: cursor, on: self.call) }
    return !isEnded
  }

  /// Sends messages after the client has read most of the earlier ones, and after streams of the
  /// same connection that have waited longer. This applies backpressure to a producer that is
  /// faster than its reader. If the client reads too little for `RPCLimits.slowReaderTime`, the
  /// waiting streams end with RESOURCE_EXHAUSTED.
  ///
  /// - Returns: Whether the stream is still open.
  package func sendWhenRead(_ messages: [StreamMessage]) async -> Bool {
    await withCheckedContinuation { continuation in
      perform { connection in
        connection.sendWhenRead(messages, on: self.call) { continuation.resume(returning: $0) }
      }
    }
  }

  /// Ends the stream successfully.
  package func finish() {
    perform { $0.finish(self.call) }
  }

  /// Ends the stream with a failure.
  package func fail(_ status: RPCStatus) {
    perform { $0.fail(self.call, status) }
  }

  /// Ends the stream with a failure and runs the handlers of ``onCancel(_:)``.
  package func abort(_ status: RPCStatus) {
    perform { $0.abort(self.call, status) }
  }

  /// Runs `body` on the event loop when the stream ends other than by ``finish()`` or ``fail(_:)``.
  /// If the stream has ended already, `body` runs soon. It is scheduled as a separate task: no
  /// function of this module is on the call stack.
  package func onCancel(_ body: @escaping @Sendable () -> Void) {
    perform { $0.onCancel(of: self.call, body) }
  }

  /// Marks the stream as ended. Called on the event loop.
  func markEnded() {
    ended.store(true, ordering: .relaxed)
  }

  private func perform(_ action: @escaping @Sendable (ServerConnectionHandler) -> Void) {
    if peer.eventLoop.inEventLoop {
      action(connection.value)
    } else {
      peer.eventLoop.execute { action(self.connection.value) }
    }
  }
}

/// An encoded message of a stream.
package struct StreamMessage: Sendable {
  package let payload: ByteBuffer
  /// Where a reader that has this message can resume. Sent to the client if the stream ends because
  /// it is read too slowly.
  package let cursor: String?

  package init(_ payload: ByteBuffer, cursor: String? = nil) {
    self.payload = payload
    self.cursor = cursor
  }
}
