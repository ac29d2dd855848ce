import Framing
import NIOCore
import Wire

/// The timeouts of one connection except the deadlines of its calls: idle client, unread answers,
/// incomplete frame, shutdown and closing. A state machine without a clock or I/O: the handler
/// reports events, and ``due(now:isBusy:isWritable:)`` returns the action to take.
struct ConnectionTiming {
  enum Due: Hashable, Sendable {
    case nothing
    /// The shutdown timeout passed: end the calls in flight.
    case endOfShutdown
    /// The client was idle or did not read for too long, or a frame did not arrive in time.
    case timeOut
    /// The time for the client to read the last answers passed.
    case close
  }

  private let idleTime: TimeAmount
  private let frameTime: TimeAmount
  private let lingerTime: TimeAmount

  /// The last time at which the client was known to be connected and reading.
  private var lastActivity: NIODeadline
  /// When the incomplete frame began to arrive; nil if there is none.
  private var partialFrameSince: NIODeadline?
  /// When calls in flight are ended; nil unless the server is shutting down.
  private var shutdownDeadline: NIODeadline?
  /// When the connection is closed, even if the client has not read everything; nil unless closing.
  private var closeDeadline: NIODeadline?
  /// Whether all data is sent and the connection waits for the client to close.
  private(set) var isLingering = false

  init(limits: RPCLimits, now: NIODeadline) {
    idleTime = TimeAmount(limits.idleTime)
    frameTime = TimeAmount(limits.frameTime)
    lingerTime = TimeAmount(limits.lingerTime)
    lastActivity = now
  }

  /// Whether the server is shutting down.
  var isShuttingDown: Bool {
    shutdownDeadline != nil
  }

  /// Whether the connection is closing: pending data is sent, and nothing new is written.
  var isClosing: Bool {
    closeDeadline != nil
  }

  /// When ``due(now:isBusy:isWritable:)`` must be called next.
  ///
  /// - Parameter earliestCall: The earliest deadline of a call in flight.
  func next(earliestCall: NIODeadline) -> NIODeadline {
    // While closing, the other timeouts do not apply.
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

  /// The action to take now.
  ///
  /// - Parameters:
  ///   - isBusy: Whether the client may be waiting for an answer.
  ///   - isWritable: Whether the client reads its answers.
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
      // A call may be long and a stream idle: TCP keep-alive detects a dead client.
      lastActivity = now
      return .nothing
    }
    return .timeOut
  }

  // MARK: Events

  /// Data was received or sent. This does not count as activity if the client does not read.
  mutating func wasActive(now: NIODeadline, isWritable: Bool) {
    if isWritable {
      lastActivity = now
    }
  }

  /// The channel became writable or not writable.
  mutating func writabilityChanged(now: NIODeadline) {
    lastActivity = now
  }

  /// All received frames were handled, and an incomplete one remains.
  ///
  /// - Parameter isNew: Whether a frame was completed since the last call, so that this one is new.
  mutating func frameIsPartial(isNew: Bool, now: NIODeadline) {
    if isNew || partialFrameSince == nil {
      partialFrameSince = now
    }
  }

  /// No incomplete frame remains, or the server paused reading.
  mutating func noFrameIsPartial() {
    partialFrameSince = nil
  }

  /// The server is shutting down. Calls in flight end at `deadline`.
  mutating func shutdownStarted(deadline: NIODeadline, now: NIODeadline) {
    shutdownDeadline = deadline
    if let closeDeadline {
      self.closeDeadline = min(closeDeadline, max(deadline, now + lingerTime))
    }
  }

  /// No more answers follow. Pending data may still be sent, but no longer than a shutdown allows.
  mutating func closingStarted(now: NIODeadline) {
    closeDeadline =
      shutdownDeadline.map { max($0, now + lingerTime) }
      ?? now + frameTime
  }

  /// All data is sent. The connection waits for the client to close.
  mutating func lingeringStarted(now: NIODeadline) {
    isLingering = true
    let lingerDeadline = now + lingerTime
    closeDeadline =
      shutdownDeadline.map { min($0 + lingerTime, lingerDeadline) }
      ?? lingerDeadline
  }
}
