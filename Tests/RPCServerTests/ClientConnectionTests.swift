import Framing
import NIOCore
import RPCClient
import RPCServer
import Testing
import Wire

@Suite("The client's connection", .timeLimit(.minutes(2)))
struct ClientConnectionTests {
  private static let service = "test.Service"

  private static func echo(_ connection: RPCConnection, _ text: String) async throws -> String {
    String(
      buffer: try await connection.call(
        service: service, method: "Echo", payload: ByteBuffer(string: text)))
  }

  @Test("Calls are answered over TCP and Unix sockets")
  func call() async throws {
    for transport in TestServer.transports {
      try await TestServer.run { test in
        let connection = try await RPCConnection.connect(to: test[keyPath: transport])
        #expect(try await Self.echo(connection, "hello") == "hello")
        let answer = try await connection.call(
          service: Self.service, method: "Metadata", payload: ByteBuffer(), timeout: .seconds(5),
          metadata: [("authorization", "Bearer t")])
        #expect(String(buffer: answer) == "Bearer t")
        #expect(connection.isOpen)
        await connection.close()
        #expect(!connection.isOpen)
      }
    }
  }

  @Test("Many calls at a time share a connection", arguments: ["Echo", "Elsewhere"])
  func multiplexed(method: String) async throws {
    try await TestServer.run { test in
      let connection = try await RPCConnection.connect(to: test.tcp)
      try await withThrowingTaskGroup(of: Bool.self) { group in
        for number in 0..<500 {
          group.addTask {
            let answer = try await connection.call(
              service: Self.service, method: method, payload: ByteBuffer(string: "\(number)"))
            return String(buffer: answer) == "\(number)"
          }
        }
        for try await isRight in group {
          #expect(isRight)
        }
      }
      await connection.close()
    }
  }

