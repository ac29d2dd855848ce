import Dispatch
import Framing
import NIOCore
import Testing
import Wire

@testable import RPCServer

@Suite("Backpressure of streams", .timeLimit(.minutes(2)))
struct StreamPacingTests {
  private static func limits(slowReaderTime: Duration, writeBuffer: Int = 400_000) -> RPCLimits {
    RPCLimits(
      writeBufferPause: 100_000, writeBuffer: writeBuffer, slowReaderTime: slowReaderTime,
      shutdownTime: .milliseconds(100), lingerTime: .milliseconds(100))
  }

  private static let message = ByteBuffer(repeating: 0x6D, count: 50_000)

  private func hold(
    _ test: TestServer, _ client: RawClient, _ id: UInt32 = 1, _ name: String = "s"
  ) async throws -> RPCServerStream {
    try client.send(Frames.request(id, "HoldStream", name, flags: .remoteClosed))
    #expect(await test.service.expect(.held(name)))
    return try #require(test.service.stream(name))
  }

  /// Runs `body` on a separate thread, as a blocking read would occupy a thread that the producer
  /// may need.
  private func apart<Value: Sendable>(
    _ client: RawClient, _ body: @escaping @Sendable (RawClient) throws -> Value
  ) async throws -> Value {
    // The caller waits, so the client is used by one thread at a time.
    nonisolated(unsafe) let client = client
    return try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(with: Result { try body(client) })
      }
    }
  }

  @Test(
    "Many times the write buffer is sent to a slow reader without loss",
    arguments: TestServer.transports)
  func backPressure(address: any KeyPath<TestServer, ServerAddress> & Sendable) async throws {
    try await TestServer.run(Self.limits(slowReaderTime: .seconds(30))) { test in
      let client = try RawClient(test[keyPath: address], receiveBuffer: 4096)
      let stream = try await hold(test, client)
      let count = 300
      let producer = Task {
        for number in 0..<count {
          let message = StreamMessage(Self.message, cursor: "\(number)")
          guard await stream.sendWhenRead([message]) else { return false }
        }
        stream.finish()
        return true
      }
      let received = try await apart(client) { client in
        try (0..<count).map { _ in try client.receive()?.data } + [try client.receive()?.data]
      }
      #expect(received == Array(repeating: Self.message, count: count) + [ByteBuffer()])
      #expect(await producer.value)
    }
  }

  @Test("Many streams that wait for one active reader are not ended as unread")
  func together() async throws {
    try await TestServer.run(Self.limits(slowReaderTime: .seconds(30))) { test in
      let client = try RawClient(test.unix, receiveBuffer: 4096)
      // Together they would need eight times the write buffer.
      let (streams, count) = (64, 6)
      var held: [RPCServerStream] = []
      for number in 0..<streams {
        held.append(try await hold(test, client, UInt32(2 * number + 1), "s\(number)"))
      }
      let producers = held.map { stream in
        Task {
          for _ in 0..<count {
            guard await stream.sendWhenRead([StreamMessage(Self.message)]) else { return false }
          }
          stream.finish()
          return true
        }
      }
      let received = try await apart(client) { client in
        var received: [StreamID: Int] = [:]
        // Including the end of each stream.
        for _ in 0..<(streams * (count + 1)) {
          guard let frame = try client.receive(), frame.header.type == .data else { break }
          received[frame.header.streamID, default: 0] += frame.data.readableBytes
        }
        return received
      }
      #expect(received.count == streams)
      #expect(received.values.allSatisfy { $0 == count * Self.message.readableBytes })
      for producer in producers { #expect(await producer.value) }
    }
  }

  @Test("When the client has read, the stream that has waited longest sends next")
  func turns() throws {
    let connection = try EmbeddedConnection(Self.limits(slowReaderTime: .seconds(30)))
    let line = try Line(connection, ["a", "b", "c"])
    connection.setReading(false)
    for name in ["c", "a", "b"] { try line.keepSending(name) }
    #expect(line.sent.isEmpty)
    for _ in 0..<7 { connection.read(until: Self.message.readableBytes) }
    #expect(line.sent == ["c", "a", "b", "c", "a", "b", "c"])
    // A stream that ends meanwhile is skipped.
    try line.stream("a").finish()
    for _ in 0..<3 { connection.read(until: Self.message.readableBytes) }
    #expect(line.sent.suffix(3) == ["b", "c", "b"])
    #expect(line.ended == ["a"])
  }

  @Test("A stream that waits while others are served is not ended; when the client stops, all are")
  func stallTime() throws {
    let connection = try EmbeddedConnection(Self.limits(slowReaderTime: .seconds(30)))
    let line = try Line(connection, ["a", "b", "c"])
    connection.setReading(false)
    for name in ["a", "b", "c"] { try line.keepSending(name) }
    // Each stream waits 87 seconds.
    for _ in 0..<9 {
      connection.advance(by: .seconds(29))
      connection.read(until: Self.message.readableBytes)
    }
    #expect(line.sent == ["a", "b", "c", "a", "b", "c", "a", "b", "c"])
    _ = try connection.sent()
    connection.advance(by: .milliseconds(29_999))
    #expect(line.ended.isEmpty)
    connection.advance(by: .milliseconds(1))
    #expect(line.ended == ["a", "b", "c"])
    #expect(
      try connection.sent() == [
        "1 RESOURCE_EXHAUSTED", "3 RESOURCE_EXHAUSTED", "5 RESOURCE_EXHAUSTED",
      ])
    #expect(connection.isOpen)
  }

  @Test("A stream that begins to wait has the full timeout, even if others have waited before")
  func ownTime() throws {
    let connection = try EmbeddedConnection(Self.limits(slowReaderTime: .seconds(30)))
    let line = try Line(connection, ["a", "b"])
    connection.setReading(false)
    try line.keepSending("a")
    connection.advance(by: .seconds(20))
    try line.keepSending("b")
    connection.advance(by: .seconds(10))
    #expect(line.ended == ["a"])
    connection.advance(by: .milliseconds(19_999))
    #expect(line.ended == ["a"])
    connection.advance(by: .milliseconds(1))
    #expect(line.ended == ["a", "b"])
  }

  @Test("A stream whose reader reads nothing for too long is ended with its last cursor")
  func stalled() async throws {
    try await TestServer.run(Self.limits(slowReaderTime: .milliseconds(100))) { test in
      let client = try RawClient(test.unix, receiveBuffer: 4096)
      let stream = try await hold(test, client)
      var sent = 0
      while await stream.sendWhenRead([StreamMessage(Self.message, cursor: "\(sent)")]) {
        sent += 1
      }
      #expect(await test.service.expect(.cancelled("s")))
      #expect(stream.isEnded)
      #expect(try test.answers(at: test.tcp))
      var received = 0
      var last = try #require(try client.receive())
      while last.header.type == .data {
        received += 1
        last = try #require(try client.receive())
      }
      #expect(received == sent)
      let status = try #require(try ResponseEnvelope(decoding: last.data).status)
      #expect(status.code == .resourceExhausted)
      #expect(status.errorInfo?.reason == "SLOW_READER")
      #expect(status.errorInfo?.metadata == ["cursor": "\(sent - 1)"])
      // The connection stays open.
      try client.send(Frames.request(3, "Echo", "goes on"))
      #expect(try client.receiveText() == "3 OK goes on")
    }
  }

  @Test("A waiting stream is cancelled immediately when the client disconnects")
  func gone() throws {
    let connection = try EmbeddedConnection(Self.limits(slowReaderTime: .seconds(60)))
    let line = try Line(connection, ["a", "b"])
    connection.setReading(false)
    try line.keepSending("a")
    try line.keepSending("b")
    connection.close()
    #expect(Set(line.ended) == ["a", "b"])
    try line.keepSending("a")
    #expect(line.ended.last == "a")
  }

  @Test("A waiting stream is cancelled when the server shuts down")
  func stopped() async throws {
    let limits = Self.limits(slowReaderTime: .seconds(60), writeBuffer: 4_000_000)
    try await TestServer.run(limits) { test in
      let client = try RawClient(test.unix, receiveBuffer: 4096)
      let stream = try await hold(test, client)
      // Far more than the kernel buffers.
      for _ in 0..<60 { stream.send(Self.message) }
      await test.settle(stream)
      let waiting = Task { await stream.sendWhenRead([StreamMessage(Self.message)]) }
      await Task.yield()
      await test.server.shutDown()
      #expect(await !waiting.value)
      #expect(await !stream.sendWhenRead([StreamMessage(Self.message)]))
    }
  }

  @Test("A finished stream does not wait")
  func finished() async throws {
    try await TestServer.run { test in
      let client = try RawClient(test.tcp)
      let stream = try await hold(test, client)
      #expect(await stream.sendWhenRead([StreamMessage(ByteBuffer(string: "one"))]))
      stream.finish()
      #expect(await !stream.sendWhenRead([StreamMessage(ByteBuffer(string: "late"))]))
      #expect(try client.receiveText() == "1 data one")
      #expect(try client.receiveText() == "1 end")
    }
  }

  /// Streams of one connection that always have messages to send.
  private final class Line {
    private let connection: EmbeddedConnection
    private(set) var sent: [String] = []
    private(set) var ended: [String] = []

    init(_ connection: EmbeddedConnection, _ names: [String]) throws {
      self.connection = connection
      for (number, name) in names.enumerated() {
        try connection.receive(
          Frames.request(UInt32(2 * number + 1), "HoldStream", name, flags: .remoteClosed))
      }
    }

    func stream(_ name: String) throws -> RPCServerStream {
      try #require(connection.service.stream(name))
    }

    func keepSending(_ name: String) throws {
      keepSending(name, on: try stream(name).call)
    }

    private func keepSending(_ name: String, on call: CallID) {
      connection.handler.sendWhenRead([StreamMessage(StreamPacingTests.message)], on: call) {
        isOpen in
        if isOpen {
          self.sent.append(name)
          self.keepSending(name, on: call)
        } else {
          self.ended.append(name)
        }
      }
    }
  }
}
