import AccessControl
import Framing
import Logging
import NIOCore
import Wire

/// Turns frames into calls, and the output of calls into frames.
extension ServerConnectionHandler {
  // MARK: Frames

  /// Decodes and handles the received frames until the client's answers must be read first.
  ///
  /// - Parameter received: When the last of them was read from the socket.
  func handleFrames(receivedAt received: NIODeadline) {
    let arrival = undecodedSince ?? received
    isHandlingFrames = true
    access.refresh()
    var hasCompletedFrame = false
    while !isPaused, !isHoldingRefusals, !streams.hasFailed, !timing.isClosing, !decoder.isEmpty {
      // Not the moment of the arrival: a deadline may pass while earlier frames are handled.
      let now = peer.eventLoop.now
      if conversion == nil, answerImmediately(arrivedAt: arrival, now: now) {
        hasCompletedFrame = true
      } else if let decoded = decoder.next() {
        hasCompletedFrame = true
        perform(streams.frameReceived(decoded, arrivedAt: arrival, now: now), for: decoded)
        conversion = nil
      } else {
        break
      }
      if isFlushDue {
        flush()
      }
    }
    isHandlingFrames = false
    decoder.compact()
    let isHeld = isPaused || isHoldingRefusals
    undecodedSince = isHeld && decoder.hasPartialFrame ? arrival : nil
    if isHeld || timing.isClosing || !decoder.hasPartialFrame {
      timing.noFrameIsPartial()
    } else {
      timing.frameIsPartial(isNew: hasCompletedFrame, now: received)
    }
  }

