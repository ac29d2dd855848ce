package import NIOCore

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
