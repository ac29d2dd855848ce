import NIOCore

/// What has to be told when a call ends, for calls that keep going after their frame was handled.
struct OpenCall {
  /// Somebody who waits for the client to read.
  struct DrainWaiter {
    let continuation: CheckedContinuation<Bool, Never>
    /// Ends the stream of a client that does not.
    let alarm: Scheduled<Void>

    func resume(isOpen: Bool) {
      alarm.cancel()
      continuation.resume(returning: isOpen)
    }
  }

  var stream: RPCServerStream?
  /// The cursor of the last message sent on the stream.
  var lastCursor: String?
  var cancellations: [@Sendable () -> Void] = []
  var drainWaiters: [DrainWaiter] = []
}
