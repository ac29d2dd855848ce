import AccessControl
import Cryptography
import Dispatch
import EntitlementDomain
import Framing
import NIOCore
import NIOPosix
import RPCServer
import Synchronization
import TestSupport
import Testing
import Wire

@Suite("Requests that are converted when they are admitted", .timeLimit(.minutes(2)))
struct RequestConversionTests {
  private static let long = String(repeating: "x", count: RPCLimits.convertedInPlace + 1)

  /// Announces the payload of each request as a message to convert.
  private final class Front: ConnectionFront {
    let kind = CallFront.connect
    let group: (any EventLoopGroup)?
    let convert: RequestConversion.Convert

    init(_ group: any EventLoopGroup, _ convert: @escaping RequestConversion.Convert) {
      self.group = group
      self.convert = convert
    }

    func addHandlers(
      to pipeline: ChannelPipeline.SynchronousOperations, peer: RPCPeer
    ) throws {
      try pipeline.addHandler(Handler(convert))
    }

    private final class Handler: ChannelInboundHandler {
      typealias InboundIn = ByteBuffer
      typealias InboundOut = ByteBuffer

      private let convert: RequestConversion.Convert
      private var decoder = FrameDecoder()

      init(_ convert: @escaping RequestConversion.Convert) {
        self.convert = convert
      }

      func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        decoder.append(unwrapInboundIn(data))
        while case .frame(let frame)? = decoder.next() {
          guard let request = try? RequestEnvelope(decoding: frame.data) else { continue }
          context.fireUserInboundEventTriggered(
            RequestConversion(request.payload, convert: convert))
          context.fireChannelRead(
            wrapInboundOut(
              Frames.request(
                frame.header.streamID.rawValue, request.method, flags: frame.header.flags,
                timeout: request.timeoutNanoseconds, metadata: request.metadata.pairs)))
        }
        decoder.compact()
      }
    }
  }

  /// A server on one event loop, behind the front.
  private struct Bench: Sendable {
    let server: RPCServer
    let service: TestService
    let address: ServerAddress

    static func run(
      credentials: CredentialsHolder? = nil, _ convert: @escaping RequestConversion.Convert,
      _ body: (Bench) async throws -> Void
    ) async throws {
      let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
      let service = TestService()
      let server = RPCServer(
        router: service.router,
        limits: RPCLimits(shutdownTime: .milliseconds(100), lingerTime: .milliseconds(100)),
        credentials: credentials, group: group, logger: TestServer.quietLogger)
      let addresses = try await server.start([
        RPCListener(.tcp(host: "127.0.0.1", port: 0), front: Front(group, convert))
      ])
      let result: Result<Void, any Error>
      do {
        result = .success(
          try await body(Bench(server: server, service: service, address: addresses[0])))
      } catch {
        result = .failure(error)
      }
      await server.shutDown()
      try await group.shutdownGracefully()
      try result.get()
    }
  }

  /// Whether each message was converted on an event loop.
  private final class Places: Sendable {
    private let places = Mutex<[Bool]>([])

    var all: [Bool] { places.withLock { $0 } }

    func note() {
      places.withLock { $0.append(MultiThreadedEventLoopGroup.currentEventLoop != nil) }
    }
  }

  @Test("A short one is converted on the event loop, and a long one elsewhere")
  func places() async throws {
    let places = Places()
    try await Bench.run { message in
      places.note()
      return .success(ByteBuffer(string: "converted \(message.readableBytes)"))
    } _: { bench in
      let client = try RawClient(bench.address)
      let short = String(Self.long.dropLast())
      try client.send(Frames.request(1, "Echo", short))
      #expect(try client.receiveText() == "1 OK converted \(short.utf8.count)")
      try client.send(Frames.request(3, "Echo", Self.long))
      #expect(try client.receiveText() == "3 OK converted \(Self.long.utf8.count)")
      try client.send(Frames.request(5, "Immediate", ""))
      #expect(try client.receiveText() == "5 OK converted 0")
      #expect(places.all == [true, false, true])
      #expect(bench.server.statistics.conversions == 3)
    }
  }

  @Test("While a long one is converted, its event loop serves others")
  func others() async throws {
    let gate = DispatchSemaphore(value: 0)
    try await Bench.run { message in
      if message.readableBytes > RPCLimits.convertedInPlace { gate.wait() }
      return .success(message)
    } _: { bench in
      let slow = try RawClient(bench.address)
      try slow.send(Frames.request(1, "Echo", Self.long))
      // Begun, and so waiting at the gate; nothing else could be converted if it held the loop.
      try await eventually { bench.server.statistics.conversions == 1 }
      for id: UInt32 in [1, 3, 5] {
        let other = try RawClient(bench.address)
        try other.send(Frames.request(id, "Echo", "short"))
        #expect(try other.receiveText() == "\(id) OK short")
      }
      // Its call ends in time, and what comes later is dropped.
      let late = try RawClient(bench.address)
      try late.send(Frames.request(1, "Echo", Self.long, timeout: 1_000_000))
      #expect(try late.receiveText() == "1 DEADLINE_EXCEEDED")
      gate.signal()
      gate.signal()
      #expect(try slow.receiveText() == "1 OK \(Self.long)")
      try late.send(Frames.request(3, "Echo", "short"))
      #expect(try late.receiveText() == "3 OK short")
      try await eventually { bench.server.statistics.memoryInUse == 0 }
    }
  }

  @Test("A message that cannot be converted fails its call alone")
  func invalid() async throws {
    try await Bench.run { message in
      String(buffer: message).contains("bad")
        ? .failure(RPCStatus(.invalidArgument, "bad")) : .success(message)
    } _: { bench in
      let client = try RawClient(bench.address)
      for (index, text) in ["bad", Self.long + "bad"].enumerated() {
        let id = UInt32(4 * index + 1)
        try client.send(Frames.request(id, "Echo", text))
        #expect(try client.receiveText() == "\(id) INVALID_ARGUMENT")
        try client.send(Frames.request(id + 2, "Echo", "good"))
        #expect(try client.receiveText() == "\(id + 2) OK good")
      }
    }
  }

  @Test("Only what a known caller may call now is converted")
  func refused() async throws {
    let token = AccessToken()
    let contents = try CredentialsFile.parse(
      """
      version: 1
      callers:
        - name: backend
          roles: [reader]
          tokens: [{id: \(token.id), sha256: "\(try token.digest.hexadecimal)", expires: never}]
          limits: {in_flight: 1}
      """, user: { _ in nil })
    let credentials = CredentialsHolder(contents, digest: "d") { 1_800_000_000_000 }
    let metadata = [(key: "authorization", value: "Bearer \(token.text)")]
    try await Bench.run(credentials: credentials) {
      .success($0)
    } _: { bench in
      let stranger = try RawClient(bench.address)
      try stranger.send(Frames.request(1, "Echo", Self.long))
      try stranger.send(Frames.request(3, "Open", Self.long))
      #expect(try stranger.receiveText() == "1 UNAUTHENTICATED")
      #expect(try stranger.receiveText() == "3 INVALID_ARGUMENT")
      let client = try RawClient(bench.address)
      try client.send(Frames.request(1, "Hold", "held", metadata: metadata))
      #expect(await bench.service.expect(.held("held")))
      #expect(bench.server.statistics.conversions == 1)
      try client.send(Frames.request(3, "Echo", Self.long, metadata: metadata))
      #expect(try client.receiveText() == "3 RESOURCE_EXHAUSTED")
      #expect(bench.server.statistics.conversions == 1)
    }
  }
}
