import CConformanceMessages
import Foundation
import Framing
import HTTPFront
import Logging
import NIOCore
import RPCServer
import UnixSignals
import Wire

/// A server for the conformance suite of Connect (https://github.com/connectrpc/conformance): reads a
/// `ServerCompatRequest` from stdin, serves on a loopback port, tells it on stdout, and ends by SIGINT, which
/// the suite sends, or SIGTERM. Both messages are behind their length in four bytes, big-endian.
@main
struct ConformanceServer {
  static func main() async {
    do {
      try await run()
    } catch {
      FileHandle.standardError.write(Data("connect-conformance: \(error)\n".utf8))
      exit(1)
    }
  }

  private struct Unsupported: Error, CustomStringConvertible {
    let description: String
  }

  private static func run() async throws {
    let request = try Configuration(decoding: try readMessage())
    var router = RPCRouter()
    ConformanceService.register(in: &router)
    let site = ConformanceSite(
      base: APISite(methods: methods, forwardsAllFields: true), messageLimit: request.messageLimit)
    // A stream has five bytes around its message.
    let front = HTTPFront(
      site,
      limits: request.messageLimit.map { HTTPFrontLimits(body: $0 + 5) } ?? HTTPFrontLimits())
    let server = RPCServer(
      router: router, logger: Logger(label: "connect-conformance") { _ in SwiftLogNoOpLogHandler() }
    )
    let addresses = try await server.start([
      RPCListener(.tcp(host: "127.0.0.1", port: 0), front: front)
    ])
    guard case .tcp(let host, let port) = addresses[0] else {
      throw Unsupported(description: "the listener has no port")
    }
    // The suite closes stdin at once, which means nothing.
    let signals = await UnixSignalsSequence(trapping: .sigint, .sigterm)
    writeResponse(host: host, port: Int(port))
    for await _ in signals { break }
    await server.shutDown()
  }

  /// `ServerCompatRequest`.
  private struct Configuration {
    var messageLimit: Int?

    init(decoding bytes: ByteBuffer) throws {
      var numbers: [UInt32: UInt64] = [:]
      try bytes.forEachField(number: { numbers[$0] = $1 }, content: { _, _ in })
      guard numbers[1, default: 1] == 1, numbers[2, default: 1] == 1, numbers[4, default: 0] == 0
      else { throw Unsupported(description: "only Connect by HTTP/1.1 without TLS is served") }
      messageLimit = numbers[6].flatMap { $0 == 0 ? nil : Int($0) }
    }
  }

  // MARK: Methods

  private static func method<Request, Response>(
    _ name: String, _ request: (UnsafeMutablePointer<Request>?) -> Void,
    _ response: (UnsafeMutablePointer<Response>?) -> Void,
    idempotency: Idempotency = .unknown, isServerStreaming: Bool = false
  ) -> MethodDescription {
    MethodDescription(
      service: ConformanceService.name, name: name, idempotency: idempotency,
      request: MessageType(initialize: request), response: MessageType(initialize: response),
      isServerStreaming: isServerStreaming, anyTypes: anyTypes)
  }

  private static var methods: [MethodDescription] {
    [
      method(
        "Unary", connectrpc__conformance__v1__unary_request__init,
        connectrpc__conformance__v1__unary_response__init),
      method(
        "IdempotentUnary", connectrpc__conformance__v1__idempotent_unary_request__init,
        connectrpc__conformance__v1__idempotent_unary_response__init,
        idempotency: .noSideEffects),
      method(
        "ServerStream", connectrpc__conformance__v1__server_stream_request__init,
        connectrpc__conformance__v1__server_stream_response__init, isServerStreaming: true),
      // The router does not have it.
      method(
        "Unimplemented", connectrpc__conformance__v1__unimplemented_request__init,
        connectrpc__conformance__v1__unimplemented_response__init),
    ]
  }

  private static var anyTypes: AnyTypes {
    AnyTypes([
      MessageType(initialize: connectrpc__conformance__v1__unary_request__init),
      MessageType(initialize: connectrpc__conformance__v1__idempotent_unary_request__init),
      MessageType(initialize: connectrpc__conformance__v1__server_stream_request__init),
      MessageType(initialize: connectrpc__conformance__v1__unimplemented_request__init),
      MessageType(initialize: connectrpc__conformance__v1__conformance_payload__init),
      MessageType(initialize: connectrpc__conformance__v1__conformance_payload__request_info__init),
      MessageType(initialize: connectrpc__conformance__v1__error__init),
      MessageType(initialize: connectrpc__conformance__v1__header__init),
    ])
  }

  // MARK: Standard streams

  private static func readMessage() throws -> ByteBuffer {
    var length = ByteBuffer(bytes: try read(4))
    let count = Int(length.readInteger(as: UInt32.self) ?? 0)
    guard count <= 1_048_576 else { throw Unsupported(description: "the request is too long") }
    return ByteBuffer(bytes: try read(count))
  }

  private static func read(_ count: Int) throws -> Data {
    var bytes = Data()
    while bytes.count < count {
      guard let part = try FileHandle.standardInput.read(upToCount: count - bytes.count),
        !part.isEmpty
      else { throw Unsupported(description: "stdin ended before the request") }
      bytes += part
    }
    return bytes
  }

  /// `ServerCompatResponse`.
  private static func writeResponse(host: String, port: Int) {
    var message = ByteBuffer()
    message.writeField(1, text: host)
    message.writeField(2, integer: Int64(port))
    var bytes = ByteBuffer()
    bytes.writeInteger(UInt32(message.readableBytes))
    bytes.writeImmutableBuffer(message)
    FileHandle.standardOutput.write(Data(bytes.readableBytesView))
  }
}
