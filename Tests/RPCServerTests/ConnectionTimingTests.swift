import Framing
import NIOCore
import TestSupport
import Testing
import Wire

@testable import RPCServer

@Suite("Timeouts of a connection")
struct ConnectionTimingTests {
  private static let limits = RPCLimits(
    idleTime: .seconds(10), frameTime: .seconds(30), lingerTime: .seconds(1))
  private static let start = NIODeadline.uptimeNanoseconds(1_000_000)

  private static func after(_ seconds: Int64) -> NIODeadline {
    start + .seconds(seconds)
  }

  private static func timing() -> ConnectionTiming {
    ConnectionTiming(limits: limits, now: start)
  }

  /// The timer event that caused an action, in seconds after the start.
  private struct TimerEvent: Hashable {
    let due: ConnectionTiming.Due
    let seconds: Int64
  }

  /// Fires the timer as requested until an action is due.
  ///
  /// - Returns: The action and its time, and the number of timer events; nil if none is due after
  ///   100.
  private static func firstDue(
    _ timing: inout ConnectionTiming, from start: NIODeadline, isBusy: Bool = false,
    isWritable: Bool = true
  ) -> (event: TimerEvent, timerEvents: Int)? {
    var now = start
    for timerEvents in 1...100 {
      now = max(now, timing.next(earliestCall: .distantFuture))
      let due = timing.due(now: now, isBusy: isBusy, isWritable: isWritable)
      if due != .nothing {
        let seconds = (now - Self.start).nanoseconds / 1_000_000_000
        return (TimerEvent(due: due, seconds: seconds), timerEvents)
      }
    }
    return nil
  }

  @Test("A closing connection fires its timer once, whatever other timeouts have passed")
  func closing() throws {
    var timing = Self.timing()
    timing.frameIsPartial(isNew: true, now: Self.start)
    timing.closingStarted(now: Self.after(9))
    // Idle for longer than the limit while it waits for its client to read.
    let closed = try #require(Self.firstDue(&timing, from: Self.after(9), isWritable: false))
    #expect(closed.event == TimerEvent(due: .close, seconds: 39))
    #expect(closed.timerEvents == 1)
    #expect(timing.next(earliestCall: Self.start) == Self.after(39))
    #expect(!timing.isLingering)
    timing.lingeringStarted(now: Self.after(20))
    #expect(timing.isLingering)
    #expect(timing.next(earliestCall: Self.start) == Self.after(21))
  }

  @Test("An idle connection times out; a connection with calls in flight does not")
  func silence() throws {
    var timing = Self.timing()
    #expect(timing.due(now: Self.after(9), isBusy: false, isWritable: true) == .nothing)
    timing.wasActive(now: Self.after(9), isWritable: true)
    #expect(
      Self.firstDue(&timing, from: Self.start)?.event == TimerEvent(due: .timeOut, seconds: 19))
    #expect(Self.firstDue(&timing, from: Self.start, isBusy: true) == nil)
  }

  @Test("A client that does not read times out, whatever it sends and is sent")
  func unreadOutput() throws {
    var timing = Self.timing()
    timing.writabilityChanged(now: Self.after(5))
    timing.wasActive(now: Self.after(14), isWritable: false)
    #expect(timing.due(now: Self.after(14), isBusy: true, isWritable: false) == .nothing)
    let due = Self.firstDue(&timing, from: Self.after(14), isBusy: true, isWritable: false)
    #expect(due?.event == TimerEvent(due: .timeOut, seconds: 15))
  }

  @Test("The timeout of a frame counts from its start, and only another frame restarts it")
  func partialFrame() throws {
    var timing = Self.timing()
    timing.frameIsPartial(isNew: true, now: Self.after(1))
    timing.frameIsPartial(isNew: false, now: Self.after(8))
    let due = Self.firstDue(&timing, from: Self.after(8), isBusy: true)
    #expect(due?.event == TimerEvent(due: .timeOut, seconds: 31))
    timing.frameIsPartial(isNew: true, now: Self.after(9))
    #expect(
      Self.firstDue(&timing, from: Self.after(9), isBusy: true)?.event
        == TimerEvent(due: .timeOut, seconds: 39))
    timing.noFrameIsPartial()
    #expect(Self.firstDue(&timing, from: Self.after(9), isBusy: true) == nil)
  }

  @Test("A shutdown ends calls at its deadline, and shortens a closing in progress")
  func shutdown() {
    var busy = Self.timing()
    busy.shutdownStarted(deadline: Self.after(5), now: Self.after(2))
    #expect(
      Self.firstDue(&busy, from: Self.after(2), isBusy: true)?.event
        == TimerEvent(due: .endOfShutdown, seconds: 5))
    busy.closingStarted(now: Self.after(5))
    #expect(
      Self.firstDue(&busy, from: Self.after(5), isWritable: false)?.event
        == TimerEvent(due: .close, seconds: 6))

    var closing = Self.timing()
    closing.closingStarted(now: Self.after(1))
    closing.shutdownStarted(deadline: Self.after(5), now: Self.after(2))
    #expect(
      Self.firstDue(&closing, from: Self.after(2), isWritable: false)?.event
        == TimerEvent(due: .close, seconds: 5))
  }

  @Test("After a shutdown begins, every connection closes within its timeout plus the linger time")
  func shutdownIsBounded() throws {
    var random = SeededRandom(for: "shutdown is bounded")
    let deadline = Self.after(50)
    for _ in 0..<500 {
      var timing = Self.timing()
      // Closing may begin before the shutdown, during it or at its end.
      let closing = Int64.random(in: 0...50, using: &random)
      let shutdown = Int64.random(in: 0...50, using: &random)
      let sent = Int64.random(in: max(closing, shutdown)...51, using: &random)
      if closing < shutdown {
        timing.closingStarted(now: Self.after(closing))
        timing.shutdownStarted(deadline: deadline, now: Self.after(shutdown))
      } else {
        timing.shutdownStarted(deadline: deadline, now: Self.after(shutdown))
        timing.closingStarted(now: Self.after(closing))
      }
      if Bool.random(using: &random) {
        timing.lingeringStarted(now: Self.after(sent))
      }
      let end = try #require(Self.firstDue(&timing, from: Self.start))
      #expect(end.event.due == .close)
      #expect(end.event.seconds <= 51, "\(closing) \(shutdown) \(sent)")
    }
  }
}
