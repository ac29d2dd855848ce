package import NIOCore
import Synchronization
package import Wire

/// The way to send the messages of one server-streaming call, from any thread.
///
/// Messages of one thread keep their order. A stream whose client does not read is ended with
/// RESOURCE_EXHAUSTED once the connection's write buffer is full (`RPCLimits.writeBuffer`), so
/// that a slow reader holds neither memory nor others.
package final class RPCServerStream: Sendable {
  let call: CallID
  package let peer: RPCPeer
  private let connection: NIOLoopBound<ServerConnectionHandler>
  private let ended = Atomic(false)
  private let deadline: NIODeadline?

  init(
    call: CallID, deadline: NIODeadline?, peer: RPCPeer,
    connection: NIOLoopBound<ServerConnectionHandler>
  ) {
    self.call = call
    self.deadline = deadline
    self.peer = peer
    self.connection = connection
  }

  /// Whether nothing can be sent any more: the stream was finished, failed or cancelled.
  package var isEnded: Bool {
    ended.load(ordering: .relaxed) || peer.isClosed || (deadline.map { $0 <= .now() } ?? false)
  }

  /// Sends one encoded message.
  ///
  /// - Parameter cursor: Where a reader that has this message can resume; told to the client if
  ///   the stream is ended for being read too slowly.
  /// - Returns: Whether the stream is still open. From another thread than the event loop this is
  ///   what is known before sending: a refusal shows with the next message.
  @discardableResult
  package func send(_ payload: ByteBuffer, cursor: String? = nil) -> Bool {
    if isEnded {
      return false
    }
    perform { $0.send(payload, cursor: cursor, on: self.call) }
    return !isEnded
  }

  /// Sends messages as soon as the client has read most of what was sent before, and after those of
  /// the connection's other streams that have waited longer: whoever makes messages faster than they
  /// are read waits here, and is not ended for it. A client that reads too little for
  /// `RPCLimits.slowReaderTime` has the streams that wait ended with RESOURCE_EXHAUSTED.
  ///
  /// - Returns: Whether the stream is still open.
  package func sendWhenRead(_ messages: [StreamMessage]) async -> Bool {
    await withCheckedContinuation { continuation in
      perform { connection in
        connection.sendWhenRead(messages, on: self.call) { continuation.resume(returning: $0) }
      }
    }
  }

  /// Ends the stream well.
  package func finish() {
    perform { $0.finish(self.call) }
  }

  package func fail(_ status: RPCStatus) {
    perform { $0.fail(self.call, status) }
  }

  /// Fails, and runs what was handed to ``onCancel(_:)``.
  package func giveUp(_ status: RPCStatus) {
    perform { $0.giveUp(self.call, status) }
  }

  /// Runs `body` on the event loop when the stream ends in another way than by ``finish()`` and
  /// ``fail(_:)``. Runs it soon if the stream has ended already. It has a turn of the loop to
  /// itself: no method of this module is on the stack.
  package func onCancel(_ body: @escaping @Sendable () -> Void) {
    perform { $0.onCancel(of: self.call, body) }
  }

  /// The connection has ended the stream. On the event loop.
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

/// A message of a stream, encoded.
package struct StreamMessage: Sendable {
  package let payload: ByteBuffer
  /// Where a reader that has this message can resume; told to the client if the stream is ended for
  /// being read too slowly.
  package let cursor: String?

  package init(_ payload: ByteBuffer, cursor: String? = nil) {
    self.payload = payload
    self.cursor = cursor
  }
}
