import AccessControl
import Foundation
import Framing
import Logging
import NIOCore
import NIOPosix
import RPCServer
import Synchronization
import Testing
import Wire

/// A real server on a free port and on a Unix socket, for one test.
struct TestServer: Sendable {
  let server: RPCServer
  let service: TestService
  let tcp: ServerAddress
  let unix: ServerAddress

  /// Both kinds of address, for tests that apply to both.
  static let transports: [any KeyPath<TestServer, ServerAddress> & Sendable] = [\.tcp, \.unix]

  /// Runs `body` with a started server, and shuts it down afterwards.
  static func run(
    _ limits: RPCLimits = RPCLimits(
      shutdownTime: .milliseconds(100), lingerTime: .milliseconds(100)),
    group: any EventLoopGroup = MultiThreadedEventLoopGroup.singleton,
    credentials: CredentialsHolder? = nil,
    _ body: (TestServer) async throws -> Void
  ) async throws {
    let folder = try TemporaryFolder()
    let service = TestService()
    let server = RPCServer(
      router: service.router, limits: limits, credentials: credentials, group: group,
      logger: quietLogger)
    let addresses = try await server.start(on: [
      .tcp(host: "127.0.0.1", port: 0), .unix(path: folder.path("rpc.sock")),
    ])
    let test = TestServer(
      server: server, service: service, tcp: addresses[0], unix: addresses[1])
    do {
      try await body(test)
    } catch {
      await server.shutDown()
      throw error
    }
    await server.shutDown()
    #expect(server.statistics.connectionsOpen == 0)
  }

  /// Whether a new connection gets an answer.
  func answers(at address: ServerAddress) throws -> Bool {
    let client = try RawClient(address)
    try client.send(Frames.request(1, "Echo", "alive"))
    return try client.receiveText() == "1 OK alive"
  }

  /// Returns when the event loop of the stream's connection has run all earlier tasks.
  func settle(_ stream: RPCServerStream) async {
    await withCheckedContinuation { continuation in
      stream.peer.eventLoop.execute { continuation.resume() }
    }
  }

  static let quietLogger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}

/// A directory that is removed with its content when it is no longer used. Its path is short enough
/// for Unix sockets.
final class TemporaryFolder: Sendable {
  private let folder: String

  init() throws {
    var template = Array("/tmp/entitle-test-XXXXXX".utf8CString)
    guard let name = mkdtemp(&template) else {
      throw RawClient.Failure(what: "mkdtemp", errno: errno)
    }
    folder = String(cString: name)
  }

  deinit {
    try? FileManager.default.removeItem(atPath: folder)
  }

  func path(_ name: String) -> String {
    "\(folder)/\(name)"
  }
}
