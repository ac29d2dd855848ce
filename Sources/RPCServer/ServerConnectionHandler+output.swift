import NIOCore
import Wire

/// Writing and flushing in batches.
extension ServerConnectionHandler {
  /// Call before writing to the batch: gives an empty one its memory in one piece.
  func prepareBatch() {
    if batch.readableBytes == 0, batchCapacity > 0 {
      batch = peer.allocator.buffer(capacity: batchCapacity)
    }
  }

  func writeFailure(_ streamID: StreamID, _ status: RPCStatus) {
    statistics.calls.count(status.code)
    FrameEncoder.writeResponse(streamID: streamID, status: status, into: &batch)
    batchGrew()
  }

  /// Writes the answer to a unary call.
  func write(_ answer: ByteBuffer, for streamID: StreamID) {
    prepareBatch()
    if answer.readableBytes <= RPCLimits.maximumCopiedPayload {
      FrameEncoder.writeResponse(streamID: streamID, payload: answer, into: &batch)
      batchGrew()
    } else {
      FrameEncoder.writeResponsePrefix(
        streamID: streamID, payloadLength: answer.readableBytes, into: &batch)
      writePayload(answer)
    }
  }

  /// Writes what belongs to the prefix at the end of the batch.
  func writePayload(_ payload: ByteBuffer) {
    if payload.readableBytes <= RPCLimits.maximumCopiedPayload {
      batch.writeImmutableBuffer(payload)
    } else {
      passBatchOn()
      context?.write(wrapOutboundOut(payload), promise: nil)
    }
    batchGrew()
  }

  /// Sees to it that what was written is sent, but not now: the caller may be a method's body.
  func batchGrew() {
    if batch.readableBytes >= RPCLimits.fullBatch {
      passBatchOn()
    }
    if !isHandlingFrames, !isFlushScheduled {
      isFlushScheduled = true
      peer.eventLoop.assumeIsolated().execute {
        self.isFlushScheduled = false
        self.timing.wasActive(
          now: self.peer.eventLoop.now, isWritable: self.isWritable)
        self.settle()
      }
    }
  }

  /// Bytes that wait for the client to read them. While the channel is writable those inside it
  /// are fewer than `RPCLimits.writeBufferPause` and are not looked up.
  var waitingBytes: Int {
    guard !isWritable, let channel = context?.channel else {
      return batch.readableBytes
    }
    let buffered = try? channel.syncOptions?.getOption(.bufferedWritableBytes)
    return batch.readableBytes + (buffered ?? 0)
  }

  /// Sends all that is written. The channel may be closed afterwards. Never called while a
  /// method's body runs.
  func flush() {
    guard let context else {
      return
    }
    passBatchOn()
    isFlushDue = false
    isFlushing = true
    context.flush()
    isFlushing = false
    hasFlushedSinceRead = true
    // Only the channel ends a pause: while it waits for the socket, a flush changes nothing.
    if !isWritable {
      isPaused = true
    }
  }

  private func passBatchOn() {
    isFlushDue = true
    if batch.readableBytes == 0 {
      return
    }
    // What was needed now is a good guess for the next time.
    let capacity = min(batch.readableBytes, RPCLimits.fullBatch)
    context?.write(wrapOutboundOut(batch), promise: nil)
    batch = ByteBuffer()
    batchCapacity = capacity
  }

  /// Brings everything to rest after something happened: sends what is written, closes when all
  /// is said, and sees to the next deadline.
  func settle() {
    // Who flushes settles afterwards.
    if isFlushing {
      return
    }
    if isInputClosed, !isPaused {
      streams.inputClosed()
    }
    // Before the flush: a client that has read an answer finds it counted.
    publishStatistics()
    if isFlushDue || batch.readableBytes > 0 {
      flush()
    }
    if streams.isFinished {
      closeGracefully()
    }
    armAlarm()
  }
}

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
