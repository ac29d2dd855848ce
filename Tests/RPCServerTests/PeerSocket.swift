import Glibc

/// The other end of a TCP connection, where that is in this process too.
struct PeerSocket {
  enum Option {
    case noDelay, keepAlive, keepAliveIdle, keepAliveInterval, keepAliveCount

    fileprivate var number: (level: CInt, name: CInt) {
      switch self {
      case .noDelay: (CInt(IPPROTO_TCP), TCP_NODELAY)
      case .keepAlive: (SOL_SOCKET, SO_KEEPALIVE)
      case .keepAliveIdle: (CInt(IPPROTO_TCP), TCP_KEEPIDLE)
      case .keepAliveInterval: (CInt(IPPROTO_TCP), TCP_KEEPINTVL)
      case .keepAliveCount: (CInt(IPPROTO_TCP), TCP_KEEPCNT)
      }
    }
  }

  private let descriptor: CInt

  /// More descriptors than the tests have open.
  private static let descriptors: Range<CInt> = 0..<4_096

  /// Nil when no open socket of this process is connected to that port.
  init?(connectedTo port: UInt16) {
    let found = Self.descriptors.first { Self.port($0, getpeername) == port }
    guard let found else { return nil }
    descriptor = found
  }

  func option(_ option: Option) -> Int? {
    var value: CInt = 0
    var length = socklen_t(MemoryLayout<CInt>.size)
    let (level, name) = option.number
    return getsockopt(descriptor, level, name, &value, &length) == 0 ? Int(value) : nil
  }

  /// The port of one end of an IPv4 socket.
  static func port(
    _ descriptor: CInt,
    _ name: (CInt, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> CInt
  ) -> UInt16? {
    var address = sockaddr_in()
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let status = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { name(descriptor, $0, &length) }
    }
    guard status == 0, address.sin_family == sa_family_t(AF_INET) else { return nil }
    return UInt16(bigEndian: address.sin_port)
  }
}
