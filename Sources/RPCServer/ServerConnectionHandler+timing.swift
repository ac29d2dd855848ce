import Logging
import NIOCore
import Wire

/// Deadlines, silence, shutdown and closing. One alarm a connection serves them all.
extension ServerConnectionHandler {
  /// Sets the alarm for the next thing that can happen, unless it is set early enough.
  func armAlarm() {
    let next = min(timing.next(earliestCall: streams.earliestDeadline), stallTime)
    guard next < alarmTime, context?.channel.isActive == true else {
      return
    }
    alarm?.cancel()
    alarmTime = next
    alarm = peer.eventLoop.assumeIsolated().scheduleTask(deadline: next) { self.alarmFired() }
  }

  private func alarmFired() {
    alarm = nil
    alarmTime = .distantFuture
    guard let context else {
      return
    }
    let now = peer.eventLoop.now
    end(streams.deadlinesPassed(now: now), ServerStreams.deadlineExceeded)
    endStalledStreams(now: now)
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

  func shutDown(_ event: ShutdownStarted) {
    if timing.isPenalized {
      context?.close(promise: nil)
      return
    }
    timing.shutdownStarted(deadline: event.deadline, now: peer.eventLoop.now)
    end(streams.shutdownStarted(), ServerStreams.shuttingDown)
    settle()
  }

  /// Whether the client has broken the protocol and waits for more. One that has closed its side, or that
  /// a stopping server has to be rid of, is let go.
  var isToBePenalized: Bool {
    streams.hasFailed && !isInputClosed && !timing.isShuttingDown
  }

  /// Keeps the connection of a client that has broken the protocol for a while, without reading from
  /// it: who connects again as soon as it is closed would take more time from the others than that
  /// socket does.
  func penalize() {
    guard !timing.isClosing, !peer.isClosed else {
      return
    }
    logger.debug(
      "connection broke the protocol", metadata: ["connection": "\(peer.connectionID)"])
    end(streams.channelClosed(), ServerStreams.protocolBroken)
    timing.penaltyStarted(now: peer.eventLoop.now)
    registry.penalize(peer.connectionID)
  }

  /// Closes so that the client can read all that was written: first the own direction, when all
  /// is sent, then the rest, when the client has closed its side or has taken too long.
  func closeGracefully() {
    guard !timing.isClosing || timing.isPenalized, !peer.isClosed, let context else {
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
    timing.outputClosed(now: peer.eventLoop.now)
    context.close(mode: .output, promise: nil)
    armAlarm()
  }
}
