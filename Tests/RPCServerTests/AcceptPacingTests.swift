import Framing
import NIOCore
import NIOEmbedded
import Testing
import Wire

@testable import RPCServer

@Suite("Token bucket for short-lived connections", .timeLimit(.minutes(2)))
struct AcceptPacingTests {
  private static func limits(_ rate: Int) -> RPCLimits {
    RPCLimits(shutdownTime: .seconds(60), shortConnectionsPerSecond: rate)
  }

  /// A listener's channel without a socket, which counts accepts.
  private final class Listener: ChannelOutboundHandler {
    typealias OutboundIn = any Channel

    let pacing: AcceptPacing
    let channel = EmbeddedChannel()
    private(set) var accepts = 0

    init(rate: Int) throws {
      pacing = AcceptPacing(limits: AcceptPacingTests.limits(rate))
      try channel.pipeline.syncOperations.addHandlers(self, AcceptPacingHandler(pacing))
    }

    func read(context: ChannelHandlerContext) {
      accepts += 1
    }

    var now: NIODeadline { channel.eventLoop.now }

    /// Ends connections that were accepted that long ago.
    func end(_ count: Int, after time: TimeAmount) {
      for _ in 0..<count { pacing.connectionEnded(acceptedAt: now - time, now: now) }
    }
  }

  @Test("While the bucket is empty, the next connection waits for a token")
  func waits() throws {
    let listener = try Listener(rate: 10)
    listener.channel.embeddedEventLoop.advanceTime(by: .seconds(60))
    listener.end(9, after: .seconds(1))
    listener.channel.read()
    #expect(listener.accepts == 1)
    listener.end(1, after: .milliseconds(1_999))
    for _ in 0..<3 { listener.channel.read() }
    listener.channel.embeddedEventLoop.advanceTime(by: .milliseconds(99))
    #expect(listener.accepts == 1)
    #expect(listener.pacing.pauses == 1)
    listener.channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
    #expect(listener.accepts == 2)
    listener.channel.read()
    #expect(listener.accepts == 3)
  }

  @Test("Long connections take no token; refused ones do")
  func counted() throws {
    let listener = try Listener(rate: 5)
    listener.channel.embeddedEventLoop.advanceTime(by: .seconds(60))
    listener.end(1_000, after: .seconds(2))
    listener.channel.read()
    #expect(listener.accepts == 1)
    for _ in 0..<5 { listener.pacing.connectionRefused(now: listener.now) }
    listener.channel.read()
    #expect(listener.accepts == 1)
    listener.channel.embeddedEventLoop.advanceTime(by: .milliseconds(200))
    #expect(listener.accepts == 2)
  }

  @Test("A listener that closes while it waits accepts no more")
  func closed() throws {
    let listener = try Listener(rate: 1)
    listener.end(1, after: .zero)
    listener.channel.read()
    _ = try listener.channel.finish()
    listener.channel.embeddedEventLoop.advanceTime(by: .seconds(60))
    #expect(listener.accepts == 0)
  }

  // MARK: Sockets

  /// A client connects, makes a call and closes, `count` times.
  private static func call(_ count: Int, at address: ServerAddress) throws {
    for _ in 0..<count {
      let client = try RawClient(address)
      try client.send(Frames.request(1, "Echo", "in"))
      #expect(try client.receiveText() == "1 OK in")
    }
  }

  @Test("2,000 connections with a call each, one after the other, are not delayed by default")
  func script() async throws {
    try await TestServer.run(RPCLimits()) { test in
      try Self.call(2_000, at: test.tcp)
      #expect(test.server.statistics.acceptPauses == 0)
      #expect(test.server.statistics.connectionsAccepted == 2_000)
    }
  }

  @Test("Above the rate, new connections wait, and all are served")
  func paced() async throws {
    try await TestServer.run(Self.limits(1)) { test in
      // At one token a second, the connections are fast enough that some have to wait.
      var connections = 0
      while test.server.statistics.acceptPauses == 0, connections < 100 {
        try Self.call(1, at: test.tcp)
        connections += 1
      }
      try Self.call(2, at: test.tcp)
      #expect(test.server.statistics.acceptPauses >= 1)
      #expect(test.server.statistics.connectionsRefused == 0)
    }
  }

  @Test("Connections to a Unix socket are not limited")
  func unixSocket() async throws {
    try await TestServer.run(Self.limits(1)) { test in
      try Self.call(50, at: test.unix)
      try Self.call(1, at: test.tcp)
      #expect(test.server.statistics.acceptPauses == 0)
    }
  }

  @Test("Connections that stay open are accepted without delay")
  func staying() async throws {
    try await TestServer.run(Self.limits(1)) { test in
      let clients = try (0..<100).map { _ in try RawClient(test.tcp) }
      for client in clients {
        try client.send(Frames.request(1, "Echo", "in"))
        #expect(try client.receiveText() == "1 OK in")
      }
      #expect(test.server.statistics.acceptPauses == 0)
    }
  }
}
