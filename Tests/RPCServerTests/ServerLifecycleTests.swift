import Foundation
import Framing
import NIOCore
import RPCServer
import Testing
import Wire

@Suite("Start, disconnects and shutdown", .timeLimit(.minutes(2)))
struct ServerLifecycleTests {
  private static func server() -> RPCServer {
    RPCServer(router: TestService().router, logger: TestServer.quietLogger)
  }

  // MARK: Disconnects

  @Test("A client that half-closes gets its answers, then the connection is closed")
  func halfClose() async throws {
    for transport in TestServer.transports {
      try await TestServer.run { test in
        let client = try RawClient(test[keyPath: transport])
        try client.send(Frames.request(1, "Hold", "a"))
        try client.send(Frames.request(3, "Echo", "at once"))
        client.closeOutput()
        #expect(try client.receiveText() == "3 OK at once")
        #expect(await test.service.expect(.held("a")))
        test.service.answer("a")?.succeed(ByteBuffer(string: "later"))
        #expect(try client.receiveText() == "1 OK later")
        #expect(try client.receiveText() == "closed")
      }
    }
  }

  @Test("A client that half-closes gets a large answer completely")
  func halfCloseLarge() async throws {
    try await TestServer.run { test in
      let client = try RawClient(test.tcp, receiveBuffer: 4096)
      try client.send(Frames.request(1, "Large", "4000000"))
      client.closeOutput()
      #expect(try client.receive()?.header.dataLength == 4_000_005)
      #expect(try client.receiveText() == "closed")
    }
  }

  @Test("The calls and streams of a client that disconnects are cancelled")
  func vanished() async throws {
    for transport in TestServer.transports {
      try await TestServer.run { test in
        let client = try RawClient(test[keyPath: transport])
        try client.send(Frames.request(1, "Hold", "a"))
        try client.send(Frames.request(3, "HoldStream", "b", flags: .remoteClosed))
        #expect(await test.service.expect(.held("a"), .held("b")))
        // A reset over TCP. A Unix socket distinguishes a full close from a half-close.
        client.reset()
        #expect(await test.service.expect(.cancelled("a"), .cancelled("b")))
        #expect(test.service.answer("a")?.isCancelled == true)
        #expect(test.service.stream("b")?.send(ByteBuffer()) == false)
        test.service.answer("a")?.succeed(ByteBuffer())
        #expect(try test.answers(at: test.tcp))
      }
    }
  }

