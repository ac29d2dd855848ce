import Logging
import NIOCore
import Wire

/// From frames to calls, and from what calls produce to frames.
extension ServerConnectionHandler {
  // MARK: Frames

  func handleFrames(now: NIODeadline) {
    let arrival = heldBackSince ?? now
    isHandlingFrames = true
    var hasCompletedFrame = false
    while !isPaused, !streams.hasFailed, !timing.isClosing, !decoder.isEmpty {
      if answerAtOnce(arrivedAt: arrival, now: now) {
        hasCompletedFrame = true
      } else if let decoded = decoder.next() {
        hasCompletedFrame = true
        perform(streams.frameReceived(decoded, arrivedAt: arrival, now: now), for: decoded)
      } else {
        break
      }
      if isFlushDue {
        flush()
      }
    }
    isHandlingFrames = false
    decoder.compact()
    heldBackSince = isPaused && decoder.hasPartialFrame ? arrival : nil
    if isPaused || timing.isClosing || !decoder.hasPartialFrame {
      timing.noFrameIsPartial()
    } else {
      timing.frameIsPartial(isNew: hasCompletedFrame, now: now)
    }
  }

  /// Answers the next frames as long as their methods have the answer at hand: no stream is opened, no
  /// call is made, and the client cannot tell.
  ///
  /// - Returns: Whether there was such a frame.
  private func answerAtOnce(arrivedAt arrival: NIODeadline, now: NIODeadline) -> Bool {
    guard let immediates else {
      return false
    }
    // Kept here meanwhile: each use of a property that may change is checked, at the price of a look-up.
    var batch = exchange(&batch, with: ByteBuffer())
    let capacity = batchCapacity
    let admission = streams.admission
    var answered = 0
    var isStopped = batch.readableBytes >= RPCLimits.fullBatch
    var large: (streamID: StreamID, answer: ByteBuffer)?
    decoder.takeFrames { header, data in
      guard !isStopped, admission.admits(header),
        let answer = immediates.answer(to: data, arrivedAt: arrival, now: now),
        FrameEncoder.responseDataLength(payloadLength: answer.readableBytes)
          <= RPCLimits.maximumFrameData
      else {
        return false
      }
      answered += 1
      if answer.readableBytes > RPCLimits.maximumCopiedPayload {
        large = (header.streamID, answer)
        isStopped = true
        return true
      }
      if batch.readableBytes == 0, capacity > 0 {
        batch = peer.allocator.buffer(capacity: capacity)
      }
      FrameEncoder.writeResponse(streamID: header.streamID, payload: answer, into: &batch)
      isStopped = batch.readableBytes >= RPCLimits.fullBatch
      return true
    }
    self.batch = batch
    if let large {
      write(large.answer, for: large.streamID)
    }
    if answered == 0 {
      return false
    }
    statistics.calls.countSuccesses(answered)
    batchGrew()
    return true
  }

  private func perform(_ action: ServerAction, for decoded: DecodedFrame) {
    if ServerStreams.breaksProtocol(decoded, action) {
      statistics.brokenFrames += 1
    }
    switch action {
    case .ignore:
      break
    case .start(let call):
      start(call)
    case .respond(let streamID, let status), .fail(let streamID, let status):
      writeFailure(streamID, status)
    case .end(let call, let status):
      writeFailure(call.streamID, status)
      cancel(call)
    }
    if streams.hasFailed {
      logger.debug(
        "connection broke the protocol", metadata: ["connection": "\(peer.connectionID)"])
      statistics.connectionsBroken += 1
      end(streams.channelClosed(), ServerStreams.protocolBroken)
    }
  }

  private func start(_ call: ServerCall) {
    let request = RPCCall(
      payload: call.request.payload, metadata: call.request.metadata, deadline: call.deadline,
      peer: peer)
    let connection = NIOLoopBound(self, eventLoop: peer.eventLoop)
    switch router.bodies[call.method] {
    case .unary(let body):
      body(
        request,
        RPCAnswer(call: call.id, deadline: call.deadline, peer: peer, connection: connection))
    case .serverStreaming(let body):
      let stream = RPCServerStream(
        call: call.id, deadline: call.deadline, peer: peer, connection: connection)
      openCalls[call.id] = OpenCall(stream: stream)
      body(request, stream)
    }
  }

  // MARK: What calls produce

  func answer(_ call: CallID, with payload: ByteBuffer) {
    let length = payload.readableBytes
    switch streams.answerProduced(call, payloadLength: length, waiting: waitingBytes) {
    case .ignore:
      return
    case .send:
      statistics.calls.count(.ok)
      write(payload, for: call.streamID)
    case .sendFailure(let status):
      writeFailure(call.streamID, status)
    }
    forget(call)
  }

  func fail(_ call: CallID, _ status: RPCStatus) {
    guard case .sendFailure(let status) = streams.failureProduced(call, status) else {
      return
    }
    writeFailure(call.streamID, status)
    forget(call)
  }

  func send(_ payload: ByteBuffer, cursor: String?, on call: CallID) {
    let length = payload.readableBytes
    let action = streams.streamItemProduced(
      call, payloadLength: length, waiting: waitingBytes,
      lastCursor: openCalls[call]?.lastCursor)
    switch action {
    case .ignore:
      return
    case .send:
      statistics.streamMessages += 1
      if let cursor {
        openCalls[call]?.lastCursor = cursor
      }
      FrameEncoder.writeDataPrefix(
        streamID: call.streamID, payloadLength: length, into: &batch)
      writePayload(payload)
    case .sendFailure(let status):
      writeFailure(call.streamID, status)
      cancel(call)
    }
  }

  func finish(_ call: CallID) {
    guard case .send = streams.streamFinished(call) else {
      return
    }
    statistics.calls.count(.ok)
    FrameEncoder.writeEndOfStream(streamID: call.streamID, into: &batch)
    batchGrew()
    forget(call)
  }

  // MARK: Calls that end by themselves

  func onCancel(of call: CallID, _ body: @escaping @Sendable () -> Void) {
    if streams.isInFlight(call) {
      openCalls[call, default: OpenCall()].cancellations.append(body)
    } else {
      peer.eventLoop.execute(body)
    }
  }

  /// Ends calls that the streams have given up already.
  func end(_ calls: [CallID], _ status: RPCStatus) {
    for call in calls {
      writeFailure(call.streamID, status)
      cancel(call)
    }
  }

  /// Ends a call that takes too long for the server: whoever waits to be told of its end is told.
  func giveUp(_ call: CallID, _ status: RPCStatus) {
    guard case .sendFailure(let status) = streams.failureProduced(call, status) else {
      return
    }
    writeFailure(call.streamID, status)
    cancel(call)
  }

  /// The client hears nothing any more.
  func abandonCalls() {
    for call in streams.channelClosed() {
      statistics.calls.count(.cancelled)
      cancel(call)
    }
  }

  func cancel(_ call: CallID) {
    guard let openCall = openCalls.removeValue(forKey: call) else {
      return
    }
    openCall.end()
    // The caller may be the send of a method's body, this call's or another's.
    for body in openCall.cancellations {
      peer.eventLoop.execute(body)
    }
  }

  private func forget(_ call: CallID) {
    if openCalls.isEmpty {
      return
    }
    openCalls.removeValue(forKey: call)?.end()
  }
}

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
