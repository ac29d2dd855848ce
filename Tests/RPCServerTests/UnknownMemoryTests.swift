import AccessControl
import Cryptography
import EntitlementDomain
import Framing
import NIOCore
import Synchronization
import TestSupport
import Testing
import Wire

@testable import RPCServer

@Suite("Memory of connections that no known caller has used", .timeLimit(.minutes(2)))
struct UnknownMemoryTests {
  private static let limits = RPCLimits(
    shutdownTime: .milliseconds(100), lingerTime: .milliseconds(100), memory: 2 << 20)

  private let token = AccessToken()

  private func credentials() throws -> CredentialsHolder {
    let contents = try CredentialsFile.parse(
      """
      version: 1
      callers:
        - name: backend
          roles: [reader]
          tokens: [{id: \(token.id), sha256: "\(try token.digest.hexadecimal)", expires: never}]
      """, user: { _ in nil })
    return CredentialsHolder(contents, digest: "d") { 1_800_000_000_000 }
  }

  @Test("When it is used up, those are closed whose requests have been incomplete for longest")
  func oldest() {
    let memory = UnknownMemory(capacity: 100)
    let closed = Mutex<[UInt64]>([])
    func set(_ bytes: Int, _ connection: UInt64) {
      memory.set(bytes, of: connection) { closed.withLock { $0.append(connection) } }
    }
    for connection: UInt64 in [7, 3, 9] { set(30, connection) }
    // A request that grows keeps its place.
    set(40, 3)
    #expect(memory.bytesInUse == 100)
    #expect(closed.withLock { $0 }.isEmpty)
    set(10, 1)
    #expect(closed.withLock { $0 } == [7])
    set(90, 2)
    #expect(closed.withLock { $0 } == [7, 3, 9])
    #expect(memory.bytesInUse == 100)
    memory.remove(1)
    memory.remove(1)
    #expect(memory.bytesInUse == 90)
    // What had nothing begins again.
    set(0, 2)
    set(20, 4)
    set(60, 2)
    set(30, 5)
    #expect(closed.withLock { $0 } == [7, 3, 9, 4])
    #expect(memory.bytesInUse == 90)
  }

  @Test("Requests of strangers that never end take nothing of what known callers need")
  func strangers() async throws {
    try await TestServer.run(Self.limits, credentials: try credentials()) { test in
      let metadata = [(key: "authorization", value: "Bearer \(token.text)")]
      let text = String(repeating: "y", count: 100_000)
      let known = try RawClient(test.tcp)
      try known.send(Frames.request(1, "Echo", "a", metadata: metadata))
      #expect(try known.receiveText() == "1 OK a")
      let frame = Frames.request(1, "Echo", String(repeating: "x", count: 65_536))
      let part = try #require(frame.getSlice(at: 0, length: frame.readableBytes - 50))
      // Together more than all the memory.
      let strangers = try (0..<40).map { _ in try RawClient(test.tcp) }
      for (index, stranger) in strangers.enumerated() {
        // Fails when the server has closed the connection.
        try? stranger.send(part)
        try known.send(Frames.request(UInt32(2 * index + 3), "Echo", text, metadata: metadata))
        #expect(try known.receiveText() == "\(2 * index + 3) OK \(text)")
        // The first call on a connection, as long as any: its caller is not known before its end.
        let fresh = try RawClient(test.tcp)
        try fresh.send(Frames.request(1, "Echo", text, metadata: metadata))
        #expect(try fresh.receiveText() == "1 OK \(text)")
      }
      let statistics = test.server.statistics
      #expect(statistics.unknownMemoryLimit == Self.limits.memory / RPCLimits.unknownMemoryPart)
      #expect(statistics.unknownMemoryInUse <= statistics.unknownMemoryLimit)
      #expect(statistics.connectionsClosedForMemory > 0)
      #expect(statistics.memoryRefusals == 0)
      #expect(statistics.droppedRequests == 0)
      for stranger in strangers { stranger.reset() }
      try await eventually { test.server.statistics.unknownMemoryInUse == 0 }
    }
  }

  @Test("What a connection holds counts among those of known callers from its first call on")
  func becomesKnown() throws {
    let connection = try EmbeddedConnection(Self.limits, credentials: try credentials())
    let metadata = [(key: "authorization", value: "Bearer \(token.text)")]
    let long = String(repeating: "x", count: 200_000)
    let first = Frames.request(1, "Hold", long, metadata: metadata)
    try connection.receive(try #require(first.getSlice(at: 0, length: 150_000)))
    #expect(connection.statistics.memoryInUse == 0)
    #expect(connection.statistics.unknownMemoryInUse > 100_000)
    let rest = first.readableBytes - 150_000
    try connection.receive(try #require(first.getSlice(at: 150_000, length: rest)))
    #expect(connection.statistics.unknownMemoryInUse == 0)
    #expect(connection.statistics.memoryInUse >= 4 * long.utf8.count)
    connection.close()
    connection.service.forgetAnswers()
    #expect(connection.statistics.memoryInUse == 0)
  }
}