  /// Answers the next frames as long as ``ImmediateMethods`` has their answers. Such a call opens
  /// no stream; the client sees no difference.
  ///
  /// - Returns: Whether any frame was answered.
  private func answerImmediately(arrivedAt arrival: NIODeadline, now: NIODeadline) -> Bool {
    guard let immediates else {
      return false
    }
    // A local variable: each access to a stored property of a class is checked for exclusivity.
    var batch = exchange(&batch, with: ByteBuffer())
    let capacity = batchCapacity
    let admission = streams.admission
    let access = access.immediate(now: now)
    let isTracing = tracing != nil
    let untracedCalls = tracing?.untracedCalls ?? .max
    var answered = 0
    var answeredByToken = 0
    var answeredBySlot = ImmediateMethods.Counts(repeating: 0)
    var isStopped = batch.readableBytes >= RPCLimits.fullBatch
    var large: (streamID: StreamID, answer: StampedMessage)?
    let eventLoop = peer.eventLoop
    decoder.takeFrames { header, data in
      guard !isStopped, answered < untracedCalls, admission.admits(header),
        let answer = immediates.answer(
          to: data, from: access, isTracing: isTracing, arrivedAt: arrival, now: now,
          clock: { eventLoop.now }),
        FrameEncoder.responseDataLength(payloadLength: answer.message.readableBytes)
          <= RPCLimits.maximumFrameData
      else {
        return false
      }
      answered += 1
      answeredBySlot[answer.slot] += 1
      if answer.isByToken { answeredByToken += 1 }
      if answer.message.readableBytes > RPCLimits.maximumCopiedPayload {
        large = (header.streamID, answer.message)
        isStopped = true
        return true
      }
      if batch.readableBytes == 0, capacity > 0 {
        batch = peer.allocator.buffer(capacity: capacity)
      }
      FrameEncoder.writeResponse(streamID: header.streamID, payload: answer.message, into: &batch)
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
    if isTracing { tracing?.untracedCalls -= answered }
    let end = answered < ImmediateMethods.longRun ? now : eventLoop.now
    for slot in immediates.methods.indices where answeredBySlot[slot] > 0 {
      finishedCalls.add(
        answeredBySlot[slot], of: immediates.methods[slot].index, .ok, lasting: end - arrival)
    }
    self.access.countReads(
      byToken: answeredByToken, byConnection: answered - answeredByToken, now: now)
    batchGrew()
    return true
  }

  private func perform(_ action: ServerAction, for decoded: DecodedFrame) {
    if ServerStreams.breaksProtocol(decoded, action) {
      statistics.brokenFrames += 1
    }
    perform(action)
    if case .unskippable(let header) = decoded, header.isTLSHandshake {
      registry.faults.occurred(.plainListener, peer: peer.address)
    }
  }

  func perform(_ action: ServerAction) {
    switch action {
    case .ignore:
      break
    case .start(let call):
      start(call)
    case .respond(let streamID, let status, let method):
      writeRefusal(streamID, status, method: method)
    case .fail(let streamID, let status):
      writeRefusal(streamID, status, method: nil)
    case .end(let call, let status):
      writeFailure(call, status)
      cancel(call)
    }
    if streams.hasFailed {
      logger.debug(
        "connection broke the protocol",
        metadata: ["connection": .stringConvertible(peer.connectionID)])
      statistics.connectionsBroken += 1
      end(streams.channelClosed(), ServerStreams.protocolBroken)
    }
  }

  // MARK: Revocation

  /// Other credentials are in force: ends the streams of callers that may not have them any more.
  /// Unary calls are finished.
  func endRevokedStreams() {
    access.refresh()
    for (id, call) in openCalls where call.stream != nil {
      if let refusal = access.revocation(of: call.identity, call.permission) {
        access.gate.refused(
          call.identity.caller.name, refusal, peer: peer, method: call.method)
        abort(id, RPCStatus(refusal))
      } else {
        watchExpiry(of: call.identity)
      }
    }
  }

  func watchExpiry(of identity: Identity) {
    if let expiry = access.expiry(of: identity, now: peer.eventLoop.now) {
      credentialCheck = min(credentialCheck, expiry)
    }
  }

  // MARK: Output of calls

  /// Sends the answer of a unary call.
  func answer(_ call: CallID, with payload: ByteBuffer) {
    answer(call, with: StampedMessage(payload))
  }

  func answer(_ call: CallID, with message: StampedMessage) {
    let length = message.readableBytes
    let room = room(for: length)
    switch streams.answerProduced(
      call, payloadLength: length, waiting: waitingBytes, room: room)
    {
    case .ignore:
      return
    case .send:
      count(call, .ok)
      write(message, for: call.streamID)
    case .sendFailure(let status):
      if length > room { lackedMemory() }
      writeFailure(call, status)
    }
    forget(call)
  }

  /// Ends a call with a failure.
  func fail(_ call: CallID, _ status: RPCStatus) {
    guard case .sendFailure(let status) = streams.failureProduced(call, status) else {
      return
    }
    writeFailure(call, status)
    forget(call)
  }

  /// Sends the next message of a stream.
  func send(_ payload: ByteBuffer, cursor: String?, on call: CallID) {
    let length = payload.readableBytes
    let room = room(for: length)
    let action = streams.streamItemProduced(
      call, payloadLength: length, waiting: waitingBytes, room: room,
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
      if length > room { lackedMemory() }
      writeFailure(call, status)
      cancel(call)
    }
  }

  /// Ends a stream successfully.
  func finish(_ call: CallID) {
    guard case .send = streams.streamFinished(call) else {
      return
    }
    count(call, .ok)
    FrameEncoder.writeEndOfStream(streamID: call.streamID, into: &batch)
    batchGrew()
    forget(call)
  }

  // MARK: Cancellation

  /// Registers `body` to run when the call is cancelled, or schedules it if the call has ended.
  func onCancel(of call: CallID, _ body: @escaping @Sendable () -> Void) {
    if streams.isInFlight(call) {
      openCalls[call, default: OpenCall()].cancellations.append(body)
    } else {
      peer.eventLoop.execute(body)
    }
  }

  /// Sends a failure for calls that ``ServerStreams`` has ended, and cancels them.
  func end(_ calls: [CallID], _ status: RPCStatus) {
    for call in calls {
      writeFailure(call, status)
      cancel(call)
    }
  }

  /// Ends a call with a failure and runs its cancellation handlers.
  func abort(_ call: CallID, _ status: RPCStatus) {
    guard case .sendFailure(let status) = streams.failureProduced(call, status) else {
      return
    }
    writeFailure(call, status)
    cancel(call)
  }

  /// Cancels all calls of a closed connection.
  func abandonCalls() {
    for call in streams.channelClosed() {
      count(call, .cancelled)
      cancel(call)
    }
  }

  /// Runs the cancellation handlers of a call that has ended.
  func cancel(_ call: CallID) {
    guard let openCall = openCalls.removeValue(forKey: call) else {
      return
    }
    openCall.end()
    // Deferred: this may be called from a send in a method's body, of this call or another.
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

/// State of a call that outlives the handling of its frame, and its handlers to run when it ends.
struct OpenCall {
  /// Messages that wait for the client to read earlier ones.
  struct PendingSend {
    let messages: [StreamMessage]
    let since: NIODeadline
    /// Called after the messages are sent, with whether the stream is still open.
    let sent: (Bool) -> Void
  }

  var stream: RPCServerStream?
  /// Who the call is from, and what the caller needs for it: of a stream.
  var identity = Identity.local
  var permission = Permission.open
  /// The name of the method.
  var method = ""
  /// The cursor of the last message that was sent on the stream.
  var lastCursor: String?
  var cancellations: [@Sendable () -> Void] = []
  var pendingSends: CircularBuffer<PendingSend> = []

  /// The bytes of ``pendingSends``.
  var pendingBytes: Int {
    pendingSends.reduce(0) { $0 + $1.messages.reduce(0) { $0 + $1.payload.readableBytes } }
  }

  /// The call is over.
  func end() {
    stream?.markEnded()
    for waiting in pendingSends { waiting.sent(false) }
  }
}
