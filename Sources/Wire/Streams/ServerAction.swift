package import NIOCore

/// What the channel handler does about a frame.
package enum ServerAction: Sendable {
  case ignore
  /// Carry out the call; it stays in flight until it is answered or ended.
  case start(ServerCall)
  /// Send this failure; there is no call behind it.
  case respond(StreamID, RPCStatus)
  /// Tell the call that nobody waits for it any more, and send this failure.
  case end(CallID, RPCStatus)
  /// Send this failure, cancel all calls, then close: the bytes that follow make no sense.
  case fail(StreamID, RPCStatus)
}

/// What the channel handler does about something that a call has produced.
package enum AnswerAction: Hashable, Sendable {
  /// The call is no longer in flight, or something was asked that does not fit its kind.
  case ignore
  /// Send it.
  case send
  /// Send this failure in its place; the call is over.
  case sendFailure(RPCStatus)
}

/// Names one call for as long as its connection lives. A client may use a stream id again; the
/// serial number keeps late answers to an earlier call from being taken for the new one's.
package struct CallID: Hashable, Sendable {
  package let streamID: StreamID
  package let serial: UInt64

  package init(streamID: StreamID, serial: UInt64) {
    self.streamID = streamID
    self.serial = serial
  }
}

/// A call that the server is to carry out.
package struct ServerCall: Sendable {
  package let id: CallID
  /// Index into ``MethodTable/methods``.
  package let method: Int
  package let request: RequestEnvelope
  /// When the caller stops waiting; nil is never.
  package let deadline: NIODeadline?
}
