import NIOCore

/// What has to be told when a call ends, for calls that keep going after their frame was handled.
struct OpenCall {
  /// Messages that wait for the client to read what was sent before.
  struct WaitingSend {
    let messages: [StreamMessage]
    let since: NIODeadline
    /// Told whether the stream is still open.
    let sent: (Bool) -> Void
  }

  var stream: RPCServerStream?
  /// The cursor of the last message sent on the stream.
  var lastCursor: String?
  var cancellations: [@Sendable () -> Void] = []
  var waitingSends: CircularBuffer<WaitingSend> = []

  /// The call is over.
  func end() {
    stream?.markEnded()
    for waiting in waitingSends { waiting.sent(false) }
  }
}
