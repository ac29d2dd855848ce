import Cryptography
import Foundation
import Framing
import NIOCore
import NIOPosix
import RPCClient
import RPCServer
import TLSSupport
import TestSupport
import Testing
import Wire

/// A server with a listener of each kind, for one test, and the certificates of its clients.
struct TLSServer: Sendable {
  let server: RPCServer
  let service: TestService
  let tls: ServerTLS
  let log: LogRecorder
  let folder: TestSupport.TemporaryFolder
  let authority: TLSAuthority
  let stranger: TLSAuthority
  let encrypted: ServerAddress
  let mutual: ServerAddress
  let plain: ServerAddress

  static func run(
    _ limits: RPCLimits = RPCLimits(
      shutdownTime: .milliseconds(100), lingerTime: .milliseconds(100)),
    serverDays: Int64 = 30, _ body: (TLSServer) async throws -> Void
  ) async throws {
    let folder = try TestSupport.TemporaryFolder()
    let authority = try TLSAuthority("authority", in: folder)
    let pair = try authority.issue("server", dns: ["localhost"], days: serverDays)
    let tls = try ServerTLS(files(of: pair, clients: authority))
    let log = LogRecorder()
    let service = TestService()
    let server = RPCServer(
      router: service.router, limits: limits, tls: tls,
      group: MultiThreadedEventLoopGroup.singleton, logger: log.logger)
    let addresses = try await server.start(on: [
      .tls(host: "127.0.0.1", port: 0), .mutualTLS(host: "127.0.0.1", port: 0),
      .tcp(host: "127.0.0.1", port: 0),
    ])
    let test = TLSServer(
      server: server, service: service, tls: tls, log: log, folder: folder, authority: authority,
      stranger: try TLSAuthority("stranger", in: folder), encrypted: addresses[0],
      mutual: addresses[1], plain: addresses[2])
    do {
      try await body(test)
    } catch {
      await server.shutDown()
      throw error
    }
    await server.shutDown()
    #expect(server.statistics.connectionsOpen == 0)
    #expect(server.statistics.handshakesOpen == 0)
  }

  static func files(
    of pair: TLSAuthority.Pair, clients: TLSAuthority?
  ) throws -> ServerTLS.Files {
    ServerTLS.Files(
      certificate: try bytes(pair.certificate), key: try bytes(pair.key),
      clientAuthorities: try clients.map { try bytes($0.file) })
  }

  private static func bytes(_ path: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(filePath: path)))
  }

  /// One call on a connection of its own.
  func echo(
    _ address: ServerAddress, _ settings: ClientTLS, method: String = "Echo",
    payload: String = "hello"
  ) async throws -> String {
    let connection = try await RPCConnection.connect(to: RPCTarget(address, tls: settings))
    do {
      let answer = try await connection.call(
        service: "test.Service", method: method, payload: ByteBuffer(string: payload))
      await connection.close()
      return String(buffer: answer)
    } catch {
      await connection.close()
      throw error
    }
  }

  /// Waits for a logged reason of a failed connection that contains this text.
  func logged(_ reason: String) async throws {
    try await eventually("no line of the log with \(reason): \(log.lines.map(\.metadata))") {
      log.lines.contains { $0.metadata["reason"]?.contains(reason) ?? false }
    }
  }
}
