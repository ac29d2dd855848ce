import Framing
import Glibc
import Wire

/// A plain TCP connection on the loopback address, for bytes that the project's client never sends.
/// Every wait is bounded.
final class RawConnection: Sendable {
  private let socket: CInt

  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// - Parameter patience: the timeout of each call, in seconds.
  init(to address: ServerAddress, patience: Int = 5) throws(Failure) {
    guard case .tcp(let host, let port) = address else {
      throw Failure(description: "\(address) is no TCP address")
    }
    let socket = Glibc.socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard socket >= 0 else { throw Failure(description: "no socket: \(Self.reason)") }
    self.socket = socket
    var peer = sockaddr_in()
    peer.sin_family = sa_family_t(AF_INET)
    peer.sin_port = port.bigEndian
    inet_pton(AF_INET, host, &peer.sin_addr)
    var limit = timeval(tv_sec: patience, tv_usec: 0)
    let limitLength = socklen_t(MemoryLayout<timeval>.size)
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, limitLength)
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, limitLength)
    let status = withUnsafePointer(to: &peer) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(socket, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard status == 0 else { throw Failure(description: "no connection: \(Self.reason)") }
    // Bytes that are sent one by one must arrive one by one.
    var noDelay: CInt = 1
    setsockopt(
      socket, CInt(IPPROTO_TCP), TCP_NODELAY, &noDelay, socklen_t(MemoryLayout<CInt>.size))
  }

  deinit { close(socket) }

  /// - Returns: whether all bytes were written.
  @discardableResult
  func send(_ bytes: [UInt8]) -> Bool {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes {
        Glibc.send(socket, $0.baseAddress! + sent, bytes.count - sent, CInt(MSG_NOSIGNAL))
      }
      guard count > 0 else { return false }
      sent += count
    }
    return true
  }

  /// Waits for bytes.
  ///
  /// - Returns: the number of bytes; 0 after a timeout or when the other side has closed.
  func receive() -> Int {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    return max(0, recv(socket, &buffer, buffer.count, 0))
  }

  /// Ends a wait for bytes at once, without bytes.
  func shutDown() { _ = shutdown(socket, CInt(SHUT_RDWR)) }

  private static var reason: String { String(cString: strerror(errno)) }
}
