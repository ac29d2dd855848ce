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
    // Before the flush, both: who has read an answer finds it counted, and has its penalty.
    if isToBePenalized {
      penalize()
    }
    publishStatistics()
    if isFlushDue || batch.readableBytes > 0 {
      flush()
    }
    if streams.isFinished, !isToBePenalized {
      closeGracefully()
    }
    armAlarm()
  }
}
