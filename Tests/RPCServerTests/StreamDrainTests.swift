import Dispatch
import NIOCore
import RPCServer
import Synchronization
import Testing
import Wire

@Suite("Streams that wait for their readers", .timeLimit(.minutes(2)))
struct StreamDrainTests {
  private static func limits(slowReaderTime: Duration) -> RPCLimits {
    RPCLimits(
      writeBufferPause: 100_000, writeBuffer: 400_000, slowReaderTime: slowReaderTime,
      shutdownTime: .milliseconds(100), lingerTime: .milliseconds(100))
  }

  private static let message = ByteBuffer(repeating: 0x6D, count: 50_000)

  private func hold(_ test: TestServer, _ client: RawClient) async throws -> RPCServerStream {
    try client.send(Frames.request(1, "HoldStream", "s", flags: .remoteClosed))
    #expect(await test.service.expect(.held("s")))
    return try #require(test.service.stream("s"))
  }

  /// Runs `body` on a thread of its own: a blocked read would take one from the producer, and there
  /// may be no other.
  private func apart<Value: Sendable>(
    _ client: RawClient, _ body: @escaping @Sendable (RawClient) throws -> Value
  ) async throws -> Value {
    // Nobody else uses the client meanwhile: the caller waits.
    nonisolated(unsafe) let client = client
    return try await withCheckedThrowingContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(with: Result { try body(client) })
      }
    }
  }

  /// Sends until the stream has to wait for its reader.
  ///
  /// - Returns: how many messages that took.
  private func fill(_ stream: RPCServerStream, _ test: TestServer, most: Int = 1_000) async -> Int {
    var sent = 0
    let isWaiting = Flag()
    while sent < most {
      stream.send(Self.message, cursor: "\(sent)")
      sent += 1
      isWaiting.set(true)
      Task {
        _ = await stream.drained()
        isWaiting.set(false)
      }
      // The answer of a stream that need not wait comes within some turns of the loop.
      for _ in 0..<20 {
        await test.settle(stream)
        await Task.yield()
        if !isWaiting.value { break }
      }
      if isWaiting.value { break }
    }
    return sent
  }

  @Test(
    "Many times what may wait is sent without loss to a reader that is slow, but reads",
    arguments: TestServer.transports)
  func backPressure(address: any KeyPath<TestServer, ServerAddress> & Sendable) async throws {
    try await TestServer.run(Self.limits(slowReaderTime: .seconds(30))) { test in
      let client = try RawClient(test[keyPath: address], receiveBuffer: 4096)
      let stream = try await hold(test, client)
      let count = 300
      let producer = Task {
        for number in 0..<count {
          stream.send(Self.message, cursor: "\(number)")
          guard await stream.drained() else { return false }
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

  @Test("A stream whose reader reads nothing for too long is ended with its last cursor")
  func stalled() async throws {
    try await TestServer.run(Self.limits(slowReaderTime: .milliseconds(100))) { test in
      let client = try RawClient(test.unix, receiveBuffer: 4096)
      let stream = try await hold(test, client)
      var sent = 0
      repeat {
        stream.send(Self.message, cursor: "\(sent)")
        sent += 1
      } while await stream.drained()
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
      // The connection itself lives.
      try client.send(Frames.request(3, "Echo", "goes on"))
      #expect(try client.receiveText() == "3 OK goes on")
    }
  }

  @Test("Who waits for a reader is told at once that the client has gone, or the server stops")
  func gone() async throws {
    for isShutdown in [false, true] {
      try await TestServer.run(Self.limits(slowReaderTime: .seconds(60))) { test in
        let client = try RawClient(test.unix, receiveBuffer: 4096)
        let stream = try await hold(test, client)
        let count = await fill(stream, test)
        #expect(count < 1_000)
        let waiting = Task { await stream.drained() }
        await test.settle(stream)
        if isShutdown {
          await test.server.shutDown()
        } else {
          client.reset()
        }
        #expect(await !waiting.value)
        #expect(await !stream.drained())
      }
    }
  }

  @Test("A stream that was finished waits for nobody")
  func finished() async throws {
    try await TestServer.run { test in
      let client = try RawClient(test.tcp)
      let stream = try await hold(test, client)
      #expect(await stream.drained())
      stream.finish()
      #expect(await !stream.drained())
      #expect(try client.receiveText() == "1 end")
    }
  }
}

/// A truth that one task tells another.
private final class Flag: Sendable {
  private let isSet = Atomic(false)
  var value: Bool { isSet.load(ordering: .sequentiallyConsistent) }
  func set(_ value: Bool) { isSet.store(value, ordering: .sequentiallyConsistent) }
}
