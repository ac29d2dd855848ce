import Framing
import NIOCore
import NIOPosix
import RPCServer
import Testing
import Wire

@Suite("Method bodies that hold a lock while they send", .timeLimit(.minutes(2)))
struct ServerReentrancyTests {
  /// Its answers are failures, which fill the batch of answers.
  private static let refusedRequest = Frames.frame(2, .request)

  @Test("The calls of a closed connection are not cancelled inside another call's send")
  func vanishedClient() async throws {
    // A separate event loop, as the test blocks it.
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    for transport in TestServer.transports {
      try await TestServer.run(group: group) { test in
        let client = try RawClient(test[keyPath: transport])
        // A large first read makes the server's receive buffer large enough for the bytes below to
        // arrive in one read.
        try client.send(Frames.request(13, "Gate"))
        #expect(await test.service.expect(.held("gate")))
        try client.send(Frames.request(1, "Large", String(repeating: " ", count: 100_000)))
        test.service.openGate()
        #expect(try client.receiveText() == "1 OK ")
        try client.send(Self.refusedRequest)
        let refusal = try #require(try client.receive())
        let refusalSize = FrameHeader.encodedSize + Int(refusal.header.dataLength)
        try client.send(Frames.request(3, "LockedStream", "watch", flags: .remoteClosed))
        #expect(try client.receiveText() == "3 data watch")
        try client.send(Frames.request(5, "Gate"))
        #expect(await test.service.expect(.held("watch"), .held("gate")))

        // Refusals that nearly fill a batch, and streams whose messages fill it.
        let refused = (RPCLimits.fullBatch - 1) / refusalSize
        let names = ["a", "b", "c"].map { String(repeating: $0, count: refusalSize) }
        let streams = zip([7, 9, 11], names).map {
          Frames.request($0, "LockedStream", $1, flags: .remoteClosed)
        }
        try client.send(
          Frames.joined(Array(repeating: Self.refusedRequest, count: refused) + streams))
        client.reset()
        test.service.openGate()
        // Taking the lock twice on one thread ends the process.
        #expect(try test.answers(at: test[keyPath: transport]))
      }
    }
    try await group.shutdownGracefully()
  }

  @Test("A stream that ends for a slow reader is not cancelled inside its own send")
  func slowReader() async throws {
    let limits = RPCLimits(
      writeBufferPause: 50_000, writeBuffer: 200_000, shutdownTime: .milliseconds(100),
      lingerTime: .milliseconds(100))
    try await TestServer.run(limits) { test in
      let client = try RawClient(test.tcp)
      try client.send(Frames.request(1, "LockedFlood", "flood", flags: .remoteClosed))
      #expect(
        await test.service.expect(
          .held("flood"), .cancelled("flood"), .cancelled("flood, told late")))
      var text = try client.receiveText()
      while text.hasPrefix("1 data") {
        text = try client.receiveText()
      }
      #expect(text == "1 RESOURCE_EXHAUSTED")
      try client.send(Frames.request(3, "Echo", "goes on"))
      #expect(try client.receiveText() == "3 OK goes on")
    }
  }
}
