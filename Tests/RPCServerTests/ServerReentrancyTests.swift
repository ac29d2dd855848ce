import NIOCore
import NIOPosix
import RPCServer
import Testing
import Wire

@Suite("Method bodies that hold a lock while they send", .timeLimit(.minutes(2)))
struct ServerReentrancyTests {
  /// Answers to it are failures that take room in the batch of answers.
  private static let refusedRequest = Frames.frame(2, .request)

  @Test("Calls of a client that vanishes are not cancelled inside another call's send")
  func vanishedClient() async throws {
    // A loop of its own, as the test holds it up.
    let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
    for transport in TestServer.transports {
      try await TestServer.run(group: group) { test in
        let client = try RawClient(test[keyPath: transport])
        // What waits in one piece makes the server's reads large enough for what follows below to
        // arrive in one.
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

        // Refusals that nearly make a full batch, and streams whose messages do.
        let refused = (RPCLimits.fullBatch - 1) / refusalSize
        let names = ["a", "b", "c"].map { String(repeating: $0, count: refusalSize) }
        let streams = zip([7, 9, 11], names).map {
          Frames.request($0, "LockedStream", $1, flags: .remoteClosed)
        }
        try client.send(
          Frames.joined(Array(repeating: Self.refusedRequest, count: refused) + streams))
        client.reset()
        test.service.openGate()
        // A lock that is taken again by its own thread ends the process.
        #expect(try test.answers(at: test[keyPath: transport]))
      }
    }
    try await group.shutdownGracefully()
  }

  @Test("A stream that is ended for a slow reader is not told so inside its own send")
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
