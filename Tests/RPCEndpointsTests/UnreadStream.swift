import Framing
import Glibc
import NIOCore
import Wire

/// A client that opens a stream and reads only on request.
final class UnreadStream {
  struct Failure: Error {}

  private let descriptor: CInt
  private var decoder = FrameDecoder()

  init<Request, Response>(
    path: String, _ method: WireMethod<Request, Response>, _ request: Request
  ) throws {
    descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var patience = timeval(tv_sec: 20, tv_usec: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
    let target = try SocketAddress(unixDomainSocketPath: path)
    guard target.withSockAddr({ connect(descriptor, $0, socklen_t($1)) }) == 0 else {
      throw Failure()
    }
    var envelope = ByteBuffer()
    RequestEnvelope.write(
      service: method.service, method: method.name, payload: try request.encoded(),
      timeoutNanoseconds: 0, metadata: [], into: &envelope)
    var frame = ByteBuffer()
    FrameEncoder.writeHeader(
      FrameHeader(
        dataLength: UInt32(envelope.readableBytes), streamID: StreamID(rawValue: 1),
        type: .request, flags: .remoteClosed),
      into: &frame)
    frame.writeBuffer(&envelope)
    let sent = frame.withUnsafeReadableBytes { send(descriptor, $0.baseAddress, $0.count, 0) }
    guard sent == frame.readableBytes else { throw Failure() }
  }

  deinit {
    close(descriptor)
  }

  /// The next message, or the status that ended the stream.
  func next() throws -> Result<ByteBuffer, RPCStatus> {
    while true {
      if case .frame(let frame) = decoder.next() {
        if frame.header.type == .data {
          return .success(frame.data)
        }
        guard let status = try ResponseEnvelope(decoding: frame.data).status else {
          throw Failure()
        }
        return .failure(status)
      }
      decoder.compact()
      var bytes = [UInt8](repeating: 0, count: 65_536)
      let count = recv(descriptor, &bytes, bytes.count, 0)
      guard count > 0 else { throw Failure() }
      decoder.append(ByteBuffer(bytes: bytes[..<count]))
    }
  }
}
