import Framing
import Glibc
import NIOCore

/// Connections that send without waiting for each other, and never read.
final class SocketFlood {
  private struct Connection {
    let descriptor: CInt
    var sent = 0
    var isBroken = false
  }

  private let bytes: [UInt8]
  private var connections: [Connection] = []

  /// - Parameter bytes: What each connection sends.
  init(_ count: Int, to address: ServerAddress, bytes: ByteBuffer) throws {
    guard case .tcp(_, let port) = address else { throw HarnessFailure("TCP is expected") }
    self.bytes = Array(buffer: bytes)
    let target = try SocketAddress(ipAddress: "127.0.0.1", port: Int(port))
    for _ in 0..<count {
      let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
      guard descriptor >= 0 else { throw HarnessFailure("no socket: \(errno)") }
      connections.append(Connection(descriptor: descriptor))
      let result = target.withSockAddr { connect(descriptor, $0, socklen_t($1)) }
      guard result == 0 else { throw HarnessFailure("connect failed with \(errno)") }
      _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
    }
  }

  deinit {
    for connection in connections { close(connection.descriptor) }
  }

  /// Sends what the connections take at once.
  ///
  /// - Parameter milliseconds: How long to wait until one takes anything.
  /// - Returns: Whether anything is left to send.
  func send(waitingFor milliseconds: CInt = 100) -> Bool {
    var polls: [pollfd] = []
    var indices: [Int] = []
    for (index, connection) in connections.enumerated()
    where !connection.isBroken && connection.sent < bytes.count {
      polls.append(pollfd(fd: connection.descriptor, events: Int16(POLLOUT), revents: 0))
      indices.append(index)
    }
    if polls.isEmpty { return false }
    poll(&polls, nfds_t(polls.count), milliseconds)
    for (position, index) in indices.enumerated() where polls[position].revents != 0 {
      let start = connections[index].sent
      let count = bytes.withUnsafeBytes { bytes in
        let rest = bytes[start...].prefix(262_144)
        return Glibc.send(
          connections[index].descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress,
          rest.count, CInt(MSG_NOSIGNAL))
      }
      if count >= 0 {
        connections[index].sent += count
      } else if errno != EAGAIN {
        connections[index].isBroken = true
      }
    }
    return true
  }

  /// How many connections the server has closed.
  var closedCount: Int {
    connections.count { connection in
      var byte: UInt8 = 0
      let count = recv(connection.descriptor, &byte, 1, CInt(MSG_PEEK | MSG_DONTWAIT))
      return count == 0 || (count < 0 && errno != EAGAIN)
    }
  }
}
