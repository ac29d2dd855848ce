import Dispatch
import Glibc
import Testing

/// A server on the loopback address that takes each connection, reads a request, and sends the
/// same bytes to everybody, whatever they asked.
// @unchecked: the socket is written in `init` only; each connection belongs to the thread that took
// it.
final class RawServer: @unchecked Sendable {
  enum Behaviour {
    /// Has a port, and takes no connections.
    case closed
    /// The system accepts connections, but nothing reads from them.
    case silent
    /// Sends these bytes, then closes the connection.
    case sends([UInt8])
    /// Sends these bytes, and then nothing, on an open connection.
    case stallsAfter([UInt8])
  }

  let address: String
  private let socket: Int32
  private let isServed: Bool

  init(_ behaviour: Behaviour) throws {
    let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var name = sockaddr_in()
    name.sin_family = sa_family_t(AF_INET)
    name.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &name) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(socket, $0, length) == 0 && getsockname(socket, $0, &length) == 0
      }
    }
    guard socket >= 0, isBound else { throw TestFailure("no port") }
    self.socket = socket
    address = "http://127.0.0.1:\(UInt16(bigEndian: name.sin_port))/"
    switch behaviour {
    case .closed, .silent: isServed = false
    case .sends, .stallsAfter: isServed = true
    }
    if case .closed = behaviour { return }
    guard listen(socket, 64) == 0 else { throw TestFailure("no listening") }
    switch behaviour {
    case .closed, .silent: break
    case .sends(let bytes): serve(bytes, closes: true)
    case .stallsAfter(let bytes): serve(bytes, closes: false)
    }
  }

  deinit {
    // A thread that waits for connections ends by the first, and closes the socket itself.
    shutdown(socket, Int32(SHUT_RDWR))
    if !isServed { close(socket) }
  }

  private func serve(_ bytes: [UInt8], closes: Bool) {
    DispatchQueue(label: "raw server").async { [socket] in
      var open: [Int32] = []
      while true {
        let connection = accept(socket, nil, nil)
        guard connection >= 0 else { break }
        Self.readRequest(on: connection)
        var rest = bytes[...]
        while !rest.isEmpty {
          let sent = rest.withUnsafeBytes {
            send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
          }
          guard sent > 0 else { break }
          rest = rest.dropFirst(sent)
        }
        if closes { close(connection) } else { open.append(connection) }
      }
      for connection in open + [socket] { close(connection) }
    }
  }

  /// Reads a request to its end. A connection that is closed with unread bytes is reset, and the client
  /// may lose the answer.
  private static func readRequest(on connection: Int32) {
    var request: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while true {
      if let end = request.firstRange(of: Array("\r\n\r\n".utf8))?.upperBound {
        let head = String(decoding: request[..<end], as: UTF8.self).lowercased()
        let length = head.firstMatch(of: /content-length: *([0-9]+)/).flatMap { Int($0.output.1) }
        if request.count >= end + (length ?? 0) { return }
      }
      let count = recv(connection, &piece, piece.count, 0)
      if count <= 0 { return }
      request += piece[..<count]
    }
  }
}

// A table names them, and their bytes would fill the log.
extension RawServer.Behaviour: CustomTestStringConvertible {
  var testDescription: String {
    switch self {
    case .closed: "closed"
    case .silent: "silent"
    case .sends(let bytes): "sends \(bytes.count) bytes"
    case .stallsAfter(let bytes): "stalls after \(bytes.count) bytes"
    }
  }
}
