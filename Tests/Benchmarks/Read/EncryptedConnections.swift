import Glibc
import LoadClient
import NIOSSL

/// What connections with TLS cost the server: a handshake, and one that is idle after one call.
struct EncryptedConnections {
  let server: ReadServer
  let requests: FrameRequests
  /// The processor of the client.
  let processor: Int
  let rounds: Int
  let progress: Progress

  private static let handshakes = 500
  private static let idle = 10_000
  private static let otherFiles = 200

  func measure() async throws -> Report.Part {
    let context = try FrameTLS.makeContext()
    var time = Figure("handshake: server", unit: "µs")
    var rate = Figure("handshakes in a second of processor time", unit: "a second")
    var share = Figure("of that, an ECDSA signature by openssl", unit: "µs")
    progress.start("handshakes, rounds", of: rounds)
    for _ in 1...rounds {
      let before = server.process.processorTime
      try ProcessorAffinity.with(processor) {
        for _ in 0..<Self.handshakes { _ = try connection(context) }
      }
      let each = (server.process.processorTime - before) / Double(Self.handshakes)
      time.add(each)
      rate.add(1_000_000 / each)
      share.add(1_000_000 / (try OpenSSLSpeed.ecdsaP256.signaturesPerSecond(seconds: 1)))
      progress.advance(by: 1)
    }
    progress.end()
    return Report.Part(
      "TLS: a handshake with a certificate on P-256, and \(Self.idle) idle connections",
      [time, rate, share, try idle(context)])
  }

  /// The server's own memory for each connection.
  private func idle(_ context: NIOSSLContext) throws -> Figure {
    try OpenFiles.allow(Self.idle + Self.otherFiles)
    let before = server.process.ownMemory
    progress.start("idle connections", of: Self.idle)
    var open: [FrameConnection] = []
    for _ in 0..<Self.idle {
      open.append(try connection(context, keepsTLS: false))
      progress.advance(by: 1)
    }
    progress.end()
    var memory = Figure("idle connection: the server's own memory", unit: "kB", target: .atMost(40))
    memory.add(Double(server.process.ownMemory - before) / Double(Self.idle) / 1_000)
    withExtendedLifetime(open) {}
    return memory
  }

  /// A connection after one call.
  ///
  /// - Parameter keepsTLS: Whether further calls can be made. The client's side takes memory.
  private func connection(
    _ context: NIOSSLContext, keepsTLS: Bool = true
  ) throws -> FrameConnection {
    let connection = try FrameConnection(
      port: server.encryptedPort, tls: context, requests: requests, first: 0,
      firstByte: ReadContender.payloadField, inFlight: 1, readLength: FrameConnection.inputLength)
    try connection.send(1)
    while connection.inFlight > 0 { _ = try connection.receive() }
    if !keepsTLS { connection.dropBuffers() }
    return connection
  }
}
