import NIOCore
import TestSupport
import Testing
import Wire

@testable import RPCServer

@Suite("What is due on a connection, and when")
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

  /// An alarm that did something, in seconds after the start.
  private struct Alarm: Hashable {
    let due: ConnectionTiming.Due
    let seconds: Int64
  }

  /// Lets alarms come as the timing asks for them until something is due.
  ///
  /// - Returns: What it is and when; nil if nothing is after 100 alarms.
  private static func firstDue(
    _ timing: inout ConnectionTiming, from start: NIODeadline, isBusy: Bool = false,
    isWritable: Bool = true
  ) -> (alarm: Alarm, alarms: Int)? {
    var now = start
    for alarms in 1...100 {
      now = max(now, timing.next(earliestCall: .distantFuture))
      let due = timing.due(now: now, isBusy: isBusy, isWritable: isWritable)
      if due != .nothing {
        return (Alarm(due: due, seconds: (now - Self.start).nanoseconds / 1_000_000_000), alarms)
      }
    }
    return nil
  }

  @Test("A closing connection has one alarm, whatever else has passed before")
  func closing() throws {
    var timing = Self.timing()
    timing.frameIsPartial(isNew: true, now: Self.start)
    timing.closingStarted(now: Self.after(9))
    // Silent for longer than the limit while it waits for its client to read.
    let closed = try #require(Self.firstDue(&timing, from: Self.after(9), isWritable: false))
    #expect(closed.alarm == Alarm(due: .close, seconds: 39))
    #expect(closed.alarms == 1)
    #expect(timing.next(earliestCall: Self.start) == Self.after(39))
    #expect(!timing.isLingering)
    timing.lingeringStarted(now: Self.after(20))
    #expect(timing.isLingering)
    #expect(timing.next(earliestCall: Self.start) == Self.after(21))
  }

  @Test("A connection with nothing to wait for is timed out, one with calls in flight is not")
  func silence() throws {
    var timing = Self.timing()
    #expect(timing.due(now: Self.after(9), isBusy: false, isWritable: true) == .nothing)
    timing.wasActive(now: Self.after(9), isWritable: true)
    #expect(
      Self.firstDue(&timing, from: Self.start)?.alarm == Alarm(due: .timeOut, seconds: 19))
    #expect(Self.firstDue(&timing, from: Self.start, isBusy: true) == nil)
  }

  @Test("A client that does not read is timed out, whatever it asks for and is sent")
  func unreadOutput() throws {
    var timing = Self.timing()
    timing.writabilityChanged(now: Self.after(5))
    timing.wasActive(now: Self.after(14), isWritable: false)
    #expect(timing.due(now: Self.after(14), isBusy: true, isWritable: false) == .nothing)
    let due = Self.firstDue(&timing, from: Self.after(14), isBusy: true, isWritable: false)
    #expect(due?.alarm == Alarm(due: .timeOut, seconds: 15))
  }

  @Test("The time of a frame counts from its start and is renewed by other frames only")
  func partialFrame() throws {
    var timing = Self.timing()
    timing.frameIsPartial(isNew: true, now: Self.after(1))
    timing.frameIsPartial(isNew: false, now: Self.after(8))
    let due = Self.firstDue(&timing, from: Self.after(8), isBusy: true)
    #expect(due?.alarm == Alarm(due: .timeOut, seconds: 31))
    timing.frameIsPartial(isNew: true, now: Self.after(9))
    #expect(
      Self.firstDue(&timing, from: Self.after(9), isBusy: true)?.alarm
        == Alarm(due: .timeOut, seconds: 39))
    timing.noFrameIsPartial()
    #expect(Self.firstDue(&timing, from: Self.after(9), isBusy: true) == nil)
  }

  @Test("A shutdown ends calls at its deadline and shortens a closing that is under way")
  func shutdown() {
    var busy = Self.timing()
    busy.shutdownStarted(deadline: Self.after(5), now: Self.after(2))
    #expect(
      Self.firstDue(&busy, from: Self.after(2), isBusy: true)?.alarm
        == Alarm(due: .endOfShutdown, seconds: 5))
    busy.closingStarted(now: Self.after(5))
    #expect(
      Self.firstDue(&busy, from: Self.after(5), isWritable: false)?.alarm
        == Alarm(due: .close, seconds: 6))

    var closing = Self.timing()
    closing.closingStarted(now: Self.after(1))
    closing.shutdownStarted(deadline: Self.after(5), now: Self.after(2))
    #expect(
      Self.firstDue(&closing, from: Self.after(2), isWritable: false)?.alarm
        == Alarm(due: .close, seconds: 5))
  }

  @Test("Once a shutdown has begun, every connection is closed within its time and the lingering")
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
      #expect(end.alarm.due == .close)
      #expect(end.alarm.seconds <= 51, "\(closing) \(shutdown) \(sent)")
    }
  }
}
