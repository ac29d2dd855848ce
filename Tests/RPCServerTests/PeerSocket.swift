import Glibc
import TestSupport

/// The server's end of a TCP connection, if it is in this process.
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

  /// More file descriptors than the tests have open.
  private static let descriptors: Range<CInt> = 0..<4_096

  /// Nil if no open socket of this process is connected to the port.
  init?(connectedTo port: UInt16) {
    let found = Self.descriptors.first { socketPort($0, getpeername) == port }
    guard let found else { return nil }
    descriptor = found
  }

  func option(_ option: Option) -> Int? {
    var value: CInt = 0
    var length = socklen_t(MemoryLayout<CInt>.size)
    let (level, name) = option.number
    return getsockopt(descriptor, level, name, &value, &length) == 0 ? Int(value) : nil
  }
}
