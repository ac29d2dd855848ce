import Framing
import Logging
import NIOCore
import Wire

/// Deadlines, idle timeout, shutdown and closing. Each connection has one timer.
extension ServerConnectionHandler {
  /// Schedules the timer for the next deadline, unless the timer is set for an earlier time.
  func scheduleTimer() {
    let next = min(
      timing.next(earliestCall: streams.earliestDeadline), stallTime, memoryCheck,
      credentialCheck, unknownUntil ?? .distantFuture)
    guard next < timerDeadline, context?.channel.isActive == true else {
      return
    }
    timer?.cancel()
    timerDeadline = next
    timer = peer.eventLoop.assumeIsolated().scheduleTask(deadline: next) { self.timerFired() }
  }

  private func timerFired() {
    timer = nil
    timerDeadline = .distantFuture
    guard let context else {
      return
    }
    let now = peer.eventLoop.now
    end(streams.deadlinesPassed(now: now), ServerStreams.deadlineExceeded)
    endStalledStreams(now: now)
    if memoryCheck <= now {
      checkMemory(now: now)
    }
    if credentialCheck <= now {
      credentialCheck = .distantFuture
      endRevokedStreams()
    }
    if let unknownUntil, unknownUntil <= now {
      statistics.connectionsTimedOut += 1
      endUnknown()
      return
    }
    let isBusy = streams.isBusy && !isInputClosed
    switch timing.due(now: now, isBusy: isBusy, isWritable: isWritable) {
    case .nothing:
      settle()
    case .endOfShutdown:
      end(streams.shutdownTimePassed(), ServerStreams.shuttingDown)
      settle()
    case .timeOut:
      statistics.connectionsTimedOut += 1
      publishStatistics()
      context.close(promise: nil)
    case .close:
      context.close(promise: nil)
    }
  }

  /// Ends streams, refuses new calls, and lets unary calls finish until the event's deadline.
  func shutDown(_ event: ShutdownStarted) {
    timing.shutdownStarted(deadline: event.deadline, now: peer.eventLoop.now)
    end(streams.shutdownStarted(), ServerStreams.shuttingDown)
    settle()
  }

  /// Closes the connection so that the client can read all answers. Closes the output when all data
  /// is sent, and the input when the client closes its side or the linger time passes.
  func closeGracefully() {
    guard !timing.isClosing, !peer.isClosed, let context else {
      return
    }
    timing.closingStarted(now: peer.eventLoop.now)
    let written = context.eventLoop.makePromise(of: Void.self)
    context.writeAndFlush(wrapOutboundOut(ByteBuffer()), promise: written)
    written.futureResult.assumeIsolated().whenSuccess { self.closeOutput() }
  }

  private func closeOutput() {
    guard let context, context.channel.isActive else {
      return
    }
    if isInputClosed {
      context.close(promise: nil)
      return
    }
    timing.lingeringStarted(now: peer.eventLoop.now)
    // After a protocol error, the output stays open for the linger time and the socket is not read.
    // This slows down a client that reconnects as soon as its connection closes.
    if !streams.hasFailed {
      context.close(mode: .output, promise: nil)
    }
    scheduleTimer()
  }
}
