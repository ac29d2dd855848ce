import Foundation
import Framing
import NIOCore
import RPCClient
import RPCServer
import Synchronization
import TestSupport
import Testing
import Wire

@Suite("The token of a client", .timeLimit(.minutes(2)))
struct ClientTokenTests {
  private let folder: TestSupport.TemporaryFolder
  private let clock = Clock()

  init() throws {
    folder = try TestSupport.TemporaryFolder()
  }

  private final class Clock: Sendable {
    private let moment = Mutex(NIODeadline.uptimeNanoseconds(1_000_000_000))

    var now: NIODeadline { moment.withLock(\.self) }

    func advance(by time: TimeAmount) {
      moment.withLock { $0 = $0 + time }
    }
  }

  private var path: String { folder.file("token") }

  /// Replaces the file like a program that renews tokens.
  private func write(_ text: String, mode: Int = 0o600) throws {
    let new = try folder.write(text, to: "new")
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: new)
    guard rename(new, path) == 0 else { throw CocoaError(.fileWriteUnknown) }
  }

  private func token() -> ClientToken {
    ClientToken(file: path) { [clock] in clock.now }
  }

  private func value(_ token: ClientToken) throws -> String? {
    let metadata = try token.metadata()
    #expect(metadata.map(\.key) == ["authorization"])
    return metadata.first?.value
  }

  @Test("White space around a token does not count, and a text that is no token is refused")
  func values() throws {
    #expect(try value(ClientToken(" entl_1 \r\n")) == "Bearer entl_1")
    for text in ["", " \n", "a b", "a\u{0}b", "é", String(repeating: "a", count: 4_097)] {
      let error = #expect(throws: RPCClientError.self) { try ClientToken(text) }
      #expect(error?.code == .status(.unauthenticated))
    }
  }

  @Test("A file is read again when it has changed, looked at once a second")
  func renewal() throws {
    try write("first\n")
    let token = token()
    #expect(try value(token) == "Bearer first")
    try write("second\n")
    clock.advance(by: .milliseconds(999))
    #expect(try value(token) == "Bearer first")
    clock.advance(by: .milliseconds(1))
    #expect(try value(token) == "Bearer second")
  }

  @Test("After a refusal the file is read at the next call, ten times a second at most")
  func refusal() throws {
    try write("first")
    let token = token()
    #expect(try value(token) == "Bearer first")
    try write("second")
    token.refused()
    clock.advance(by: .milliseconds(99))
    #expect(try value(token) == "Bearer first")
    clock.advance(by: .milliseconds(1))
    #expect(try value(token) == "Bearer second")
  }

  @Test("A file that cannot be used any more leaves the token that was read before")
  func loss() throws {
    try write("first")
    let token = token()
    try token.check()
    try write("second", mode: 0o644)
    clock.advance(by: .seconds(1))
    #expect(try value(token) == "Bearer first")
    try FileManager.default.removeItem(atPath: path)
    clock.advance(by: .seconds(1))
    #expect(try value(token) == "Bearer first")
    try write("third")
    clock.advance(by: .seconds(1))
    #expect(try value(token) == "Bearer third")
  }

  @Test(
    "A file that others may read is refused, and so is one without a token, without its text",
    arguments: [
      ("secret", 0o640, "other users may read the token (chmod 600)"),
      ("secret", 0o604, "other users may read the token (chmod 600)"),
      ("two secrets", 0o600, "no token"), ("", 0o600, "no token"),
      (String(repeating: "s", count: 5_000), 0o600, "no token, as it has more than 4096 bytes"),
    ])
  func faults(text: String, mode: Int, reason: String) throws {
    try write(text, mode: mode)
    let token = token()
    let error = #expect(throws: RPCClientError.self) { try token.check() }
    #expect(error?.message == "\(path): \(reason)")
    #expect(error?.wasSent == false)
  }

  @Test("A missing file is an error, until it is there")
  func missing() throws {
    let token = token()
    let error = #expect(throws: RPCClientError.self) { try token.check() }
    #expect(error?.message == "\(path): the token cannot be read")
    try write("late")
    #expect(try value(token) == "Bearer late")
  }

  @Test("A pipe is read once")
  func pipe() throws {
    let pipe = Pipe()
    try pipe.fileHandleForWriting.write(contentsOf: Data("piped\n".utf8))
    try pipe.fileHandleForWriting.close()
    let token = ClientToken(file: "/dev/fd/\(pipe.fileHandleForReading.fileDescriptor)") {
      [clock] in clock.now
    }
    #expect(try value(token) == "Bearer piped")
    token.refused()
    clock.advance(by: .seconds(5))
    #expect(try value(token) == "Bearer piped")
  }

  /// Refuses calls without the expected token.
  private func router(_ expected: String, _ method: String) -> RPCRouter {
    var router = RPCRouter()
    router.unary("test.Service", method, permission: .read) { call, answer in
      guard call.metadata["authorization"].first == "Bearer \(expected)" else {
        return answer.fail(RPCStatus(.unauthenticated, "refused"))
      }
      answer.succeed(call.payload)
    }
    return router
  }

  @Test("A connection sends the token with each call, and the renewed one after a refusal")
  func connection() async throws {
    try write("first")
    let token = token()
    let (server, address) = try await ScriptedServer.start(router("second", "Echo"))
    let connection = try await RPCConnection.connect(to: RPCTarget(address, token: token))
    func call() async throws -> String {
      String(
        buffer: try await connection.call(
          service: "test.Service", method: "Echo", payload: ByteBuffer(string: "hello")))
    }
    let error = await #expect(throws: RPCClientError.self) { try await call() }
    #expect(error?.code == .status(.unauthenticated))
    try write("second")
    // Less than a second: without the refusal the file would not be looked at.
    clock.advance(by: .milliseconds(100))
    #expect(try await call() == "hello")
    await connection.close()
    await server.shutDown()
  }

  @Test("A call without a readable token fails before it is sent")
  func unread() async throws {
    let (server, address) = try await ScriptedServer.start(router("x", "Echo"))
    let connection = try await RPCConnection.connect(to: RPCTarget(address, token: token()))
    let error = await #expect(throws: RPCClientError.self) {
      try await connection.call(service: "test.Service", method: "Echo", payload: ByteBuffer())
    }
    #expect(error?.wasSent == false)
    #expect(error?.message.contains("cannot be read") == true)
    await connection.close()
    await server.shutDown()
  }
}
