import Framing
import Glibc
import NIOCore
import Wire

/// A listening socket that never accepts: connections succeed, and get no answer.
final class RawListener {
  private var descriptor: CInt
  let address: ServerAddress

  /// On a free TCP port.
  ///
  /// - Parameter backlog: The length of the accept queue.
  init(backlog: CInt = 8) throws {
    descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    try Self.bind(descriptor, to: SocketAddress(ipAddress: "127.0.0.1", port: 0), backlog)
    var name = [UInt8](repeating: 0, count: 16)
    var size = socklen_t(name.count)
    let listening = descriptor
    name.withUnsafeMutableBytes { bytes in
      _ = getsockname(listening, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &size)
    }
    // Family, then the port in network order.
    address = .tcp(host: "127.0.0.1", port: UInt16(name[2]) << 8 | UInt16(name[3]))
  }

  /// On a Unix socket, whose file is not removed.
  init(path: String) throws {
    descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
    try Self.bind(descriptor, to: SocketAddress(unixDomainSocketPath: path), 8)
    address = .unix(path: path)
  }

  deinit {
    close()
  }

  func close() {
    if descriptor >= 0 {
      Glibc.close(descriptor)
      descriptor = -1
    }
  }

  private static func bind(
    _ descriptor: CInt, to address: SocketAddress, _ backlog: CInt
  ) throws {
    let result = address.withSockAddr { Glibc.bind(descriptor, $0, socklen_t($1)) }
    guard result == 0, listen(descriptor, backlog) == 0 else {
      throw RawClient.Failure(what: "bind", errno: errno)
    }
  }
}
