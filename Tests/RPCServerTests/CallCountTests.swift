import Framing
import NIOCore
import Testing
import Wire

@testable import RPCServer

@Suite("Finished calls by method, code and duration")
struct CallCountTests {
  private let methods = TestService().router.methodTable.methods

  private func index(_ method: String) throws -> Int {
    try #require(methods.firstIndex { $0.method == method })
  }

  /// The buckets with calls: the index of each and its number.
  private func buckets(_ method: Int?, of connection: EmbeddedConnection) -> [Int: Int] {
    let counts = connection.statistics.calls[.ttrpc].durations(of: method).counts
    return Dictionary(
      uniqueKeysWithValues: counts.enumerated().filter { $0.element > 0 }.map {
        ($0.offset, $0.element)
      })
  }

  @Test("Answers in place and other calls are counted for their method, whichever way they take")
  func methodsAndCodes() throws {
    for immediate in [true, false] {
      let connection = try EmbeddedConnection(RPCLimits(), immediate: immediate)
      try connection.receive(
        Frames.request(1, "Immediate", "h"), Frames.request(3, "Immediate", "other"),
        Frames.request(5, "Fail"), Frames.request(7, "Immediate", "h"), Frames.request(9, "Echo"))
      let calls = connection.statistics.calls[.ttrpc]
      #expect(try calls[index("Immediate"), .ok] == 3)
      #expect(try calls[index("Fail"), .notFound] == 1)
      #expect(try calls[index("Fail"), .ok] == 0)
      #expect(try calls[index("Echo"), .ok] == 1)
      #expect(calls[.ok] == 4)
      #expect(calls.total == 5)
      #expect(try buckets(index("Immediate"), of: connection) == [0: 3])
    }
  }

  @Test("A call that is not started counts for its method, if the server has it")
  func refusals() throws {
    let connection = try EmbeddedConnection(RPCLimits())
    try connection.receive(
      Frames.request(1, "Immediate", "h", timeout: -1), Frames.request(3, "NoSuchMethod"),
      Frames.request(5, "Echo", flags: .remoteOpen), Frames.request(2, "Echo"))
    let calls = connection.statistics.calls[.ttrpc]
    #expect(try calls[index("Immediate"), .deadlineExceeded] == 1)
    #expect(try calls[index("Echo"), .invalidArgument] == 1)
    #expect(calls[nil, .unimplemented] == 1)
    // An even stream id is refused before the method is read.
    #expect(calls[nil, .invalidArgument] == 1)
    #expect(buckets(nil, of: connection) == [0: 2])
  }

  @Test(
    "A duration is in the first bucket that has room for it",
    arguments: [(1, 5), (2, 6), (20, 9), (25, 9), (26, 10), (9_999, 16), (10_001, 17)])
  func durations(milliseconds: Int, bucket: Int) throws {
    let connection = try EmbeddedConnection(RPCLimits())
    try connection.receive(Frames.request(1, "Slow", "\(milliseconds)"))
    let slow = try index("Slow")
    #expect(buckets(slow, of: connection) == [bucket: 1])
    #expect(
      connection.statistics.calls[.ttrpc].durations(of: slow).nanoseconds == milliseconds
        * 1_000_000)
  }

  @Test("A call waits for those before it in its read: that is a part of its duration")
  func waiting() throws {
    let connection = try EmbeddedConnection(RPCLimits())
    try connection.receive(Frames.request(1, "Slow", "5"), Frames.request(3, "Immediate", "h"))
    #expect(try buckets(index("Immediate"), of: connection) == [7: 1])
  }

  @Test("A call that ends later is counted when it ends, one of a closed connection as CANCELLED")
  func later() throws {
    let connection = try EmbeddedConnection(RPCLimits())
    let hold = try index("Hold")
    try connection.receive(Frames.request(1, "Hold", "a"), Frames.request(3, "Hold", "b"))
    #expect(connection.statistics.calls.total == 0)
    connection.advance(by: .milliseconds(3))
    connection.service.answer("a")?.succeed(ByteBuffer())
    connection.advance(by: .zero)
    #expect(connection.statistics.calls[.ttrpc][hold, .ok] == 1)
    connection.advance(by: .milliseconds(200))
    connection.close()
    #expect(connection.statistics.calls[.ttrpc][hold, .cancelled] == 1)
    #expect(buckets(hold, of: connection) == [7: 1, 12: 1])
  }

  @Test("A long run of answers in place is counted as one entry, with all of its answers")
  func longRun() throws {
    let connection = try EmbeddedConnection(RPCLimits())
    let frames = (0..<200).map { Frames.request(UInt32($0 * 2 + 1), "Immediate", "h") }
    try connection.receive(Frames.joined(frames))
    #expect(try connection.statistics.calls[.ttrpc][index("Immediate"), .ok] == 200)
  }

  @Test("Taking the calls of connections adds them, and resets the connections")
  func taking() {
    var first = FinishedCalls()
    first.add(3, of: 4, .ok, lasting: .microseconds(25))
    first.add(2, of: 4, .ok, lasting: .microseconds(20))
    first.add(1, of: 0, .internal, lasting: .seconds(11))
    first.add(1, of: nil, .unimplemented, lasting: .nanoseconds(-5))
    first.add(1, of: 4, .ok, lasting: .microseconds(26))
    var counts = CallCounts()
    counts.take(&first)
    counts.take(&first)
    #expect(counts.total == 8)
    #expect(counts[4, .ok] == 6)
    #expect(counts[3, .ok] == 0)
    #expect(counts[0, .internal] == 1)
    #expect(counts.durations(of: 4).counts.prefix(3) == [5, 1, 0])
    #expect(counts.durations(of: 4).nanoseconds == 141_000)
    #expect(counts.durations(of: 0).counts.last == 1)
    #expect(counts.durations(of: nil).nanoseconds == 0)
    #expect(counts.durations(of: 9).counts == Array(repeating: 0, count: 18))
  }
}
