import Framing
import NIOCore
import RPCServer
import Testing
import Wire

@Suite("The server's limits", .timeLimit(.minutes(2)))
struct ServerLimitTests {
  private static func limits(_ change: (inout RPCLimits) -> Void) -> RPCLimits {
    var limits = RPCLimits(shutdownTime: .milliseconds(100), lingerTime: .milliseconds(100))
    change(&limits)
    return limits
  }

  @Test("A connection above the limit is closed immediately and counted; a free one is reused")
  func connections() async throws {
    try await TestServer.run(Self.limits { $0.connections = 2 }) { test in
      let first = try RawClient(test.tcp)
      let second = try RawClient(test.unix)
      for client in [first, second] {
        try client.send(Frames.request(1, "Echo", "in"))
        #expect(try client.receiveText() == "1 OK in")
      }
      let third = try RawClient(test.tcp)
      #expect(try third.receiveText() == "closed")
      #expect(test.server.statistics.connectionsRefused == 1)
      #expect(test.server.statistics.connectionsOpen == 2)
      second.closeOutput()
      #expect(try second.receiveText() == "closed")
      // The server has closed its end; the count falls when its event loop handles the close.
      var isAnswered = false
      while !isAnswered {
        isAnswered = (try? test.answers(at: test.tcp)) ?? false
      }
      try first.send(Frames.request(3, "Echo", "still in"))
      #expect(try first.receiveText() == "3 OK still in")
    }
  }

  @Test("Calls above the limit in flight are refused immediately, with a retry delay")
  func streams() async throws {
    try await TestServer.run(Self.limits { $0.streamsPerConnection = 2 }) { test in
      let client = try RawClient(test.tcp)
      for (id, name) in [(1, "a"), (3, "b"), (5, "c")] as [(UInt32, String)] {
        try client.send(Frames.request(id, "Hold", name))
      }
      let refusal = try ResponseEnvelope(decoding: try #require(try client.receive()).data)
      #expect(refusal.status?.code == .resourceExhausted)
      #expect(refusal.status?.retryDelay != nil)
      #expect(await test.service.expect(.held("a"), .held("b")))
      test.service.answer("a")?.succeed(ByteBuffer())
      #expect(try client.receiveText() == "1 OK ")
      try client.send(Frames.request(5, "Echo", "now"))
      #expect(try client.receiveText() == "5 OK now")
    }
  }

  @Test("An idle connection is closed; one that waits for an answer is not")
  func idle() async throws {
    try await TestServer.run(Self.limits { $0.idleTime = .milliseconds(50) }) { test in
      let waiting = try RawClient(test.tcp)
      try waiting.send(Frames.request(1, "Hold", "a"))
      #expect(await test.service.expect(.held("a")))
      // These two become idle after the first one.
      for _ in 0..<2 {
        let silent = try RawClient(test.tcp)
        #expect(try silent.receiveText() == "closed")
      }
      test.service.answer("a")?.succeed(ByteBuffer(string: "done"))
      #expect(try waiting.receiveText() == "1 OK done")
      #expect(try waiting.receiveText() == "closed")
      #expect(test.server.statistics.connectionsTimedOut == 3)
    }
  }

  @Test("A frame that does not arrive in time ends its connection, even if bytes keep arriving")
  func slowFrame() async throws {
    try await TestServer.run(Self.limits { $0.frameTime = .milliseconds(100) }) { test in
      let client = try RawClient(test.tcp)
      try client.send(Frames.request(1, "Echo", "whole"))
      #expect(try client.receiveText() == "1 OK whole")
      let bytes = ByteBuffer(string: "x")
      var long = Frames.request(3, "Echo", String(repeating: "x", count: 4_000_000))
      try client.send(long.readSlice(length: 100) ?? bytes)
      // Sends until the server resets the connection.
      while (try? client.send(bytes)) != nil {}
      #expect(try client.receiveText() == "closed")
      #expect(test.server.statistics.connectionsTimedOut == 1)
    }
  }

  @Test("An unread stream ends with its last cursor; others are not delayed")
  func slowReader() async throws {
    let limits = Self.limits {
      $0.writeBuffer = 1_000_000
      $0.writeBufferPause = 100_000
    }
    try await TestServer.run(limits) { test in
      let slow = try RawClient(test.tcp, receiveBuffer: 4096)
      try slow.send(Frames.request(1, "HoldStream", "s", flags: .remoteClosed))
      #expect(await test.service.expect(.held("s")))
      let stream = try #require(test.service.stream("s"))
      let message = ByteBuffer(repeating: 0x6D, count: 50_000)
      var sent = 0
      while stream.send(message, cursor: "\(sent)") {
        sent += 1
        // Each message passes the event loop before the next one is made.
        await test.settle(stream)
      }
      #expect(await test.service.expect(.cancelled("s")))
      #expect(stream.isEnded)
      #expect(try test.answers(at: test.tcp))
      var received = 0
      var last = try #require(try slow.receive())
      while last.header.type == .data {
        #expect(last.data == message)
        received += 1
        last = try #require(try slow.receive())
      }
      let status = try #require(try ResponseEnvelope(decoding: last.data).status)
      #expect(status.code == .resourceExhausted)
      #expect(status.errorInfo?.reason == "SLOW_READER")
      #expect(status.errorInfo?.metadata == ["cursor": "\(received - 1)"])
      try slow.send(Frames.request(3, "Echo", "goes on"))
      #expect(try slow.receiveText() == "3 OK goes on")
    }
  }

  @Test("The server stops reading from a client that does not read, and loses no request")
  func unreadAnswers() async throws {
    let limits = Self.limits {
      $0.writeBuffer = 1_000_000
      $0.writeBufferPause = 100_000
    }
    try await TestServer.run(limits) { test in
      let client = try RawClient(test.tcp, receiveBuffer: 4096)
      let calls = 2000
      let payload = String(repeating: "x", count: 20_000)
      var unsent = Frames.joined(
        (0..<calls).map { Frames.request(UInt32($0 * 2 + 1), "Echo", payload) })
      let total = unsent.readableBytes
      while let count = try client.sendSome(unsent, waitingFor: 200) {
        unsent.moveReaderIndex(forwardBy: count)
        if unsent.readableBytes == 0 {
          break
        }
      }
      #expect(unsent.readableBytes > 0, "the server has taken all \(total) bytes")
      for call in 0..<calls {
        while unsent.readableBytes > 0, let count = try client.sendSome(unsent, waitingFor: 0),
          count > 0
        {
          unsent.moveReaderIndex(forwardBy: count)
        }
        let frame = try #require(try client.receive())
        #expect(frame.header.streamID.rawValue == UInt32(call * 2 + 1))
        #expect(try ResponseEnvelope(decoding: frame.data).status == nil)
      }
    }
  }

  @Test("Small requests for large answers are handled no faster than the answers are read")
  func unreadLargeAnswers() async throws {
    let limits = Self.limits {
      $0.writeBuffer = 1_000_000
      $0.writeBufferPause = 100_000
    }
    try await TestServer.run(limits) { test in
      let client = try RawClient(test.tcp, receiveBuffer: 4096)
      try client.send(
        Frames.joined((0..<1500).map { Frames.request(UInt32($0 * 2 + 1), "Large", "20000") }))
      for call in 0..<1500 {
        let frame = try #require(try client.receive())
        #expect(frame.header.streamID.rawValue == UInt32(call * 2 + 1))
        #expect(try ResponseEnvelope(decoding: frame.data).status == nil)
      }
    }
  }
}
