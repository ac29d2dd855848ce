/// What has to be told when a call ends, for calls that keep going after their frame was handled.
struct OpenCall {
  var stream: RPCServerStream?
  /// The cursor of the last message sent on the stream.
  var lastCursor: String?
  var cancellations: [@Sendable () -> Void] = []
}
