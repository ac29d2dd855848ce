package import NIOCore

/// What the client's channel handler does about a frame.
package enum ClientAction: Hashable, Sendable {
  /// Nobody waits for it.
  case ignore
  /// The unary call is answered with this payload.
  case succeed(StreamID, ByteBuffer)
  /// The call or stream has failed.
  case fail(StreamID, RPCStatus)
  /// The stream has its next message.
  case deliver(StreamID, ByteBuffer)
  /// The stream has its next message, which is its last.
  case deliverLast(StreamID, ByteBuffer)
  /// The stream has ended well.
  case finish(StreamID)
  /// What the server sends makes no sense: close the connection.
  case close(RPCStatus)
}
