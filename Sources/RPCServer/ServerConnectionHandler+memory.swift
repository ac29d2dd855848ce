import Framing
import NIOCore
import Wire

/// The connection's share of ``MemoryBudget``: counts what waits for the client, stops reading at the
/// share, and gives memory up when the budget asks for it.
extension ServerConnectionHandler {
  private static let step = RPCLimits.guaranteedMemory

  /// Counts incomplete requests and unread output, in steps, so that small ones cost nothing.
  func countMemory() {
    guard context != nil, !peer.isClosed else {
      return
    }
    let counted = memory.waitingBytes
    if counted > 0 || channelBytes > Self.step {
      measureChannel()
    }
    var bytes = decoder.bufferedBytes + batch.readableBytes + channelBytes
    if !sendQueue.isEmpty {
      bytes += openCalls.values.reduce(0) { $0 + $1.pendingBytes }
    }
    let rounded = bytes <= Self.step ? 0 : (bytes + Self.step - 1) / Self.step * Self.step
    guard rounded != counted || rounded > 0 else {
      return
    }
    if rounded > 0, unknownUntil == nil {
      registerMemory()
    }
    if rounded != counted {
      setWaiting(rounded)
    }
    if rounded > 0 || isReadDeferred {
      checkMemory(within: RPCLimits.memoryCheckTime)
    }
  }

  /// Asks the channel how much it has not sent. It is not told when the client reads.
  private func measureChannel() {
    if let buffered = try? context?.channel.syncOptions?.getOption(.bufferedWritableBytes) {
      channelBytes = buffered
    }
  }

  /// Counts what waits for the client, for known callers or for the others.
  private func setWaiting(_ bytes: Int) {
    memory.setWaiting(bytes, inBudget: unknownUntil == nil)
    guard unknownUntil != nil else {
      return
    }
    let connection = NIOLoopBound(self, eventLoop: peer.eventLoop)
    registry.unknownMemory.set(bytes, of: peer.connectionID) { [eventLoop = peer.eventLoop] in
      eventLoop.execute { connection.value.giveUpUnknown() }
    }
  }

  /// A known caller has used the connection: what it holds counts among those of known callers.
  func memoryIsKnown() {
    let bytes = memory.waitingBytes
    guard bytes > 0 else {
      return
    }
    registry.unknownMemory.remove(peer.connectionID)
    registerMemory()
    memory.setWaiting(bytes, inBudget: true)
  }

  /// Others without a known caller need its memory, and its request has been incomplete for longest.
  private func giveUpUnknown() {
    guard let context, unknownUntil != nil, !timing.isClosing else {
      return
    }
    statistics.connectionsClosedForMemory += 1
    publishStatistics()
    registry.logMemoryShortage(to: logger)
    context.close(promise: nil)
  }

  private func registerMemory() {
    guard !isMemoryRegistered else {
      return
    }
    isMemoryRegistered = true
    let connection = NIOLoopBound(self, eventLoop: peer.eventLoop)
    let eventLoop = peer.eventLoop
    registry.memory.register(memory, id: peer.connectionID) {
      eventLoop.execute { connection.value.giveUpMemory() }
    }
  }

  /// The connection is closed. Calls in flight give their memory back when their work ends.
  func releaseMemory() {
    memory.setWaiting(0, inBudget: true)
    if isMemoryRegistered {
      registry.memory.remove(id: peer.connectionID)
    }
  }

  // MARK: Reading

  /// Reads on if the client reads, too, and the connection has no more than its share.
  func resumeReading() {
    guard isReadDeferred, isWritable, !streams.hasFailed, !isHoldingRefusals, !memory.isOverShare
    else {
      return
    }
    isReadDeferred = false
    context?.read()
  }

  /// The connection has its share, and is not read.
  func awaitMemory() {
    checkMemory(within: RPCLimits.memoryRetryTime)
    scheduleTimer()
  }

  private func checkMemory(within time: Duration) {
    memoryCheck = min(memoryCheck, peer.eventLoop.now + TimeAmount(time))
  }

  /// Counts again, as output may have been sent, and reads on if that is possible by now.
  func checkMemory(now: NIODeadline) {
    memoryCheck = .distantFuture
    countMemory()
    resumeReading()
    if isReadDeferred, isWritable, memory.isOverShare {
      // Nobody gives up memory for a connection without a known caller.
      if unknownUntil == nil { registry.memory.reclaim(now: now) }
      awaitMemory()
    }
  }

  // MARK: Shortage

  /// How many bytes of output may be added. Small ones are not compared.
  func room(for length: Int) -> Int {
    guard length > RPCLimits.guaranteedMemory else {
      return .max
    }
    countMemory()
    return memory.room
  }

  /// A call or an answer was refused.
  func lackedMemory() {
    statistics.memoryRefusals += 1
    publishStatistics()
    registry.logMemoryShortage(to: logger)
    registry.memory.reclaim(now: peer.eventLoop.now)
  }

  /// Other connections lack memory, and this one has most of it: gives up its incomplete request,
  /// or closes if more of it is unread output.
  func giveUpMemory() {
    countMemory()
    // The client may have read in the meantime.
    guard let context, memory.waitingBytes > 0, !timing.isClosing else {
      return
    }
    let partial = decoder.bufferedBytes
    if partial >= memory.waitingBytes / 2, let header = decoder.dropPartialFrame() {
      statistics.droppedRequests += 1
      perform(streams.frameDropped(header))
      publishStatistics()
      registry.logMemoryShortage(to: logger)
      settle()
      resumeReading()
    } else {
      statistics.connectionsClosedForMemory += 1
      publishStatistics()
      registry.logMemoryShortage(to: logger)
      context.close(promise: nil)
    }
  }
}