  @Test("A client that closes in the middle of a frame does not affect others")
  func vanishedInFrame() async throws {
    try await TestServer.run { test in
      let whole = Frames.request(1, "Echo", "x")
      for length in 1..<whole.readableBytes {
        let client = try RawClient(test.tcp)
        try client.send(try #require(whole.getSlice(at: 0, length: length)))
        client.closeOutput()
        #expect(try client.receiveText() == "closed")
      }
      #expect(try test.answers(at: test.tcp))
    }
  }

  // MARK: Shutdown

  @Test("Shutdown ends streams, refuses new calls, lets others finish, and closes")
  func shutdown() async throws {
    let limits = RPCLimits(shutdownTime: .seconds(60), lingerTime: .milliseconds(100))
    try await TestServer.run(limits) { test in
      let client = try RawClient(test.tcp)
      let idle = try RawClient(test.unix)
      try idle.send(Frames.request(1, "Echo", "x"))
      #expect(try idle.receiveText() == "1 OK x")
      try client.send(Frames.request(1, "Hold", "a"))
      try client.send(Frames.request(3, "HoldStream", "b", flags: .remoteClosed))
      #expect(await test.service.expect(.held("a"), .held("b")))
      async let stopped: Void = test.server.shutDown()
      #expect(await test.service.expect(.cancelled("b")))
      #expect(try client.receiveText() == "3 UNAVAILABLE")
      #expect(try idle.receiveText() == "closed")
      try client.send(Frames.request(5, "Echo", "new"))
      #expect(try client.receiveText() == "5 UNAVAILABLE")
      // Not the TCP port, which the server of another test may use by now.
      #expect(throws: RawClient.Failure.self) { try RawClient(test.unix) }
      test.service.answer("a")?.succeed(ByteBuffer(string: "finished"))
      #expect(try client.receiveText() == "1 OK finished")
      #expect(try client.receiveText() == "closed")
      await stopped
    }
  }

  @Test("A shutdown ends calls that do not finish in time")
  func shutdownTime() async throws {
    let limits = RPCLimits(shutdownTime: .milliseconds(50), lingerTime: .milliseconds(50))
    try await TestServer.run(limits) { test in
      let client = try RawClient(test.tcp)
      try client.send(Frames.request(1, "Hold", "a"))
      #expect(await test.service.expect(.held("a")))
      await test.server.shutDown()
      #expect(await test.service.expect(.cancelled("a")))
      #expect(try client.receiveText() == "1 UNAVAILABLE")
      #expect(try client.receiveText() == "closed")
    }
  }

  @Test("A client that never closes does not delay a shutdown")
  func shutdownWithMuteClient() async throws {
    let limits = RPCLimits(shutdownTime: .milliseconds(50), lingerTime: .milliseconds(50))
    try await TestServer.run(limits) { test in
      let client = try RawClient(test.tcp, receiveBuffer: 4096)
      try client.send(Frames.request(1001, "Hold", "a"))
      #expect(await test.service.expect(.held("a")))
      try client.send(
        Frames.joined((0..<20).map { Frames.request($0 * 2 + 1, "Large", "1000000") }))
      // The answers are counted when the kernel accepts no more of them.
      while test.server.statistics.calls[.ok] == 0 {
        await Task.yield()
      }
      let time = await ContinuousClock().measure { await test.server.shutDown() }
      // The limit is 100 ms; every other timeout of a connection is 30 s or more.
      #expect(time < .seconds(25))
      #expect(await test.service.expect(.cancelled("a")))
      #expect(test.server.statistics.connectionsOpen == 0)
      client.close()
    }
  }

  // MARK: Start

  @Test("A server starts once")
  func startedTwice() async throws {
    let server = Self.server()
    _ = try await server.start(on: [.tcp(host: "localhost", port: 0)])
    await Self.expectStart(server, on: [.tcp(host: "localhost", port: 0)], fails: .alreadyStarted)
    await server.shutDown()
    await Self.expectStart(server, on: [.tcp(host: "localhost", port: 0)], fails: .alreadyStarted)
  }

  @Test("An address in use is reported, and the other addresses are released")
  func addressInUse() async throws {
    try await TestServer.run { test in
      let folder = try TemporaryFolder()
      let free = ServerAddress.unix(path: folder.path("free.sock"))
      let server = Self.server()
      await Self.expectStart(server, on: [free, test.tcp], fails: .addressInUse, at: test.tcp)
      await Self.expectStart(server, on: [free, test.unix], fails: .addressInUse, at: test.unix)
      #expect(try test.answers(at: test.unix))
      #expect(try await server.start(on: [free]) == [free])
      await server.shutDown()
    }
  }

  @Test("A shutdown removes the file of a Unix socket, and a start replaces a stale file")
  func socketFile() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("rpc.sock")
    // A socket that is bound and closed leaves its file behind.
    let stale = try RawListener(path: path)
    stale.close()
    #expect(FileManager.default.fileExists(atPath: path))
    let server = Self.server()
    _ = try await server.start(on: [.unix(path: path)])
    let client = try RawClient(.unix(path: path))
    try client.send(Frames.request(1, "Echo", "x"))
    #expect(try client.receiveText() == "1 OK x")
    client.close()
    await server.shutDown()
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test("A file that is not a socket is not removed")
  func notASocket() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("precious")
    try Data("keep".utf8).write(to: URL(fileURLWithPath: path))
    await Self.expectStart(
      Self.server(), on: [.unix(path: path)], fails: .notASocket, at: .unix(path: path))
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "keep")
  }

  @Test(
    "Errors distinguish why an address cannot be used",
    arguments: [
      (.tcp(host: "192.0.2.1", port: 0), .addressNotAvailable),
      (.unix(path: "/nonexistent-folder/rpc.sock"), .addressNotAvailable),
      (.tcp(host: "no such host", port: 0), .unknownHost),
    ] as [(ServerAddress, RPCServerError.Code)])
  func unusable(address: ServerAddress, code: RPCServerError.Code) async {
    await Self.expectStart(Self.server(), on: [address], fails: code, at: address)
  }

  private static func expectStart(
    _ server: RPCServer, on addresses: [ServerAddress], fails code: RPCServerError.Code,
    at address: ServerAddress? = nil, sourceLocation: SourceLocation = #_sourceLocation
  ) async {
    do {
      _ = try await server.start(on: addresses)
      Issue.record("started", sourceLocation: sourceLocation)
    } catch {
      #expect(error.code == code, sourceLocation: sourceLocation)
      #expect(error.address == address, sourceLocation: sourceLocation)
    }
  }
}
