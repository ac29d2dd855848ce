import NIOCore
import RPCServer
import Testing
import Wire

@Suite("Connections that break the protocol or come too often", .timeLimit(.minutes(2)))
struct BrokenConnectionTests {
  /// Longer than any test may take: what ends before is not ended by it.
  private static let ever = Duration.seconds(600)

  private static func limits(_ change: (inout RPCLimits) -> Void = { _ in }) -> RPCLimits {
    var limits = RPCLimits(
      shutdownTime: ever, penaltyTime: ever, lingerTime: .milliseconds(100))
    change(&limits)
    return limits
  }

  /// A client that has broken the protocol, and has read that it has.
  private static func broken(_ address: ServerAddress) throws -> RawClient {
    let client = try RawClient(address)
    try client.send(Frames.header(1, .request, length: RPCLimits.maximumSkippedData + 1))
    #expect(try client.receiveText() == "1 RESOURCE_EXHAUSTED")
    return client
  }

  @Test("It has its failure at once, and is closed after its time")
  func closedLate() async throws {
    for transport in TestServer.transports {
      let time = Duration.milliseconds(300)
      try await TestServer.run(Self.limits { $0.penaltyTime = time }) { test in
        let started = ContinuousClock.now
        let client = try Self.broken(test[keyPath: transport])
        #expect(try client.receiveText() == "closed")
        #expect(started.duration(to: .now) >= time)
        #expect(test.server.statistics.connectionsPenalized == 1)
      }
    }
  }

  @Test("Meanwhile it is not read, others are served, and shutdown does not wait for it")
  func unread() async throws {
    let started = ContinuousClock.now
    try await TestServer.run(Self.limits()) { test in
      let client = try Self.broken(test.tcp)
      let noise = ByteBuffer(repeating: 0xFF, count: 1_000_000)
      var taken = 0
      // The buffers of the system's sockets take some megabytes.
      while taken < 1_000_000_000, let count = try client.sendSome(noise, waitingFor: 200) {
        taken += count
      }
      #expect(taken < 1_000_000_000, "what the client sends is read")
      #expect(try test.answers(at: test.tcp))
      await test.server.shutDown()
      #expect(test.server.statistics.connectionsOpen == 0)
    }
    #expect(started.duration(to: .now) < Self.ever)
  }

  @Test("A client that closes its side is let go at once")
  func letGo() async throws {
    try await TestServer.run(Self.limits()) { test in
      let client = try Self.broken(test.tcp)
      client.closeOutput()
      #expect(try client.receiveText() == "closed")
    }
  }

  @Test("Beyond the limit the one that has waited longest is closed")
  func bounded() async throws {
    try await TestServer.run(Self.limits { $0.penalizedConnections = 2 }) { test in
      let clients = try (0..<4).map { _ in try Self.broken(test.tcp) }
      #expect(try clients[0].receiveText() == "closed")
      #expect(try clients[1].receiveText() == "closed")
      #expect(test.server.statistics.connectionsPenalized == 4)
      for client in clients[2...] {
        // The system tells of an end at once: neither has any.
        #expect(try !client.isReadable(within: 0))
      }
      #expect(try test.answers(at: test.tcp))
    }
  }

  @Test("It gives its place to a new connection when all are taken")
  func replaced() async throws {
    try await TestServer.run(Self.limits { $0.connections = 2 }) { test in
      let broken = try Self.broken(test.tcp)
      let honest = try (0..<2).map { _ in
        let client = try RawClient(test.tcp)
        try client.send(Frames.request(1, "Echo", "in"))
        #expect(try client.receiveText() == "1 OK in")
        return client
      }
      #expect(try broken.receiveText() == "closed")
      let third = try RawClient(test.tcp)
      #expect(try third.receiveText() == "closed")
      #expect(test.server.statistics.connectionsRefused == 1)
      withExtendedLifetime(honest) {}
    }
  }

  @Test("Too many broken frames are answered to the last, end the calls, and stop the reading")
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
      #expect(test.server.statistics.connectionsPenalized == 1)
      client.closeOutput()
      #expect(try client.receiveText() == "closed")
    }
  }

  @Test("What cannot become a request is answered before it is whole; a second one is too much")
  func longMalformed() async throws {
    try await TestServer.run(Self.limits()) { test in
      let client = try RawClient(test.tcp)
      let length = RPCLimits.maximumFrameData
      let noise = ByteBuffer(repeating: 0xFF, count: RPCLimits.frameBeginning)
      let rest = ByteBuffer(repeating: 0xFF, count: length - RPCLimits.frameBeginning)
      try client.send(Frames.header(1, .request, length: length))
      try client.send(noise)
      #expect(try client.receiveText() == "1 INVALID_ARGUMENT")
      try client.send(rest)
      try client.send(Frames.request(3, "Echo", "in"))
      #expect(try client.receiveText() == "3 OK in")
      try client.send(Frames.header(5, .request, length: length))
      try client.send(noise)
      #expect(try client.receiveText() == "5 INVALID_ARGUMENT")
      #expect(test.server.statistics.connectionsPenalized == 1)
      client.closeOutput()
      #expect(try client.receiveText() == "closed")
    }
  }

  @Test("While too many come and go, new ones wait, and all are served")
  func paced() async throws {
    let burst = 20
    let limits = Self.limits {
      $0.shortConnections = burst
      $0.shortConnectionsPerSecond = 2
    }
    try await TestServer.run(limits) { test in
      let started = ContinuousClock.now
      for _ in 0..<burst + 4 {
        let client = try RawClient(test.tcp)
        try client.send(Frames.request(1, "Echo", "in"))
        #expect(try client.receiveText() == "1 OK in")
        client.closeOutput()
        #expect(try client.receiveText() == "closed")
      }
      #expect(test.server.statistics.acceptPauses >= 1)
      #expect(started.duration(to: .now) >= .milliseconds(500))
      #expect(test.server.statistics.connectionsRefused == 0)
    }
  }

  @Test("On a Unix socket they may come and go as they like")
  func unixSocket() async throws {
    let limits = Self.limits {
      $0.shortConnections = 1
      $0.shortConnectionsPerSecond = 1
    }
    try await TestServer.run(limits) { test async throws in
      for _ in 0..<50 { #expect(try test.answers(at: test.unix)) }
      #expect(try test.answers(at: test.tcp))
      #expect(test.server.statistics.acceptPauses == 0)
    }
  }

  @Test("Those that stay are accepted as they come")
  func staying() async throws {
    let limits = Self.limits {
      $0.shortConnections = 1
      $0.shortConnectionsPerSecond = 1
    }
    try await TestServer.run(limits) { test in
      let clients = try (0..<100).map { _ in try RawClient(test.tcp) }
      for client in clients {
        try client.send(Frames.request(1, "Echo", "in"))
        #expect(try client.receiveText() == "1 OK in")
      }
      #expect(test.server.statistics.acceptPauses == 0)
    }
  }

  @Test("Connections have the options of their listener's socket")
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
