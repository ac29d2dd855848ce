import Cryptography
import Foundation
import Framing
import NIOCore
import RPCClient
import RPCServer
import TLSSupport
import TestSupport
import Testing
import Wire

@Suite("TLS", .timeLimit(.minutes(2)))
struct TLSTests {
  @Test("A client that trusts the authority of the server calls it, by name and by address")
  func trusted() async throws {
    try await TLSServer.run { test in
      let settings = ClientTLS(authorityFile: test.authority.file)
      let byAddress = try await test.echo(test.encrypted, settings)
      #expect(byAddress == "hello")
      guard case .tls(_, let port) = test.encrypted else { return }
      let byName = try await test.echo(.tls(host: "localhost", port: port), settings)
      #expect(byName == "hello")
      #expect(test.server.statistics.handshakesFinished == 2)
    }
  }

  @Test("Answers of every size and streams arrive whole")
  func sizes() async throws {
    try await TLSServer.run { test in
      let settings = ClientTLS(authorityFile: test.authority.file)
      for length in [0, 1, 16_383, 16_384, 16_385, 65_536, 4_000_000] {
        let answer = try await test.echo(
          test.encrypted, settings, method: "Large", payload: "\(length)")
        #expect(answer.utf8.count == length)
      }
      let connection = try await RPCConnection.connect(
        to: RPCTarget(test.encrypted, tls: settings))
      var count = 0
      for try await _ in connection.serverStream(
        service: "test.Service", method: "Count", payload: ByteBuffer(string: "1000"))
      {
        count += 1
      }
      #expect(count == 1_000)
      await connection.close()
    }
  }

  @Test("The names of a client's certificate reach its calls, and no common name does")
  func names() async throws {
    try await TLSServer.run { test in
      let pair = try test.authority.issue(
        "client", dns: ["api.example.com"], uris: ["spiffe://example.com/api"])
      let settings = ClientTLS(
        authorityFile: test.authority.file, certificateFile: pair.certificate, keyFile: pair.key)
      let names = "DNS:api.example.com URI:spiffe://example.com/api"
      for address in [test.encrypted, test.mutual] {
        #expect(try await test.echo(address, settings, method: "Peer") == names)
      }
      // A certificate is optional there.
      let without = ClientTLS(authorityFile: test.authority.file)
      #expect(try await test.echo(test.encrypted, without, method: "Peer") == "")
    }
  }

  @Test("The user of a client on a Unix socket reaches its calls")
  func user() async throws {
    try await TestServer.run { test in
      let client = try RawClient(test.unix)
      try client.send(Frames.request(1, "Peer"))
      #expect(try client.receiveText() == "1 OK user \(getuid())")
      let other = try RawClient(test.tcp)
      try other.send(Frames.request(1, "Peer"))
      #expect(try other.receiveText() == "1 OK ")
    }
  }

