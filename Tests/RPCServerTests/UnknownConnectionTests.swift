import AccessControl
import Cryptography
import EntitlementDomain
import Framing
import NIOCore
import Synchronization
import Testing
import Wire

@testable import RPCServer

@Suite("Connections that no known caller has used", .timeLimit(.minutes(1)))
struct UnknownConnectionTests {
  private static let limits = RPCLimits(
    connections: 4, shutdownTime: .milliseconds(100), lingerTime: .milliseconds(100))
  private static let start: Milliseconds = 1_800_000_000_000

  private let token = AccessToken()
  private let clock = Clock()

  private final class Clock: Sendable {
    let now = Mutex(UnknownConnectionTests.start)
  }

  private var metadata: [(key: String, value: String)] {
    [(key: "authorization", value: "Bearer \(token.text)")]
  }

  private func credentials() throws -> CredentialsHolder {
    let contents = try CredentialsFile.parse(
      """
      version: 1
      callers:
        - name: backend
          roles: [reader]
          tokens: [{id: \(token.id), sha256: "\(try token.digest.hexadecimal)", expires: never}]
          certificates: ["spiffe://example.com/backend"]
      """, user: { _ in nil })
    return CredentialsHolder(contents, digest: "d") { [clock] in clock.now.withLock { $0 } }
  }

  @Test("It is closed after 30 s, and a stream that needs no credential with it")
  func time() throws {
    let silent = try EmbeddedConnection(Self.limits, credentials: try credentials())
    let watching = try EmbeddedConnection(Self.limits, credentials: try credentials())
    let known = try EmbeddedConnection(Self.limits, credentials: try credentials())
    try watching.receive(Frames.request(1, "OpenStream", flags: .remoteClosed))
    try known.receive(Frames.request(1, "Echo", "a", metadata: metadata))
    #expect(try watching.sent() == ["1 data open"])
    #expect(try known.sent() == ["1 OK a"])
    for connection in [silent, watching, known] {
      connection.advance(by: .seconds(29))
      #expect(connection.isOpen)
      connection.advance(by: .seconds(2))
      connection.advance(by: .seconds(2))
    }
    #expect(!silent.isOpen)
    #expect(try watching.sent() == ["1 UNAUTHENTICATED"])
    #expect(!watching.isOpen)
    #expect(known.isOpen)
    known.close()
    // Without access control there is nothing to wait for.
    let local = try EmbeddedConnection(Self.limits)
    local.advance(by: .seconds(60))
    #expect(local.isOpen)
    local.close()
  }