  @Test("A failure arrives with its code, message and details")
  func failure() async throws {
    try await TestServer.run { test in
      let connection = try await RPCConnection.connect(to: test.tcp)
      let error = await #expect(throws: RPCClientError.self) {
        try await connection.call(service: Self.service, method: "Fail", payload: ByteBuffer())
      }
      #expect(error?.code == .status(.notFound))
      #expect(error?.message == "not here")
      #expect(error?.retryDelay == .milliseconds(1500))
      #expect(error?.errorInfo?.metadata == ["k": "v"])
      #expect(error?.fieldViolations.map(\.field) == ["f"])
      await connection.close()
    }
  }

  @Test("The client keeps its deadline when the server is mute", arguments: [0, 20])
  func deadline(milliseconds: Int) async throws {
    let listener = try RawListener()
    let connection = try await RPCConnection.connect(to: listener.address)
    let error = await #expect(throws: RPCClientError.self) {
      try await connection.call(
        service: Self.service, method: "Echo", payload: ByteBuffer(),
        timeout: .milliseconds(milliseconds))
    }
    #expect(error?.code == .status(.deadlineExceeded))
    await connection.close()
  }

  @Test("The deadline reaches the server")
  func serverDeadline() async throws {
    try await TestServer.run { test in
      let connection = try await RPCConnection.connect(to: test.tcp)
      await #expect(throws: RPCClientError.self) {
        try await connection.call(
          service: Self.service, method: "Hold", payload: ByteBuffer(string: "a"),
          timeout: .milliseconds(500))
      }
      #expect(await test.service.expect(.held("a"), .cancelled("a")))
      #expect(try await Self.echo(connection, "goes on") == "goes on")
      await connection.close()
    }
  }

  @Test("A cancelled task stops waiting, and the connection goes on")
  func cancelled() async throws {
    try await TestServer.run { test in
      let connection = try await RPCConnection.connect(to: test.tcp)
      let task = Task {
        try await connection.call(
          service: Self.service, method: "Hold", payload: ByteBuffer(string: "a"))
      }
      #expect(await test.service.expect(.held("a")))
      task.cancel()
      let error = await #expect(throws: RPCClientError.self) { try await task.value }
      #expect(error?.code == .status(.cancelled))
      test.service.answer("a")?.succeed(ByteBuffer(string: "for nobody"))
      #expect(try await Self.echo(connection, "goes on") == "goes on")
      let cancelledBefore = Task {
        withUnsafeCurrentTask { $0?.cancel() }
        return try await Self.echo(connection, "x")
      }
      await #expect(throws: RPCClientError.self) { try await cancelledBefore.value }
      await connection.close()
    }
  }

  @Test("Calls in flight fail when the connection ends, and later ones at once")
  func closed() async throws {
    try await TestServer.run { test in
      let connection = try await RPCConnection.connect(to: test.tcp)
      async let answer = connection.call(
        service: Self.service, method: "Hold", payload: ByteBuffer(string: "a"))
      #expect(await test.service.expect(.held("a")))
      await connection.close()
      do {
        _ = try await answer
        Issue.record("answered")
      } catch {
        #expect((error as? RPCClientError)?.code == .connectionClosed)
      }
      let later = await #expect(throws: RPCClientError.self) {
        try await Self.echo(connection, "x")
      }
      #expect(later?.code == .connectionClosed)
      await connection.close()
    }
  }

  @Test("A server that stops ends its clients' calls with UNAVAILABLE")
  func serverStops() async throws {
    try await TestServer.run { test in
      let connection = try await RPCConnection.connect(to: test.tcp)
      async let answer = connection.call(
        service: Self.service, method: "Hold", payload: ByteBuffer(string: "a"))
      #expect(await test.service.expect(.held("a")))
      await test.server.shutDown()
      do {
        _ = try await answer
        Issue.record("answered")
      } catch {
        #expect((error as? RPCClientError)?.code == .status(.unavailable))
      }
    }
  }

  @Test("A request too large for a frame is not sent")
  func tooLarge() async throws {
    try await TestServer.run { test in
      let connection = try await RPCConnection.connect(to: test.tcp)
      let error = await #expect(throws: RPCClientError.self) {
        try await connection.call(
          service: Self.service, method: "Echo",
          payload: ByteBuffer(repeating: 0, count: RPCLimits.maximumFrameData))
      }
      #expect(error?.code == .status(.resourceExhausted))
      #expect(try await Self.echo(connection, "goes on") == "goes on")
      await connection.close()
    }
  }

  @Test("A server that cannot be reached is told with its address")
  func unreachable() async throws {
    let folder = try TemporaryFolder()
    let listener = try RawListener()
    let addresses: [ServerAddress] = [
      listener.address, .unix(path: folder.path("none.sock")), .tcp(host: "no such host", port: 1),
    ]
    listener.close()
    for address in addresses {
      do {
        _ = try await RPCConnection.connect(to: address)
        Issue.record("connected")
      } catch {
        #expect(error.code == .unreachable)
        #expect(error.message.hasPrefix("\(address): "))
      }
    }
  }

  // MARK: Streams

  @Test("A stream's messages arrive in order, then it ends")
  func stream() async throws {
    try await TestServer.run { test in
      let connection = try await RPCConnection.connect(to: test.tcp)
      var numbers: [String] = []
      for try await message in connection.serverStream(
        service: Self.service, method: "Count", payload: ByteBuffer(string: "1000"))
      {
        numbers.append(String(buffer: message))
      }
      #expect(numbers == (0..<1000).map(String.init))
      await connection.close()
    }
  }

  @Test("A stream's failure comes after its messages")
  func failingStream() async throws {
    try await TestServer.run { test in
      let connection = try await RPCConnection.connect(to: test.tcp)
      var iterator = connection.serverStream(
        service: Self.service, method: "FailingStream", payload: ByteBuffer()
      ).makeAsyncIterator()
      #expect(try await iterator.next() == ByteBuffer(string: "one"))
      do {
        _ = try await iterator.next()
        Issue.record("no failure")
      } catch {
        #expect((error as? RPCClientError)?.code == .status(.aborted))
      }
      await connection.close()
    }
  }

  @Test("A stream waits for messages, and its reader can be cancelled")
  func heldStream() async throws {
    try await TestServer.run { test in
      let connection = try await RPCConnection.connect(to: test.unix)
      let stream = connection.serverStream(
        service: Self.service, method: "HoldStream", payload: ByteBuffer(string: "s"))
      #expect(await test.service.expect(.held("s")))
      let reader = Task {
        var received: [String] = []
        for try await message in stream {
          received.append(String(buffer: message))
          test.service.stream("s")?.send(ByteBuffer(string: "more"))
          if received.count == 3 {
            withUnsafeCurrentTask { $0?.cancel() }
          }
        }
        return received
      }
      test.service.stream("s")?.send(ByteBuffer(string: "first"))
      await #expect(throws: RPCClientError.self) { try await reader.value }
      #expect(try await Self.echo(connection, "goes on") == "goes on")
      await connection.close()
      #expect(await test.service.expect(.cancelled("s")))
    }
  }

  @Test("A stream that is not read is given up when its buffer is full")
  func slowReader() async throws {
    try await TestServer.run { test in
      let limits = RPCLimits(streamReadBuffer: 10)
      let connection = try await RPCConnection.connect(to: test.tcp, limits: limits)
      let stream = connection.serverStream(
        service: Self.service, method: "Count", payload: ByteBuffer(string: "100"))
      // Answered after the stream's messages, on the same connection.
      #expect(try await Self.echo(connection, "x") == "x")
      var received = 0
      do {
        for try await _ in stream {
          received += 1
        }
        Issue.record("ended well")
      } catch {
        #expect((error as? RPCClientError)?.code == .status(.resourceExhausted))
      }
      #expect(received == 10)
      await connection.close()
    }
  }
}
