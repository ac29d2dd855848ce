import NIOCore
import Wire

/// Deadlines, silence, shutdown and closing. One alarm a connection serves them all.
extension ServerConnectionHandler {
  /// Sets the alarm for the next thing that can happen, unless it is set early enough.
  func armAlarm() {
    let next = nextAlarm
    guard next < alarmTime, context?.channel.isActive == true else {
      return
    }
    alarm?.cancel()
    alarmTime = next
    alarm = peer.eventLoop.assumeIsolated().scheduleTask(deadline: next) { self.alarmFired() }
  }

  private var nextAlarm: NIODeadline {
    var next = min(streams.earliestDeadline, lastActivity + idleTime)
    if let partialFrameSince {
      next = min(next, partialFrameSince + frameTime)
    }
    if let shutdownDeadline {
      next = min(next, shutdownDeadline)
    }
    if let closeDeadline {
      next = min(next, closeDeadline)
    }
    return next
  }

  private func alarmFired() {
    alarm = nil
    alarmTime = .distantFuture
    let now = NIODeadline.now()
    if let closeDeadline, closeDeadline <= now {
      context?.close(promise: nil)
      return
    }
    if let shutdownDeadline, shutdownDeadline <= now {
      self.shutdownDeadline = nil
      end(streams.shutdownTimePassed(), ServerStreams.shuttingDown)
    }
    end(streams.deadlinesPassed(now: now), ServerStreams.deadlineExceeded)
    if isTimedOut(now) {
      statistics.connectionsTimedOut += 1
      publishStatistics()
      context?.close(promise: nil)
      return
    }
    settle()
  }

  private func isTimedOut(_ now: NIODeadline) -> Bool {
    if let partialFrameSince, partialFrameSince + frameTime <= now {
      return true
    }
    guard lastActivity + idleTime <= now else {
      return false
    }
    if streams.isBusy, !isInputClosed {
      // A call may take long, and a stream may be quiet: keep-alive watches over the client.
      lastActivity = now
      return false
    }
    return !isClosing
  }

  func shutDown(_ event: ShutdownStarted) {
    shutdownDeadline = event.deadline
    end(streams.shutdownStarted(), ServerStreams.shuttingDown)
    settle()
  }

  /// Closes so that the client can read all that was written: first the own direction, when all
  /// is sent, then the rest, when the client has closed its side or has taken too long.
  func closeGracefully() {
    guard !isClosing, let context else {
      return
    }
    isClosing = true
    let now = NIODeadline.now()
    // What is written may still take its time to be read, but not past the end of a shutdown.
    closeDeadline =
      shutdownDeadline.map { max($0, now + lingerTime) }
      ?? now + frameTime
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
    closeDeadline = .now() + lingerTime
    context.close(mode: .output, promise: nil)
    armAlarm()
  }
}