  @Test("It may have four streams, and requests of 1 KiB, of methods that need no credential")
  func openMethods() throws {
    let connection = try EmbeddedConnection(Self.limits, credentials: try credentials())
    let name = String(repeating: "x", count: RPCLimits.openRequestLength)
    try connection.receive(Frames.request(1, "Open", name), Frames.request(3, "Open", name + "x"))
    #expect(try connection.sent() == ["1 OK \(name)", "3 INVALID_ARGUMENT"])
    for stream: UInt32 in [5, 7, 9, 11, 13] {
      try connection.receive(Frames.request(stream, "OpenStream", flags: .remoteClosed))
    }
    #expect(
      try connection.sent() == [5, 7, 9, 11].map { "\($0) data open" } + ["13 RESOURCE_EXHAUSTED"])
    // A known caller has neither limit.
    try connection.receive(
      Frames.request(15, "Echo", "a", metadata: metadata),
      Frames.request(17, "OpenStream", flags: .remoteClosed))
    #expect(try connection.sent() == ["15 OK a", "17 data open"])
    connection.close()
  }

  @Test("When all places are taken, the oldest one gives its place; known callers keep theirs")
  func eviction() async throws {
    try await TestServer.run(Self.limits, credentials: try credentials()) { test in
      func connect(_ metadata: [(key: String, value: String)]) throws -> RawClient {
        let client = try RawClient(test.tcp)
        let method = metadata.isEmpty ? "Open" : "Echo"
        try client.send(Frames.request(1, method, "a", metadata: metadata))
        #expect(try client.receiveText() == "1 OK a")
        return client
      }
      let known = try connect(metadata)
      let strangers = try (0..<3).map { _ in try connect([]) }
      let next = try connect(metadata)
      #expect(try strangers[0].receiveText() == "closed")
      let last = try connect(metadata)
      #expect(try strangers[1].receiveText() == "closed")
      for client in [known, next, last] {
        try client.send(Frames.request(3, "Echo", "b", metadata: metadata))
        #expect(try client.receiveText() == "3 OK b")
      }
      try strangers[2].send(Frames.request(3, "Open", "b"))
      #expect(try strangers[2].receiveText() == "3 OK b")
      let fourth = try connect(metadata)
      #expect(try strangers[2].receiveText() == "closed")
      // Only known callers are left: there is no place to give.
      let refused = try RawClient(test.tcp)
      #expect(try refused.receiveText() == "closed")
      try fourth.send(Frames.request(3, "Echo", "b", metadata: metadata))
      #expect(try fourth.receiveText() == "3 OK b")
    }
  }

  @Test("Beyond the server's rate of refused credentials, answers wait, each for its own token")
  func refusalRate() throws {
    var limits = Self.limits
    limits.refusalsPerSecond = 2
    let connection = try EmbeddedConnection(limits, credentials: try credentials())
    for stream: UInt32 in [1, 3] {
      try connection.receive(Frames.request(stream, "Echo"))
      #expect(try connection.sent() == ["\(stream) UNAUTHENTICATED"])
    }
    try connection.receive(Frames.request(5, "Echo"), Frames.request(7, "Echo"))
    #expect(connection.handler.isHoldingRefusals)
    connection.advance(by: .milliseconds(499))
    #expect(try connection.sent() == [])
    connection.advance(by: .milliseconds(1))
    #expect(try connection.sent() == ["5 UNAUTHENTICATED"])
    #expect(connection.handler.isHoldingRefusals)
    connection.advance(by: .milliseconds(500))
    #expect(try connection.sent() == ["7 UNAUTHENTICATED"])
    #expect(!connection.handler.isHoldingRefusals)
    // Once a known caller has used the connection, only the refused calls wait.
    try connection.receive(Frames.request(9, "Echo", "a", metadata: metadata))
    #expect(try connection.sent() == ["9 OK a"])
    try connection.receive(
      Frames.request(11, "Echo"), Frames.request(13, "Echo", "b", metadata: metadata))
    #expect(try connection.sent() == ["13 OK b"])
    #expect(!connection.handler.isHoldingRefusals)
    connection.advance(by: .milliseconds(500))
    #expect(try connection.sent() == ["11 UNAUTHENTICATED"])
    connection.close()
  }

  @Test("A certificate counts until it expires, on an open connection too")
  func certificate() throws {
    let certificate = ClientCertificate(
      names: [.uri("spiffe://example.com/backend")], expires: Self.start.advanced(by: 1_000))
    let connection = try EmbeddedConnection(
      Self.limits, credentials: try credentials(), certificate: certificate)
    try connection.receive(
      Frames.request(1, "Echo", "a"), Frames.request(3, "HoldStream", "s", flags: .remoteClosed))
    #expect(try connection.sent() == ["1 OK a"])
    clock.now.withLock { $0 = Self.start.advanced(by: 1_000) }
    connection.advance(by: .milliseconds(1_000))
    #expect(try connection.sent() == ["3 UNAUTHENTICATED"])
    try connection.receive(Frames.request(5, "Echo", "b"))
    #expect(try connection.sent() == ["5 UNAUTHENTICATED"])
    // A token is another proof.
    try connection.receive(Frames.request(7, "Echo", "c", metadata: metadata))
    #expect(try connection.sent() == ["7 OK c"])
    connection.close()
  }
}
