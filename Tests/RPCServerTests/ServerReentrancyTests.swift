import NIOCore
import RPCServer
import Testing
import Wire

@Suite("Method bodies that hold a lock while they send", .timeLimit(.minutes(2)))
struct ServerReentrancyTests {
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
