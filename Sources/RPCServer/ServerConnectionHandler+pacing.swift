import NIOCore
import Wire

/// Streams that wait with their next messages until the client has read what was sent, so that making
/// messages is no faster than reading them.
///
/// They take turns, the one that has waited longest first, and none is told to go on before its
/// messages are written: if all of them went on as soon as there is room, they would fill the write
/// buffer together, and a client that reads would be taken for one that does not.
extension ServerConnectionHandler {
  /// Writes messages when it is their turn.
  ///
  /// - Parameter sent: told then, on the event loop, whether the stream is still open.
  func sendWhenRead(
    _ messages: [StreamMessage], on call: CallID, _ sent: @escaping (Bool) -> Void
  ) {
    guard streams.isInFlight(call), context != nil else {
      sent(false)
      return
    }
    // Whoever waited was served when the channel became writable.
    if isWritable {
      sent(send(messages, on: call))
      return
    }
    openCalls[call, default: OpenCall()].waitingSends.append(
      OpenCall.WaitingSend(messages: messages, since: peer.eventLoop.now, sent: sent))
    turns.append(call)
    armAlarm()
  }

  /// The client has read so much that more may be sent.
  func clientHasRead(now: NIODeadline) {
    lastRead = now
    while isWritable, let call = turns.popFirst() {
      // A call that has ended since waits for nothing.
      guard let next = openCalls[call]?.waitingSends.popFirst() else { continue }
      next.sent(send(next.messages, on: call))
    }
  }

  /// When the stream that has waited longest is given up, unless the client reads before.
  var stallTime: NIODeadline {
    if turns.isEmpty { return .distantFuture }
    return turns.lazy.compactMap { self.stallTime(of: $0) }.first ?? .distantFuture
  }

  /// Ends the streams that have waited too long.
  func endStalledStreams(now: NIODeadline) {
    for call in turns where stallTime(of: call).map({ $0 <= now }) ?? false {
      let action = streams.streamStalled(call, lastCursor: openCalls[call]?.lastCursor)
      guard case .sendFailure(let status) = action else { continue }
      writeFailure(call.streamID, status)
      cancel(call)
    }
  }

  /// Whoever waits while others are served waits for a client that reads: that time does not count.
  private func stallTime(of call: CallID) -> NIODeadline? {
    openCalls[call]?.waitingSends.first.map { max($0.since, lastRead) + slowReaderTime }
  }

  private func send(_ messages: [StreamMessage], on call: CallID) -> Bool {
    for message in messages {
      send(message.payload, cursor: message.cursor, on: call)
    }
    return streams.isInFlight(call)
  }
}
