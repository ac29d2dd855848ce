import NIOSSL

/// One of the compared servers. All answer the same requests.
struct ReadContender {
  let name: String
  let port: UInt16
  /// Nil without TLS.
  var tls: NIOSSLContext?
  let requests: FrameRequests
  /// The first byte of the data of each answer.
  let firstByte: UInt8
  /// In microseconds.
  let processorTime: () -> Double

  /// The first byte of a successful answer: ttrpc's `Response` then has no status, and starts with
  /// its second field, the payload (`PROTOCOL.md` of ttrpc).
  static let payloadField: UInt8 = 2 << 3 | 2

  init(_ echo: EchoServer, _ requests: FrameRequests) {
    name = echo.name
    port = echo.port
    self.requests = requests
    firstByte = EchoServer.firstByte
    processorTime = { echo.processorTime }
  }

  init(_ server: ReadServer, _ requests: FrameRequests) {
    name = "entitled, \(requests.name)"
    port = server.port
    self.requests = requests
    firstByte = Self.payloadField
    processorTime = { server.process.processorTime }
  }

  /// A server with TLS.
  init(encrypted server: ReadServer, _ requests: FrameRequests) throws {
    name = "entitled with TLS, \(requests.name)"
    port = server.encryptedPort
    tls = try FrameTLS.makeContext()
    self.requests = requests
    firstByte = Self.payloadField
    processorTime = { server.process.processorTime }
  }

  struct Round {
    var result: FrameLoad.Result
    /// Processor time of the server per answer, in microseconds.
    var processorTime: Double
    var rate: Double { Double(result.answers) / result.seconds }
  }

  /// Not measured: connections are made, and processor caches are filled.
  private static let warmUp = Duration.milliseconds(200)

  /// - Parameter processor: the processor of the client.
  func measure(
    connections: Int, inFlight: Int, readLength: Int = FrameConnection.inputLength,
    for duration: Duration, on processor: Int
  ) throws -> Round {
    try ProcessorAffinity.with(processor) {
      let load = try FrameLoad(
        port: port, tls: tls, requests: requests, firstByte: firstByte, connections: connections,
        inFlight: inFlight, readLength: readLength)
      _ = try load.run(for: Self.warmUp)
      let before = processorTime()
      let result = try load.run(for: duration)
      return Round(
        result: result, processorTime: (processorTime() - before) / Double(result.answers))
    }
  }
}