  /// A client that must not get in, with what it and the server's operator are told.
  struct Stranger: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let address: any KeyPath<TLSServer, ServerAddress> & Sendable
    var serverDays: Int64 = 30
    let settings: @Sendable (TLSServer) throws -> ClientTLS
    let told: String
    /// Nil: the server sees a finished handshake and a client that leaves.
    let logged: String?
  }

  static let strangers = [
    Stranger(
      testDescription: "wrong authority", address: \.encrypted,
      settings: { ClientTLS(authorityFile: $0.stranger.file) },
      told: "not signed by a trusted authority", logged: "does not know the authority"),
    Stranger(
      testDescription: "wrong name", address: \.encrypted,
      settings: { ClientTLS(authorityFile: $0.authority.file, serverName: "entitle.example.com") },
      told: "for another name", logged: nil),
    Stranger(
      testDescription: "expired server", address: \.encrypted, serverDays: -2,
      settings: { ClientTLS(authorityFile: $0.authority.file) },
      told: "expired or not valid yet", logged: "server's certificate is expired"),
    Stranger(
      testDescription: "no certificate", address: \.mutual,
      settings: { ClientTLS(authorityFile: $0.authority.file, certificateFile: nil) },
      told: "requires a client certificate", logged: "has no certificate"),
    Stranger(
      testDescription: "certificate of another authority", address: \.mutual,
      settings: { try client($0, $0.stranger) },
      told: "does not trust the authority", logged: "not signed by an authority"),
    Stranger(
      testDescription: "optional certificate of another authority", address: \.encrypted,
      settings: { try client($0, $0.stranger) },
      told: "does not trust the authority", logged: "not signed by an authority"),
    Stranger(
      testDescription: "expired certificate", address: \.mutual,
      settings: { try client($0, $0.authority, days: -2) },
      told: "client certificate is expired", logged: "client's certificate is expired"),
    Stranger(
      testDescription: "TLS to a plain listener", address: \.plain,
      settings: { ClientTLS(authorityFile: $0.authority.file) },
      told: "does not speak TLS", logged: "the client speaks TLS"),
  ]

  private static func client(
    _ test: TLSServer, _ authority: TLSAuthority, days: Int64 = 30
  ) throws -> ClientTLS {
    let pair = try authority.issue("client", uris: ["spiffe://example.com/api"], days: days)
    return ClientTLS(
      authorityFile: test.authority.file, certificateFile: pair.certificate, keyFile: pair.key)
  }

  @Test("A refused client is told why, and so is the operator", arguments: strangers)
  func refused(_ stranger: Stranger) async throws {
    try await TLSServer.run(serverDays: stranger.serverDays) { test in
      var address = test[keyPath: stranger.address]
      // As a client writes it that does not know more.
      switch address {
      case .tcp(let host, let port), .mutualTLS(let host, let port):
        address = .tls(host: host, port: port)
      case .tls, .unix: break
      }
      let settings = try stranger.settings(test)
      let error = await #expect(throws: RPCClientError.self) {
        try await test.echo(address, settings)
      }
      #expect(error?.code == .unreachable)
      #expect(error?.message.contains(stranger.told) == true, "\(error?.message ?? "")")
      #expect(error?.wasSent == false)
      if let logged = stranger.logged { try await test.logged(logged) }
    }
  }

  @Test("A client without TLS is told that the server speaks TLS, and so is the operator")
  func plain() async throws {
    try await TLSServer.run { test in
      guard case .tls(let host, let port) = test.encrypted else { return }
      let error = await #expect(throws: RPCClientError.self) {
        try await test.echo(.tcp(host: host, port: port), ClientTLS())
      }
      #expect(error?.message.contains("the server speaks TLS") == true)
      try await test.logged("does not speak TLS")
    }
  }

  @Test("Silent clients are closed in time, and do not keep others out")
  func halfOpen() async throws {
    var limits = RPCLimits(shutdownTime: .milliseconds(100), lingerTime: .milliseconds(100))
    limits.handshakeTime = .seconds(10)
    try await TLSServer.run(limits) { test in
      guard case .tls(let host, let port) = test.encrypted else { return }
      let count = RPCLimits.unfinishedHandshakes + 100
      let silent = try (0..<count).map { _ in try RawClient(.tcp(host: host, port: port)) }
      try await eventually { test.server.statistics.connectionsAccepted >= count }
      #expect(test.server.statistics.handshakesOpen <= RPCLimits.unfinishedHandshakes)
      try await test.logged("handshakes are not finished")
      let settings = ClientTLS(authorityFile: test.authority.file)
      let start = ContinuousClock.now
      #expect(try await test.echo(test.encrypted, settings) == "hello")
      #expect(ContinuousClock.now - start < limits.handshakeTime)
      // The rest ends without a word of its own.
      try await eventually { test.server.statistics.connectionsOpen == 0 }
      try await test.logged("not finished in time")
      withExtendedLifetime(silent) {}
    }
  }

  @Test("A replaced certificate is for new connections; the others stay")
  func replaced() async throws {
    try await TLSServer.run { test in
      let settings = ClientTLS(authorityFile: test.authority.file)
      let old = try await RPCConnection.connect(to: RPCTarget(test.encrypted, tls: settings))
      let pair = try test.stranger.issue("next")
      try test.tls.replace(with: TLSServer.files(of: pair, clients: test.authority))
      let answer = try await old.call(
        service: "test.Service", method: "Echo", payload: ByteBuffer(string: "still here"))
      #expect(String(buffer: answer) == "still here")
      await old.close()
      await #expect(throws: RPCClientError.self) { try await test.echo(test.encrypted, settings) }
      // A client that reads its files again follows.
      try FileManager.default.removeItem(atPath: test.authority.file)
      try FileManager.default.copyItem(atPath: test.stranger.file, toPath: test.authority.file)
      #expect(try await test.echo(test.encrypted, settings) == "hello")
    }
  }

  @Test("Files that cannot be used leave the former ones in force, and are not quoted")
  func unusable() async throws {
    try await TLSServer.run { test in
      let other = try test.authority.issue("other")
      var files = try TLSServer.files(
        of: try test.authority.issue("third"), clients: test.authority)
      let usable = files
      files.key = try TLSServer.files(of: other, clients: nil).key
      let broken: [(ServerTLS.Files, String)] = [
        (files, "do not belong together"),
        (.init(certificate: [], key: usable.key, clientAuthorities: nil), "the certificate"),
        (.init(certificate: usable.certificate, key: [1, 2], clientAuthorities: nil), "the key"),
        (
          .init(
            certificate: usable.certificate, key: usable.key,
            clientAuthorities: Array("-----BEGIN CERTIFICATE-----\nAAAA\n".utf8)),
          "the authorities of clients"
        ),
      ]
      for (files, text) in broken {
        let fault = #expect(throws: ServerTLS.Fault.self) {
          try test.tls.replace(with: files)
        }
        #expect(fault?.description.contains(text) == true, "\(fault?.description ?? "")")
      }
      let settings = ClientTLS(authorityFile: test.authority.file)
      #expect(try await test.echo(test.encrypted, settings) == "hello")
    }
  }

  @Test("A client refuses files that it cannot use, and a key that others may read")
  func clientFiles() async throws {
    let folder = try TestSupport.TemporaryFolder()
    let authority = try TLSAuthority("authority", in: folder)
    let pair = try authority.issue("client")
    func message(_ settings: ClientTLS) -> String? {
      do throws(RPCClientError) {
        try settings.check()
        return nil
      } catch {
        return error.message
      }
    }
    #expect(message(ClientTLS(authorityFile: authority.file)) == nil)
    #expect(
      message(ClientTLS(authorityFile: folder.file("absent")))?.contains("not a PEM file") == true)
    #expect(message(ClientTLS(certificateFile: pair.certificate))?.contains("together") == true)
    let settings = ClientTLS(certificateFile: pair.certificate, keyFile: pair.key)
    #expect(message(settings) == nil)
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: pair.key)
    let readable = ClientTLS(certificateFile: pair.certificate, keyFile: pair.key)
    #expect(message(readable)?.contains("other users may read the key") == true)
  }

  @Test("A server without a certificate does not listen with TLS")
  func withoutCertificate() async throws {
    let server = RPCServer(router: TestService().router, logger: TestServer.quietLogger)
    let error = await #expect(throws: RPCServerError.self) {
      try await server.start(on: [.tls(host: "127.0.0.1", port: 0)])
    }
    #expect(error?.code == .noCertificate)
  }

  @Test("A certificate is for a host by its alternative names alone")
  func hosts() throws {
    let folder = try TestSupport.TemporaryFolder()
    let pair = try TLSAuthority("authority", in: folder).issue(
      "common.example.com", dns: ["api.example.com", "*.wild.example.com"])
    let certificate = try Certificate.certificates(
      inFile: [UInt8](try Data(contentsOf: URL(filePath: pair.certificate))))[0]
    for host in ["api.example.com", "API.example.com", "a.wild.example.com", "127.0.0.1"] {
      #expect(certificate.isFor(host: host), "\(host)")
    }
    for host in ["common.example.com", "a.b.wild.example.com", "127.0.0.2", "", "example.com"] {
      #expect(!certificate.isFor(host: host), "\(host)")
    }
  }
}
