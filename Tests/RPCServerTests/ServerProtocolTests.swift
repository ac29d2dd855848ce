import Framing
import NIOCore
import RPCServer
import TestSupport
import Testing
import Wire

/// The server's answers on the wire, by the rows of the table in protocol.md.
@Suite("The server on the wire (protocol, sections 1 and 2)", .timeLimit(.minutes(2)))
struct ServerProtocolTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let name: String
    let sent: [ByteBuffer]
    let received: [String]

    init(_ name: String, _ sent: ByteBuffer..., expecting received: [String] = []) {
      self.name = name
      self.sent = sent
      self.received = received
    }

    var testDescription: String {
      name
    }
  }

  static let rows: [Row] = [
    Row("a unary call", Frames.request(1, "Echo", "hello"), expecting: ["1 OK hello"]),
    Row("an empty answer", Frames.request(1, "Echo"), expecting: ["1 OK "]),
    Row(
      "ids out of order", Frames.request(5, "Echo", "a"), Frames.request(3, "Echo", "b"),
      Frames.request(4_294_967_295, "Echo", "c"), Frames.request(3, "Echo", "d"),
      expecting: ["5 OK a", "3 OK b", "4294967295 OK c", "3 OK d"]),
    Row(
      "an id in use", Frames.request(1, "Hold", "x"), Frames.request(1, "Echo", "y"),
      expecting: ["1 INVALID_ARGUMENT"]),
    Row("stream id zero", Frames.request(0, "Echo"), expecting: ["0 INVALID_ARGUMENT"]),
    Row("an even stream id", Frames.request(2, "Echo"), expecting: ["2 INVALID_ARGUMENT"]),
    Row("an unknown method", Frames.request(1, "None"), expecting: ["1 UNIMPLEMENTED"]),
    Row(
      "an unknown service", Frames.request(1, "Echo", service: "test.None"),
      expecting: ["1 UNIMPLEMENTED"]),
    Row(
      "a malformed envelope",
      Frames.frame(1, .request, data: ByteBuffer(bytes: [0x0A, 200, 1])),
      expecting: ["1 INVALID_ARGUMENT"]),
    Row(
      "a name that is not UTF-8",
      Frames.frame(1, .request, data: ByteBuffer(bytes: [0x12, 2, 0xC3, 0x28])),
      expecting: ["1 INVALID_ARGUMENT"]),
    Row(
      "data for an unknown stream", Frames.frame(7, .data, data: ByteBuffer(string: "x")),
      Frames.frame(7, .data, flags: [.remoteClosed, .noData])),
    Row(
      "data for a unary stream", Frames.request(1, "Hold", "x"),
      Frames.frame(1, .data, data: ByteBuffer(string: "x")), expecting: ["1 INVALID_ARGUMENT"]),
    Row(
      "unknown frame types", Frames.frame(1, FrameType(rawValue: 77)),
      Frames.frame(1, .response)),
    Row(
      "a frame one byte too long, skipped",
      Frames.frame(
        9, .request, data: ByteBuffer(repeating: 1, count: RPCLimits.maximumFrameData + 1)),
      expecting: ["9 RESOURCE_EXHAUSTED"]),
    Row(
      "an answer that just fits",
      Frames.request(1, "Large", "\(RPCLimits.maximumFrameData - 5)"),
      expecting: ["1 OK " + String(repeating: "a", count: RPCLimits.maximumFrameData - 5)]),
    Row(
      "an answer that is too large",
      Frames.request(1, "Large", "\(RPCLimits.maximumFrameData - 4)"),
      expecting: ["1 RESOURCE_EXHAUSTED"]),
    Row(
      "a timeout that is over", Frames.request(1, "Echo", timeout: -1),
      expecting: ["1 DEADLINE_EXCEEDED"]),
    Row(
      "a timeout that passes", Frames.request(1, "Hold", "x", timeout: 1_000_000),
      expecting: ["1 DEADLINE_EXCEEDED"]),
    Row(
      "a timeout that is over when the call's turn comes", Frames.request(1, "Echo", timeout: 1),
      Frames.request(3, "Immediate", "h", timeout: 1),
      Frames.request(5, "Immediate", "h", timeout: 60_000_000_000),
      expecting: ["1 DEADLINE_EXCEEDED", "3 DEADLINE_EXCEEDED", "5 OK h"]),
    Row(
      "the longest timeout", Frames.request(1, "Echo", "x", timeout: .max),
      expecting: ["1 OK x"]),
    Row(
      "a call answered more than once", Frames.request(1, "Twice"), expecting: ["1 OK first"]),
    Row(
      "a call answered from elsewhere", Frames.request(1, "Elsewhere", "x"),
      expecting: ["1 OK x"]),
    Row(
      "server streaming", Frames.request(1, "Count", "3", flags: .remoteClosed),
      expecting: ["1 data 0", "1 data 1", "1 data 2", "1 end"]),
    Row(
      "a stream without messages", Frames.request(1, "Count", "0", flags: .remoteClosed),
      expecting: ["1 end"]),
    Row(
      "a stream that fails", Frames.request(1, "FailingStream", flags: .remoteClosed),
      expecting: ["1 data one", "1 ABORTED"]),
    Row(
      "a client-streaming request with its data", Frames.request(1, "Echo", flags: .remoteOpen),
      Frames.frame(1, .data, data: ByteBuffer(string: "x")),
      Frames.frame(1, .data, flags: [.remoteClosed, .noData]),
      expecting: ["1 INVALID_ARGUMENT"]),
    Row(
      "a client-streaming request without data",
      Frames.request(1, "Count", flags: [.remoteOpen, .noData]),
      expecting: ["1 INVALID_ARGUMENT"]),
    Row(
      "a streaming method called as a unary one", Frames.request(1, "Count", "1"),
      expecting: ["1 INVALID_ARGUMENT"]),
    Row(
      "metadata",
      Frames.request(
        1, "Metadata", metadata: [("authorization", "Bearer t"), ("authorization", "u")]),
      expecting: ["1 OK Bearer t,u"]),
  ]

  @Test("Each case gets its answer, and the connection stays open", arguments: rows)
  func row(_ row: Row) async throws {
    for transport in TestServer.transports {
      try await TestServer.run { test in
        let client = try RawClient(test[keyPath: transport])
        for frame in row.sent {
          try client.send(frame)
        }
        for expected in row.received {
          #expect(try client.receiveText() == expected)
        }
        try client.send(Frames.request(1001, "Echo", "still here"))
        #expect(try client.receiveText() == "1001 OK still here")
      }
    }
  }

  @Test(
    "A length that is too large to skip gets an error, then the connection is closed",
    arguments: [RPCLimits.maximumSkippedData + 1, 0x4745_5420])
  func unskippable(length: Int) async throws {
    try await TestServer.run { test in
      let client = try RawClient(test.tcp)
      try client.send(Frames.header(1, .request, length: length))
      #expect(try client.receiveText() == "1 RESOURCE_EXHAUSTED")
      #expect(try client.receiveText() == "closed")
      #expect(try test.answers(at: test.tcp))
    }
  }

  @Test("A call in flight when the connection fails is cancelled")
  func unskippableWithCall() async throws {
    try await TestServer.run { test in
      let client = try RawClient(test.tcp)
      try client.send(Frames.request(1, "Hold", "x"))
      #expect(await test.service.expect(.held("x")))
      try client.send(Frames.header(3, .request, length: Int(UInt32.max)))
      #expect(try client.receiveText() == "3 RESOURCE_EXHAUSTED")
      #expect(await test.service.expect(.cancelled("x")))
    }
  }

  @Test("A request that arrives byte by byte is answered")
  func byteByByte() async throws {
    try await TestServer.run { test in
      let client = try RawClient(test.tcp)
      for byte in Frames.request(1, "Echo", "slowly").readableBytesView {
        try client.send(ByteBuffer(bytes: [byte]))
      }
      #expect(try client.receiveText() == "1 OK slowly")
    }
  }

  @Test("A thousand calls sent at once are answered in order", arguments: ["Echo"])
  func pipelined(method: String) async throws {
    try await TestServer.run { test in
      let client = try RawClient(test.tcp)
      try client.send(
        Frames.joined((0..<1000).map { Frames.request($0 * 2 + 1, method, "call \($0)") }))
      for number in 0..<1000 {
        #expect(try client.receiveText() == "\(number * 2 + 1) OK call \(number)")
      }
      client.closeOutput()
      #expect(try client.receiveText() == "closed")
      #expect(test.server.statistics.calls[.ok] == 1000)
      #expect(test.server.statistics.calls.total == 1000)
    }
  }

  @Test("A thousand calls answered from other threads all get their own answer")
  func pipelinedElsewhere() async throws {
    try await TestServer.run { test in
      let client = try RawClient(test.unix)
      try client.send(
        Frames.joined((0..<1000).map { Frames.request($0 * 2 + 1, "Elsewhere", "\($0)") }))
      var answers: Set<String> = []
      for _ in 0..<1000 {
        answers.insert(try client.receiveText())
      }
      #expect(answers == Set((0..<1000).map { "\($0 * 2 + 1) OK \($0)" }))
    }
  }

  @Test("Calls are answered in the order in which they finish")
  func outOfOrderAnswers() async throws {
    try await TestServer.run { test in
      let client = try RawClient(test.tcp)
      try client.send(Frames.request(1, "Hold", "a"))
      try client.send(Frames.request(3, "Hold", "b"))
      #expect(await test.service.expect(.held("a"), .held("b")))
      test.service.answer("b")?.succeed(ByteBuffer(string: "second"))
      #expect(try client.receiveText() == "3 OK second")
      test.service.answer("a")?.fail(RPCStatus(.dataLoss))
      #expect(try client.receiveText() == "1 DATA_LOSS")
    }
  }

  @Test("A late answer to an ended call does not reach the id's next call")
  func lateAnswer() async throws {
    try await TestServer.run { test in
      let client = try RawClient(test.tcp)
      try client.send(Frames.request(1, "Hold", "a", timeout: 200_000_000))
      #expect(try client.receiveText() == "1 DEADLINE_EXCEEDED")
      #expect(await test.service.expect(.held("a"), .cancelled("a")))
      try client.send(Frames.request(1, "Hold", "b"))
      #expect(await test.service.expect(.held("b")))
      #expect(test.service.answer("a")?.isCancelled == true)
      #expect(test.service.answer("b")?.isCancelled == false)
      test.service.answer("a")?.succeed(ByteBuffer(string: "for the first"))
      test.service.answer("b")?.succeed(ByteBuffer(string: "for the second"))
      #expect(try client.receiveText() == "1 OK for the second")
    }
  }

  @Test("A stream that was finished takes no more messages and is not cancelled later")
  func finishedStream() async throws {
    try await TestServer.run { test in
      let client = try RawClient(test.unix)
      try client.send(Frames.request(1, "HoldStream", "s", flags: .remoteClosed))
      #expect(await test.service.expect(.held("s")))
      let stream = try #require(test.service.stream("s"))
      #expect(stream.send(ByteBuffer(string: "one")))
      stream.finish()
      await test.settle(stream)
      #expect(stream.isEnded)
      #expect(!stream.send(ByteBuffer(string: "two")))
      #expect(try client.receiveText() == "1 data one")
      #expect(try client.receiveText() == "1 end")
      client.close()
      let next = try RawClient(test.unix)
      try next.send(Frames.request(1, "Hold", "next"))
      #expect(await test.service.expect(.held("next")))
    }
  }

  @Test("Garbage ends at most its own connection")
  func garbage() async throws {
    var generator = SeededRandom(for: "garbage")
    let limits = RPCLimits(lingerTime: .milliseconds(50))
    try await TestServer.run(limits) { test in
      for _ in 0..<100 {
        let client = try RawClient(test.tcp)
        var bytes = Frames.frame(2, .request)
        for _ in 0..<Int.random(in: 1...5, using: &generator) {
          let data = (0..<Int.random(in: 0...60, using: &generator)).map { _ in
            UInt8.random(in: 0...255, using: &generator)
          }
          // Mostly valid lengths, so that more than one frame is decoded.
          let error = Int.random(in: 0...9, using: &generator) == 0 ? 3 : 0
          bytes.writeImmutableBuffer(
            Frames.header(
              UInt32.random(in: 0...5, using: &generator),
              FrameType(rawValue: UInt8.random(in: 0...4, using: &generator)),
              length: data.count + error,
              flags: FrameFlags(rawValue: UInt8.random(in: 0...255, using: &generator))))
          bytes.writeBytes(data)
        }
        bytes.writeBytes((0..<20).map { _ in UInt8.random(in: 0...255, using: &generator) })
        // The server may have closed already.
        try? client.send(bytes)
        #expect(try client.receiveText() == "2 INVALID_ARGUMENT")
        if Bool.random(using: &generator) {
          client.reset()
        }
      }
      #expect(try test.answers(at: test.tcp))
      #expect(test.server.statistics.brokenFrames >= 100)
    }
  }
}
