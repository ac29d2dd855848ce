import NIOCore
import Wire

/// Streams that wait until the client has read what was sent, so that making messages is no faster
/// than reading them.
extension ServerConnectionHandler {
  /// Resumes with whether the stream is still open, as soon as more may be sent on it.
  func awaitDrain(of call: CallID, _ continuation: CheckedContinuation<Bool, Never>) {
    guard streams.isInFlight(call), let context else {
      continuation.resume(returning: false)
      return
    }
    if context.channel.isWritable {
      continuation.resume(returning: true)
      return
    }
    let alarm = peer.eventLoop.assumeIsolated().scheduleTask(in: slowReaderTime) {
      self.readerStalled(call)
    }
    openCalls[call, default: OpenCall()].drainWaiters.append(
      OpenCall.DrainWaiter(continuation: continuation, alarm: alarm))
    drainingCalls.insert(call)
  }

  /// The client has read enough.
  func drained() {
    for call in exchange(&drainingCalls, with: []) {
      guard let waiters = openCalls[call]?.drainWaiters else { continue }
      openCalls[call]?.drainWaiters = []
      for waiter in waiters { waiter.resume(isOpen: true) }
    }
  }

  /// The call is over.
  func endDrain(of openCall: OpenCall) {
    for waiter in openCall.drainWaiters { waiter.resume(isOpen: false) }
  }

  private func readerStalled(_ call: CallID) {
    let action = streams.streamStalled(call, lastCursor: openCalls[call]?.lastCursor)
    guard case .sendFailure(let status) = action else { return }
    writeFailure(call.streamID, status)
    cancel(call)
  }
}
