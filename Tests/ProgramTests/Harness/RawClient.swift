import Framing
import Glibc
import NIOCore
import Wire

/// A client that is a plain socket: it sends arbitrary bytes and reads frames. Calls block for at
/// most ``ProcessJournal/patience``.
final class RawClient {
  private var descriptor: CInt
  private var decoder = FrameDecoder()

  init(_ address: ServerAddress) throws {
    guard case .tcp(_, let port) = address else { throw HarnessFailure("TCP is expected") }
    descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var patience = timeval(tv_sec: ProcessJournal.patience, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(
        descriptor, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
    }
    // Without it the system may join the bytes of two calls in one packet.
    var one: CInt = 1
    setsockopt(
      descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &one, socklen_t(MemoryLayout<CInt>.size))
    let target = try SocketAddress(ipAddress: "127.0.0.1", port: Int(port))
    let result = target.withSockAddr { connect(descriptor, $0, socklen_t($1)) }
    guard result == 0 else { throw HarnessFailure("connect failed with \(errno)") }
  }

  deinit {
    close()
  }

  func send(_ bytes: ByteBuffer) throws {
    guard try trySend(bytes) else { throw HarnessFailure("send failed with \(errno)") }
  }

  /// - Returns: false when the server has closed the connection.
  func trySend(_ bytes: ByteBuffer) throws -> Bool {
    var rest = bytes
    while rest.readableBytes > 0 {
      let count = rest.withUnsafeReadableBytes {
        Glibc.send(descriptor, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
      }
      guard count > 0 else {
        if errno == EPIPE || errno == ECONNRESET { return false }
        throw HarnessFailure("send failed with \(errno)")
      }
      rest.moveReaderIndex(forwardBy: count)
    }
    return true
  }

  func closeOutput() {
    shutdown(descriptor, CInt(SHUT_WR))
  }

  func close() {
    guard descriptor >= 0 else { return }
    Glibc.close(descriptor)
    descriptor = -1
  }

  /// Closes the connection with a reset.
  func reset() {
    var option = linger(l_onoff: 1, l_linger: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    close()
  }

  /// The next frame, or nil when the server has closed or reset the connection.
  func receive() throws -> Frame? {
    while true {
      switch decoder.next() {
      case .frame(let frame): return frame
      case .malformed, .oversized, .unskippable:
        throw HarnessFailure("the server's frame is too long")
      case nil: break
      }
      decoder.compact()
      var bytes = [UInt8](repeating: 0, count: 65_536)
      let count = recv(descriptor, &bytes, bytes.count, 0)
      if count == 0 || (count < 0 && errno == ECONNRESET) { return nil }
      guard count > 0 else { throw HarnessFailure("receive failed with \(errno)") }
      decoder.append(ByteBuffer(bytes: bytes[..<count]))
    }
  }

  /// The result of the next call: the name of its code, or nil when the server has closed.
  func receiveCode() throws -> String? {
    guard let frame = try receive() else { return nil }
    guard frame.header.type == .response else { throw HarnessFailure("no response") }
    return try ResponseEnvelope(decoding: frame.data).status?.code.name ?? "OK"
  }
}
