import Framing
import NIOCore
import Wire

/// Writing and flushing in batches.
extension ServerConnectionHandler {
  /// Allocates an empty batch at its expected size. Call before writing to the batch.
  func prepareBatch() {
    if batch.readableBytes == 0, batchCapacity > 0 {
      batch = peer.allocator.buffer(capacity: batchCapacity)
    }
  }

  /// Writes the status of a failed call and counts it.
  func writeFailure(_ call: CallID, _ status: RPCStatus) {
    count(call, status.code)
    FrameEncoder.writeResponse(streamID: call.streamID, status: status, into: &batch)
    batchGrew()
  }

  /// Writes the status of a call that was not started, and counts it as one that took no time.
  ///
  /// - Parameter method: its index; nil if it is not known.
  func writeRefusal(_ streamID: StreamID, _ status: RPCStatus, method: Int?) {
    finishedCalls.add(1, of: method, status.code, lasting: .zero)
    FrameEncoder.writeResponse(streamID: streamID, status: status, into: &batch)
    batchGrew()
  }

  /// Counts a call that has ended now.
  func count(_ call: CallID, _ code: RPCCode) {
    finishedCalls.add(1, of: call.method, code, lasting: peer.eventLoop.now - call.arrival)
    if tracing != nil { endSpan(of: call, code) }
  }

  /// Writes the answer to a unary call.
  func write(_ answer: StampedMessage, for streamID: StreamID) {
    prepareBatch()
    if answer.readableBytes <= RPCLimits.maximumCopiedPayload {
      FrameEncoder.writeResponse(streamID: streamID, payload: answer, into: &batch)
      batchGrew()
    } else {
      FrameEncoder.writeResponsePrefix(
        streamID: streamID, payloadLength: answer.readableBytes, into: &batch)
      writeLargePayload(answer)
    }
  }

  /// Copies a large payload up to the end of its stamp only. The rest is shared with other answers.
  private func writeLargePayload(_ payload: StampedMessage) {
    var rest = payload.bytes
    if let stamp = payload.stamp,
      let head = rest.readSlice(length: stamp.offset + StampedMessage.Stamp.length)
    {
      let start = batch.writerIndex
      batch.writeImmutableBuffer(head)
      batch.set(stamp, ofMessageAt: start)
    }
    writePayload(rest)
  }

  /// Writes the payload that belongs to the prefix at the end of the batch.
  func writePayload(_ payload: ByteBuffer) {
    if payload.readableBytes <= RPCLimits.maximumCopiedPayload {
      batch.writeImmutableBuffer(payload)
    } else {
      writeBatch()
      channelBytes += payload.readableBytes
      context?.write(wrapOutboundOut(payload), promise: nil)
    }
    batchGrew()
  }

  /// Schedules a flush. Does not flush now, as the caller may be a method's body.
  func batchGrew() {
    if batch.readableBytes >= RPCLimits.fullBatch {
      writeBatch()
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

  /// Bytes written that the client has not read. While the channel is writable, its own buffer is
  /// smaller than `RPCLimits.writeBufferPause` and is not counted.
  var waitingBytes: Int {
    guard !isWritable, let channel = context?.channel else {
      return batch.readableBytes
    }
    let buffered = try? channel.syncOptions?.getOption(.bufferedWritableBytes)
    return batch.readableBytes + (buffered ?? 0)
  }

  /// Flushes the batch and the channel. The channel may be closed afterwards. Never called while a
  /// method's body runs.
  func flush() {
    guard let context else {
      return
    }
    writeBatch()
    isFlushDue = false
    isFlushing = true
    context.flush()
    isFlushing = false
    hasFlushedSinceRead = true
    // The pause ends with the channel's writability event: until then a flush has no effect.
    if !isWritable {
      isPaused = true
    }
  }

  private func writeBatch() {
    isFlushDue = true
    if batch.readableBytes == 0 {
      return
    }
    // The next batch probably has a similar size.
    let capacity = min(batch.readableBytes, RPCLimits.fullBatch)
    channelBytes += batch.readableBytes
    context?.write(wrapOutboundOut(batch), promise: nil)
    batch = ByteBuffer()
    batchCapacity = capacity
  }

  /// Call after each event: flushes pending writes, closes a finished connection, and schedules the
  /// timer.
  func settle() {
    // The caller of `flush` calls `settle` afterwards.
    if isFlushing {
      return
    }
    if isInputClosed, !isPaused {
      streams.inputClosed()
    }
    // Before the flush, so that a client that has read an answer finds it counted.
    publishStatistics()
    if isFlushDue || batch.readableBytes > 0 {
      flush()
    }
    countMemory()
    if streams.isFinished {
      closeGracefully()
    }
    scheduleTimer()
  }
}

/// Backpressure for streams: a stream sends its next messages when the client has read the earlier
/// ones.
///
/// Waiting streams are served in order of waiting time, and each continues only after its messages
/// are written. If all streams continued as soon as there is room, they would fill the write buffer
/// together, and a client that reads would be treated as a slow reader.
extension ServerConnectionHandler {
  /// Writes messages when the stream reaches the front of the send queue.
  ///
  /// - Parameter sent: Called after the write, on the event loop, with whether the stream is still
  ///   open.
  func sendWhenRead(
    _ messages: [StreamMessage], on call: CallID, _ sent: @escaping (Bool) -> Void
  ) {
    guard streams.isInFlight(call), context != nil else {
      sent(false)
      return
    }
    // A writable channel has no waiting streams: they were served when it became writable.
    if isWritable {
      sent(send(messages, on: call))
      return
    }
    openCalls[call, default: OpenCall()].pendingSends.append(
      OpenCall.PendingSend(messages: messages, since: peer.eventLoop.now, sent: sent))
    sendQueue.append(call)
    scheduleTimer()
  }

  /// The channel became writable: serves the waiting streams.
  func clientHasRead(now: NIODeadline) {
    lastRead = now
    while isWritable, let call = sendQueue.popFirst() {
      // The call may have ended since it was queued.
      guard let next = openCalls[call]?.pendingSends.popFirst() else { continue }
      next.sent(send(next.messages, on: call))
    }
  }

  /// When the stream that has waited longest is ended, unless the client reads before.
  var stallTime: NIODeadline {
    if sendQueue.isEmpty { return .distantFuture }
    return sendQueue.lazy.compactMap { self.stallTime(of: $0) }.first ?? .distantFuture
  }

  /// Ends the streams that have waited for `slowReaderTime`.
  func endStalledStreams(now: NIODeadline) {
    for call in sendQueue where stallTime(of: call).map({ $0 <= now }) ?? false {
      let action = streams.streamStalled(call, lastCursor: openCalls[call]?.lastCursor)
      guard case .sendFailure(let status) = action else { continue }
      writeFailure(call, status)
      cancel(call)
    }
  }

  /// Time before the client's last read does not count: the stream waited for other streams then.
  private func stallTime(of call: CallID) -> NIODeadline? {
    openCalls[call]?.pendingSends.first.map { max($0.since, lastRead) + slowReaderTime }
  }

  private func send(_ messages: [StreamMessage], on call: CallID) -> Bool {
    for message in messages {
      send(message.payload, cursor: message.cursor, on: call)
    }
    return streams.isInFlight(call)
  }
}
