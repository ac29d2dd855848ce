import Framing
import NIOCore
import RPCServer
import Testing
import Wire

@Suite("Connections that break the protocol", .timeLimit(.minutes(2)))
struct BrokenConnectionTests {
  /// Longer than any test may take, so that an earlier end has another cause.
  private static let ever = Duration.seconds(600)

  private static func limits(_ change: (inout RPCLimits) -> Void = { _ in }) -> RPCLimits {
    var limits = RPCLimits(shutdownTime: ever, lingerTime: ever)
    change(&limits)
    return limits
  }

  /// A client that has broken the protocol and read the failure.
  private static func broken(_ address: ServerAddress) throws -> RawClient {
    let client = try RawClient(address)
    try client.send(Frames.header(1, .request, length: RPCLimits.maximumSkippedData + 1))
    #expect(try client.receiveText() == "1 RESOURCE_EXHAUSTED")
    return client
  }

  @Test("The failure is sent immediately, and the connection is closed after the linger time")
  func closedLate() async throws {
    for transport in TestServer.transports {
      let time = Duration.milliseconds(300)
      try await TestServer.run(Self.limits { $0.lingerTime = time }) { test in
        let started = ContinuousClock.now
        let client = try Self.broken(test[keyPath: transport])
        #expect(try client.receiveText() == "closed")
        #expect(started.duration(to: .now) >= time)
        #expect(test.server.statistics.connectionsBroken == 1)
      }
    }
  }

  @Test("Meanwhile the connection is not read, and others are served")
  func unread() async throws {
    try await TestServer.run(Self.limits()) { test in
      let client = try Self.broken(test.tcp)
      let noise = ByteBuffer(repeating: 0xFF, count: 1_000_000)
      var taken = 0
      // The kernel's socket buffers take a few megabytes.
      while taken < 1_000_000_000, let count = try client.sendSome(noise, waitingFor: 200) {
        taken += count
      }
      #expect(taken < 1_000_000_000, "what the client sends is read")
      #expect(try test.answers(at: test.tcp))
      // The end of the input would be queued after the unread bytes.
      client.reset()
    }
  }

  @Test("A shutdown does not wait longer for a broken connection")
  func shutdown() async throws {
    let limits = RPCLimits(shutdownTime: .milliseconds(100), lingerTime: .milliseconds(100))
    try await TestServer.run(limits) { test in
      let client = try Self.broken(test.tcp)
      await test.server.shutDown()
      #expect(test.server.statistics.connectionsOpen == 0)
      #expect(try client.receiveText() == "closed")
    }
  }

  @Test("When the client closes its side, the connection closes immediately")
  func letGo() async throws {
    for transport in TestServer.transports {
      try await TestServer.run(Self.limits()) { test in
        let client = try Self.broken(test[keyPath: transport])
        client.closeOutput()
        #expect(try client.receiveText() == "closed")
      }
    }
  }

  @Test("Too many broken frames are all answered, end the calls, and stop reading")
  func tooManyFrames() async throws {
    try await TestServer.run(Self.limits { $0.brokenFrames = 5 }) { test in
      let client = try RawClient(test.tcp)
      try client.send(Frames.request(1, "Hold", "x"))
      #expect(await test.service.expect(.held("x")))
      try client.send(Frames.joined((0..<8).map { _ in Frames.request(2, "Echo") }))
      for _ in 0..<6 {
        #expect(try client.receiveText() == "2 INVALID_ARGUMENT")
      }
      #expect(try client.receiveText() == "1 UNAVAILABLE")
      #expect(await test.service.expect(.cancelled("x")))
      #expect(test.server.statistics.connectionsBroken == 1)
      client.closeOutput()
      #expect(try client.receiveText() == "closed")
    }
  }

  @Test("A request with malformed first bytes is answered before it has arrived completely")
  func longMalformed() async throws {
    try await TestServer.run(Self.limits()) { test in
      let client = try RawClient(test.tcp)
      let length = RPCLimits.maximumFrameData
      let noise = ByteBuffer(repeating: 0xFF, count: RPCLimits.earlyCheckLength)
      let rest = ByteBuffer(repeating: 0xFF, count: length - RPCLimits.earlyCheckLength)
      try client.send(Frames.header(1, .request, length: length))
      try client.send(noise)
      #expect(try client.receiveText() == "1 INVALID_ARGUMENT")
      try client.send(rest)
      try client.send(Frames.request(3, "Echo", "in"))
      #expect(try client.receiveText() == "3 OK in")
    }
  }

  @Test("Connections inherit the options of their listener's socket")
  func socketOptions() async throws {
    try await TestServer.run { test in
      let client = try RawClient(test.tcp)
      try client.send(Frames.request(1, "Echo", "in"))
      #expect(try client.receiveText() == "1 OK in")
      let socket = try #require(client.peerInThisProcess)
      #expect(socket.option(.noDelay) == 1)
      #expect(socket.option(.keepAlive) == 1)
      #expect(socket.option(.keepAliveIdle) == RPCLimits.keepAliveIdleSeconds)
      #expect(socket.option(.keepAliveInterval) == RPCLimits.keepAliveProbeSeconds)
      #expect(socket.option(.keepAliveCount) == RPCLimits.keepAliveProbes)
    }
  }
}
