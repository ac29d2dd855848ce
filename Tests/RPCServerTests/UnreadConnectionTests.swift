import Framing
import NIOCore
import RPCServer
import Testing
import Wire

@Suite("Clients that do not read")
struct UnreadConnectionTests {
  private static let limits = RPCLimits(idleTime: .seconds(900), frameTime: .seconds(30))
  /// Its answer is sent immediately, so that the server detects that the client does not read.
  private static let large = Frames.request(1, "Large", "20000")
  private static let second: Int64 = 1_000_000_000

  @Test("The deadline of a request counts while the client does not read")
  func deadlines() throws {
    let connection = try EmbeddedConnection(Self.limits)
    connection.setReading(false)
    try connection.receive(
      Self.large,
      Frames.request(3, "Hold", "late", timeout: 5 * Self.second),
      Frames.request(5, "Echo", "in time", timeout: 60 * Self.second),
      Frames.request(7, "Echo", "without a deadline"))
    #expect(try connection.sent().count == 1)
    connection.advance(by: .seconds(4))
    try connection.receive(Frames.request(9, "Echo", "later", timeout: 5 * Self.second))
    connection.advance(by: .seconds(2))
    connection.setReading(true)
    // Later requests count from the oldest one too, as the server decodes none of them before.
    #expect(
      try connection.sent() == [
        "3 DEADLINE_EXCEEDED", "5 OK in time", "7 OK without a deadline", "9 DEADLINE_EXCEEDED",
      ])
    #expect(connection.service.answer("late") == nil)
    try connection.receive(Frames.request(11, "Echo", "new", timeout: 5 * Self.second))
    #expect(try connection.sent() == ["11 OK new"])
  }

  @Test("The timeout of a frame does not count while the server does not read")
  func partialFrame() throws {
    let connection = try EmbeddedConnection(Self.limits)
    connection.setReading(false)
    let frame = Frames.request(3, "Echo", "in two parts")
    let start = try #require(frame.getSlice(at: 0, length: 12))
    let rest = try #require(frame.getSlice(at: 12, length: frame.readableBytes - 12))
    try connection.receive(Self.large, start)
    connection.advance(by: .seconds(60))
    connection.setReading(true)
    connection.advance(by: .seconds(29))
    try connection.receive(rest)
    #expect(try connection.sent().last == "3 OK in two parts")
  }

  @Test("An idle stream is kept while its client reads, and ended when it does not")
  func quietStream() throws {
    let connection = try EmbeddedConnection(Self.limits)
    try connection.receive(Frames.request(1, "HoldStream", "s", flags: .remoteClosed))
    let stream = try #require(connection.service.stream("s"))
    connection.advance(by: .hours(10))
    #expect(connection.isOpen)
    connection.setReading(false)
    connection.advance(by: .seconds(899))
    // Sending to a client that does not read does not count as activity.
    #expect(stream.send(ByteBuffer(string: "unread")))
    connection.advance(by: .milliseconds(999))
    #expect(connection.isOpen)
    connection.advance(by: .milliseconds(1))
    #expect(!connection.isOpen)
    #expect(stream.isEnded)
  }

  @Test("The timeout restarts when a client begins to read again")
  func readsAgain() throws {
    let connection = try EmbeddedConnection(Self.limits)
    try connection.receive(Frames.request(1, "HoldStream", "s", flags: .remoteClosed))
    for _ in 0..<5 {
      connection.setReading(false)
      connection.advance(by: .seconds(899))
      connection.setReading(true)
      connection.advance(by: .seconds(1))
    }
    #expect(connection.isOpen)
  }
}
