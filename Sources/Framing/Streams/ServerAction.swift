package import NIOCore

/// What the server's channel handler does with a frame.
package enum ServerAction: Sendable {
  case ignore
  /// Start the call. It is in flight until it is answered or ended.
  case start(ServerCall)
  /// Send this failure. No call was started.
  ///
  /// - Parameter method: the index into ``MethodTable/methods``, if it is known.
  case respond(StreamID, RPCStatus, method: Int? = nil)
  /// Cancel the call and send this failure.
  case end(CallID, RPCStatus)
  /// Send this failure, cancel all calls, and close the connection: the bytes that follow cannot be
  /// decoded.
  case fail(StreamID, RPCStatus)
}

/// What the server's channel handler does with the output of a call.
package enum AnswerAction: Hashable, Sendable {
  /// Ignore it: the call is no longer in flight, or the output does not fit its kind.
  case ignore
  /// Send the output.
  case send
  /// Send this failure instead. The call has ended.
  case sendFailure(RPCStatus)
}

/// Identifies a call during the lifetime of its connection. A client may reuse a stream id; the
/// serial number distinguishes a late answer to the earlier call from the answer to the new one.
///
/// Whatever ends a call has its id, so what must be known then is here and need not be looked up.
package struct CallID: Hashable, Sendable {
  package let streamID: StreamID
  package let serial: UInt64
  /// The index into ``MethodTable/methods``.
  package let method: Int
  /// When the request arrived.
  package let arrival: NIODeadline

  package static func == (left: CallID, right: CallID) -> Bool {
    left.serial == right.serial && left.streamID == right.streamID
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(serial)
  }
}

/// A call that the server starts.
package struct ServerCall: Sendable {
  package let id: CallID
  package let request: RequestEnvelope
  /// When the caller stops waiting; nil if never.
  package let deadline: NIODeadline?

  /// The index into ``MethodTable/methods``.
  package var method: Int { id.method }
}
