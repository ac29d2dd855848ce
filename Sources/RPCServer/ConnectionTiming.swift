import NIOCore
import Wire

/// When something is due on one connection besides the deadlines of its calls: a client that is
/// silent or does not read, a frame that does not arrive, the end of a shutdown, the end of
/// closing. No clock and no I/O: what happened is reported, ``due(now:isBusy:isWritable:)`` says
/// what follows.
struct ConnectionTiming {
  enum Due: Hashable, Sendable {
    case nothing
    /// The time of a shutdown is over: the calls in flight are to be ended.
    case endOfShutdown
    /// The client has been silent, or has not read, or a frame has been arriving for too long.
    case timeOut
    /// The client has had its time to read what was written before closing.
    case close
  }

  private let idleTime: TimeAmount
  private let frameTime: TimeAmount
  private let lingerTime: TimeAmount

  /// The last moment at which the client showed that it is there and reads.
  private var lastActivity: NIODeadline
  /// Since when the frame that has begun has been arriving.
  private var partialFrameSince: NIODeadline?
  /// When calls in flight are given up, once the server stops.
  private var shutdownDeadline: NIODeadline?
  /// When the connection is closed whatever the client has read, once it is closing.
  private var closeDeadline: NIODeadline?
  /// Whether all is sent, and only the client's own end is waited for.
  private(set) var isLingering = false

  init(limits: RPCLimits, now: NIODeadline) {
    idleTime = TimeAmount(limits.idleTime)
    frameTime = TimeAmount(limits.frameTime)
    lingerTime = TimeAmount(limits.lingerTime)
    lastActivity = now
  }

  /// Whether the server is stopping.
  var isShuttingDown: Bool {
    shutdownDeadline != nil
  }

  /// Whether nothing more is said on the connection, except what is written already.
  var isClosing: Bool {
    closeDeadline != nil
  }

  /// The next moment at which ``due(now:isBusy:isWritable:)`` must be asked.
  ///
  /// - Parameter earliestCall: The earliest deadline of a call in flight.
  func next(earliestCall: NIODeadline) -> NIODeadline {
    // A closing connection is neither silent nor busy: all other moments may be over for good.
    if let closeDeadline {
      return closeDeadline
    }
    var next = min(earliestCall, lastActivity + idleTime)
    if let partialFrameSince {
      next = min(next, partialFrameSince + frameTime)
    }
    if let shutdownDeadline {
      next = min(next, shutdownDeadline)
    }
    return next
  }

  /// - Parameters:
  ///   - isBusy: Whether the client may be waiting for an answer.
  ///   - isWritable: Whether the client reads what is written.
  mutating func due(now: NIODeadline, isBusy: Bool, isWritable: Bool) -> Due {
    if let closeDeadline {
      return closeDeadline <= now ? .close : .nothing
    }
    if let shutdownDeadline, shutdownDeadline <= now {
      return .endOfShutdown
    }
    if let partialFrameSince, partialFrameSince + frameTime <= now {
      return .timeOut
    }
    guard lastActivity + idleTime <= now else {
      return .nothing
    }
    if isBusy, isWritable {
      // A call may take long, and a stream may be quiet: keep-alive watches over the client.
      lastActivity = now
      return .nothing
    }
    return .timeOut
  }

  // MARK: What happened

  /// Something was received or sent. It shows nothing about a client that does not read.
  mutating func wasActive(now: NIODeadline, isWritable: Bool) {
    if isWritable {
      lastActivity = now
    }
  }

  /// The client has read enough, or from now on does not.
  mutating func writabilityChanged(now: NIODeadline) {
    lastActivity = now
  }

  /// All that was received is handled, except the start of a frame.
  ///
  /// - Parameter isNew: Whether another frame was completed since the last time.
  mutating func frameIsPartial(isNew: Bool, now: NIODeadline) {
    if isNew || partialFrameSince == nil {
      partialFrameSince = now
    }
  }

  /// No frame is on its way, or the server has stopped reading it.
  mutating func noFrameIsPartial() {
    partialFrameSince = nil
  }

  mutating func shutdownStarted(deadline: NIODeadline, now: NIODeadline) {
    shutdownDeadline = deadline
    if let closeDeadline {
      self.closeDeadline = min(closeDeadline, max(deadline, now + lingerTime))
    }
  }

  /// All is said; what is written may still take its time to be read, but not past the end of a
  /// shutdown.
  mutating func closingStarted(now: NIODeadline) {
    closeDeadline =
      shutdownDeadline.map { max($0, now + lingerTime) }
      ?? now + frameTime
  }

  /// All is sent: only the client's own end is waited for.
  mutating func lingeringStarted(now: NIODeadline) {
    isLingering = true
    let lingerDeadline = now + lingerTime
    closeDeadline =
      shutdownDeadline.map { min($0 + lingerTime, lingerDeadline) }
      ?? lingerDeadline
  }
}
