import Framing
import Glibc
import NIOCore
import TestSupport
import Wire

/// A client on a plain socket, which sends any bytes and reads frames. Calls block for at most
/// ``patience``.
final class RawClient {
  struct Failure: Error {
    let what: String
    let errno: CInt
  }

  /// The timeout of each operation, in seconds.
  private static let patience = 20

  private var descriptor: CInt
  private var decoder = FrameDecoder()

  /// - Parameter receiveBuffer: The kernel's receive buffer, in bytes; nil for its default.
  init(_ address: ServerAddress, receiveBuffer: CInt? = nil) throws {
    let family = if case .unix = address { AF_UNIX } else { AF_INET }
    descriptor = socket(family, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    if var receiveBuffer {
      setsockopt(
        descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer,
        socklen_t(MemoryLayout<CInt>.size))
    }
    var patience = timeval(tv_sec: Self.patience, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(
        descriptor, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
    }
    if case .tcp = address {
      // Sent bytes arrive, even if a reset follows immediately.
      var isOn: CInt = 1
      setsockopt(
        descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<CInt>.size))
    }
    let target =
      switch address {
      case .tcp(_, let port), .tls(_, let port), .mutualTLS(_, let port):
        try SocketAddress(ipAddress: "127.0.0.1", port: Int(port))
      case .unix(let path): try SocketAddress(unixDomainSocketPath: path)
      }
    let result = target.withSockAddr { pointer, size in
      connect(descriptor, pointer, socklen_t(size))
    }
    if result != 0 {
      throw Failure(what: "connect", errno: errno)
    }
  }

  deinit {
    close()
  }

  // MARK: Sending

  func send(_ bytes: ByteBuffer) throws {
    var rest = bytes
    while rest.readableBytes > 0 {
      let count = rest.withUnsafeReadableBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
      }
      guard count > 0 else {
        throw Failure(what: "send", errno: errno)
      }
      rest.moveReaderIndex(forwardBy: count)
    }
  }

  /// Sends as much as the kernel accepts without waiting.
  ///
  /// - Returns: The number of bytes, or nil if the kernel accepted none for `milliseconds`.
  func sendSome(_ bytes: ByteBuffer, waitingFor milliseconds: CInt) throws -> Int? {
    var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    if Glibc.poll(&poll, 1, milliseconds) == 0 {
      return nil
    }
    let count = bytes.withUnsafeReadableBytes {
      Glibc.send(
        descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL | MSG_DONTWAIT))
    }
    if count < 0, errno != EAGAIN {
      throw Failure(what: "send", errno: errno)
    }
    return max(0, count)
  }

  func closeOutput() {
    shutdown(descriptor, CInt(SHUT_WR))
  }

  func close() {
    if descriptor >= 0 {
      Glibc.close(descriptor)
      descriptor = -1
    }
  }

  /// Closes the connection with a reset.
  func reset() {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    close()
  }

  /// The server's end of a TCP connection, if the server is in this process.
  var peerInThisProcess: PeerSocket? {
    socketPort(descriptor, getsockname).flatMap(PeerSocket.init(connectedTo:))
  }

  // MARK: Receiving

  /// Whether there are bytes to receive, or the server has closed.
  func isReadable(within milliseconds: CInt) throws -> Bool {
    var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    let count = Glibc.poll(&poll, 1, milliseconds)
    guard count >= 0 else {
      throw Failure(what: "poll", errno: errno)
    }
    return count > 0
  }

  /// The next frame, or nil if the server has closed or reset the connection.
  func receive() throws -> Frame? {
    while true {
      switch decoder.next() {
      case .frame(let frame): return frame
      case .malformed, .oversized, .unskippable: throw Failure(what: "decode", errno: 0)
      case nil: break
      }
      decoder.compact()
      var bytes = [UInt8](repeating: 0, count: 65_536)
      let count = recv(descriptor, &bytes, bytes.count, 0)
      if count == 0 || (count < 0 && errno == ECONNRESET) {
        return nil
      }
      guard count > 0 else {
        throw Failure(what: "receive", errno: errno)
      }
      decoder.append(ByteBuffer(bytes: bytes[..<count]))
    }
  }

  /// The next frame as a short text, such as `1 OK hello`, `3 NOT_FOUND`, `5 data hello`,
  /// `5 end` or `closed`.
  func receiveText() throws -> String {
    guard let frame = try receive() else {
      return "closed"
    }
    return try Self.text(frame)
  }

  /// The text form of a frame.
  static func text(_ frame: Frame) throws -> String {
    let id = frame.header.streamID
    switch frame.header.type {
    case .response:
      let response = try ResponseEnvelope(decoding: frame.data)
      return response.status.map { "\(id) \($0.code.name)" }
        ?? "\(id) OK \(String(buffer: response.payload))"
    case .data where frame.header.flags == [.remoteClosed, .noData]:
      return "\(id) end"
    case .data:
      return "\(id) data \(String(buffer: frame.data))"
    default:
      return "\(id) type \(frame.header.type.rawValue)"
    }
  }
}
