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
    timing.shutdownStarted(deadline: event.deadline, now: peer.eventLoop.now)
    end(streams.shutdownStarted(), ServerStreams.shuttingDown)
    settle()
  }

  /// Closes so that the client can read all that was written: first the own direction, when all
  /// is sent, then the rest, when the client has closed its side or has taken too long.
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
    // One that broke the protocol is told so, and sees the end only later: a client that connects again
    // as soon as it is closed does so once in that time, in which its socket is not read.
    if !streams.hasFailed {
      context.close(mode: .output, promise: nil)
    }
    armAlarm()
  }
}
