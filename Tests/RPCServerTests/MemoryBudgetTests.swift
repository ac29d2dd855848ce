import Framing
import NIOCore
import NIOPosix
import RPCServer
import Testing
import Wire

/// The attacks that made a server of thousands of connections take gigabytes, on real sockets, with
/// a budget of some megabytes.
@Suite("Memory of all connections", .timeLimit(.minutes(2)))
struct MemoryBudgetTests {
  private static let megabyte = 1 << 20
  /// Smaller than `entitled` allows, so that few connections suffice.
  private static let limits = RPCLimits(
    shutdownTime: .milliseconds(100), lingerTime: .milliseconds(100), memory: 8 * megabyte)

  /// A request of almost this many bytes, all but the last 50.
  private static func incomplete(_ id: UInt32, _ length: Int) throws -> ByteBuffer {
    let frame = Frames.request(id, "Hold", String(repeating: "x", count: length))
    return try #require(frame.getSlice(at: 0, length: frame.readableBytes - 50))
  }

  /// Waits until the statistics of the server fulfil a condition.
  private static func reached(
    _ test: TestServer, _ condition: (RPCServerStatistics) -> Bool
  ) async throws -> RPCServerStatistics {
    while true {
      let statistics = test.server.statistics
      if condition(statistics) { return statistics }
      try Task.checkCancellation()
      await Task.yield()
    }
  }

  @Test(
    "Incomplete requests of many connections stay within the budget, and the largest goes first")
  func incompleteRequests() async throws {
    try await TestServer.run(Self.limits) { test in
      var largest = 0
      // Sent by threads of their own: the server stops reading some of them.
      let clients = try (0..<40).map { _ in try RawClient(test.tcp) }
      let part = try Self.incomplete(1, Self.megabyte)
      for client in clients {
        var rest = part
        // What the server does not read for a moment is left out: an attacker would go on, too.
        while rest.readableBytes > 0,
          let count = try client.sendSome(rest, waitingFor: 100)
        {
          rest.moveReaderIndex(forwardBy: count)
        }
        largest = max(largest, test.server.statistics.memoryInUse)
        #expect(try test.answers(at: test.tcp))
      }
      // All at once they would be 40 MB. A read may exceed the share by its own length.
      #expect(largest <= Self.limits.memory + Self.megabyte)
      _ = try await Self.reached(test) { $0.droppedRequests > 0 }
      // A request that others pushed out fails, and its connection goes on.
      // Its answer may still be on its way.
      var failed = 0
      while failed == 0 {
        for client in clients where try client.isReadable(within: 0) {
          #expect(try client.receiveText() == "1 RESOURCE_EXHAUSTED")
          failed += 1
        }
        try Task.checkCancellation()
        await Task.yield()
      }
    }
  }

  @Test("A connection whose calls take its share is not read until their work ends")
  func callsInFlight() async throws {
    try await TestServer.run(Self.limits) { test in
      let client = try RawClient(test.tcp)
      // Each is counted four times, as its decoded form is: four calls take half of the budget.
      let names = (0..<6).map { "\($0)" + String(repeating: "x", count: Self.megabyte / 4) }
      for (number, name) in names.enumerated() {
        try client.send(Frames.request(UInt32(2 * number + 1), "Hold", name))
      }
      #expect(
        await test.service.expect(
          .held(names[0]), .held(names[1]), .held(names[2]), .held(names[3])))
      let other = try RawClient(test.unix)
      try other.send(Frames.request(1, "Echo", String(repeating: "y", count: Self.megabyte)))
      #expect(try other.receiveText() == "1 RESOURCE_EXHAUSTED")
      try other.send(Frames.request(3, "Echo", "small"))
      #expect(try other.receiveText() == "3 OK small")
      #expect(test.server.statistics.memoryRefusals == 1)
      #expect(test.server.statistics.memoryInUse >= 4 * Self.megabyte)
      #expect(test.server.statistics.memoryInUse <= 5 * Self.megabyte)
      #expect(test.service.answer(names[4]) == nil)

      // Answered, but the work holds its memory until it ends.
      for name in names[..<4] { test.service.answer(name)?.succeed(ByteBuffer()) }
      for number in 0..<4 { #expect(try client.receiveText() == "\(2 * number + 1) OK ") }
      #expect(test.server.statistics.memoryInUse >= 4 * Self.megabyte)
      test.service.forgetAnswers()
      #expect(await test.service.expect(.held(names[4]), .held(names[5])))
      // The end of the stream alone would leave the calls: the client could still read answers.
      client.reset()
      #expect(await test.service.expect(.cancelled(names[4]), .cancelled(names[5])))
      test.service.forgetAnswers()
      _ = try await Self.reached(test) { $0.memoryInUse == 0 }
    }
  }

  @Test("Clients that do not read are closed when others lack memory")
  func unreadAnswers() async throws {
    try await TestServer.run(Self.limits) { test in
      let clients = try (0..<30).map { _ in try RawClient(test.tcp, receiveBuffer: 4_096) }
      for client in clients {
        for call in 0..<4 {
          // Fails when the server has closed the connection.
          try? client.send(Frames.request(UInt32(2 * call + 1), "Large", "4000000"))
        }
        #expect(try test.answers(at: test.tcp))
        #expect(test.server.statistics.memoryInUse <= Self.limits.memory)
      }
      let statistics = try await Self.reached(test) { $0.connectionsClosedForMemory > 0 }
      #expect(statistics.memoryRefusals > 0)
    }
  }

  @Test("What a client reads is free again")
  func read() async throws {
    try await TestServer.run(Self.limits) { test in
      let client = try RawClient(test.tcp)
      for call in 0..<64 {
        try client.send(Frames.request(UInt32(2 * call + 1), "Large", "\(Self.megabyte)"))
        #expect(try client.receiveText().hasPrefix("\(2 * call + 1) OK"))
      }
      #expect(test.server.statistics.memoryRefusals == 0)
      _ = try await Self.reached(test) { $0.memoryInUse == 0 }
    }
  }

  @Test("The longest request is accepted with the smallest budget that a server may have")
  func longest() async throws {
    let limits = RPCLimits(
      shutdownTime: .milliseconds(100), lingerTime: .milliseconds(100), memory: 48 * Self.megabyte)
    try await TestServer.run(limits) { test in
      let client = try RawClient(test.tcp)
      let text = String(repeating: "x", count: RPCLimits.maximumFrameData - 200)
      for id: UInt32 in [1, 3, 5] {
        try client.send(Frames.request(id, "Echo", text))
        #expect(try client.receiveText() == "\(id) OK \(text)")
      }
      #expect(test.server.statistics.memoryRefusals == 0)
    }
  }
}
