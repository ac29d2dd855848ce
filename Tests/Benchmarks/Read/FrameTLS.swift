import Framing
import Glibc
import NIOCore
import NIOEmbedded
import NIOSSL
import NIOTLS

/// The client's side of TLS on a plain blocking socket.
final class FrameTLS {
  private let channel = EmbeddedChannel()
  private let completion = Completion()

  /// Certificates are not verified: that is not measured, and takes time of the client alone.
  static func makeContext() throws -> NIOSSLContext {
    var configuration = TLSConfiguration.makeClientConfiguration()
    configuration.minimumTLSVersion = .tlsv13
    configuration.certificateVerification = .none
    return try NIOSSLContext(configuration: configuration)
  }

  /// Makes the handshake.
  init(_ context: NIOSSLContext, on descriptor: CInt) throws {
    try channel.pipeline.syncOperations.addHandlers(
      NIOSSLClientHandler(context: context, serverHostname: nil), completion)
    channel.connect(to: try SocketAddress(ipAddress: "127.0.0.1", port: 1), promise: nil)
    var bytes = [UInt8](repeating: 0, count: 65_536)
    while true {
      try Self.write(try encrypted(), to: descriptor)
      if completion.isComplete { return }
      let count = read(descriptor, &bytes, bytes.count)
      guard count > 0 else {
        throw FrameConnection.Failure(description: "the TLS handshake failed")
      }
      try channel.writeInbound(ByteBuffer(bytes: bytes[..<count]))
    }
  }

  /// The records with these bytes.
  func encrypt(_ bytes: UnsafeRawBufferPointer) throws -> ByteBuffer {
    try channel.writeOutbound(ByteBuffer(bytes: bytes))
    return try encrypted()
  }

  /// The bytes in the records that these bytes complete.
  func decrypt(_ bytes: UnsafeRawBufferPointer) throws -> ByteBuffer {
    try channel.writeInbound(ByteBuffer(bytes: bytes))
    var plain = ByteBuffer()
    while var part = try channel.readInbound(as: ByteBuffer.self) { plain.writeBuffer(&part) }
    return plain
  }

  private func encrypted() throws -> ByteBuffer {
    var bytes = ByteBuffer()
    while var part = try channel.readOutbound(as: ByteBuffer.self) { bytes.writeBuffer(&part) }
    return bytes
  }

  static func write(_ bytes: ByteBuffer, to descriptor: CInt) throws {
    try bytes.withUnsafeReadableBytes { bytes in
      var written = 0
      while written < bytes.count {
        // The base address exists: more than 0 bytes are left.
        let step = Glibc.write(descriptor, bytes.baseAddress! + written, bytes.count - written)
        if step < 0 && errno == EINTR { continue }
        guard step > 0 else {
          throw FrameConnection.Failure(description: "the server has closed the connection")
        }
        written += step
      }
    }
  }

  private final class Completion: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private(set) var isComplete = false

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      if case TLSUserEvent.handshakeCompleted = event { isComplete = true }
      context.fireUserInboundEventTriggered(event)
    }
  }
}
