import Glibc

/// A client of HTTP/1.1 on a plain socket, which sends any bytes. Calls block for at most
/// ``patience``.
package final class HTTPSocket {
  package struct Failure: Error {
    package let what: String
  }

  package struct Response {
    package let status: Int
    package let fields: [(name: String, value: String)]
    package var body: [UInt8] = []

    package var text: String { String(decoding: body, as: UTF8.self) }

    /// The values of a field, joined; nil without the field.
    package subscript(name: String) -> String? {
      let values = fields.filter { $0.name == name }.map(\.value)
      return values.isEmpty ? nil : values.joined(separator: ", ")
    }
  }

  /// The timeout of each operation, in seconds.
  private static let patience = 30

  private let descriptor: CInt
  private var received: [UInt8] = []
  /// What is left of the present chunk; nil before the first one.
  private var chunkLeft: Int?

  /// - Parameters:
  ///   - port: Of 127.0.0.1.
  ///   - receiveBuffer: The kernel's receive buffer, in bytes; nil for its default.
  package init(port: UInt16, receiveBuffer: CInt? = nil) throws {
    descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    if var receiveBuffer {
      setsockopt(
        descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBuffer, socklen_t(MemoryLayout<CInt>.size))
    }
    var patience = timeval(tv_sec: Self.patience, tv_usec: 0)
    for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
      setsockopt(
        descriptor, SOL_SOCKET, option, &patience, socklen_t(MemoryLayout<timeval>.size))
    }
    var isOn: CInt = 1
    setsockopt(
      descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<CInt>.size))
    var target = sockaddr_in()
    target.sin_family = sa_family_t(AF_INET)
    target.sin_port = port.bigEndian
    target.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let result = withUnsafePointer(to: &target) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard result == 0 else { throw Failure(what: "connect: \(errno)") }
  }

  deinit {
    close(descriptor)
  }

  // MARK: Sending

  package func send(_ text: String) throws { try send(Array(text.utf8)) }

  package func send(_ bytes: [UInt8]) throws {
    var sent = 0
    while sent < bytes.count {
      let count = bytes.withUnsafeBytes { pointer in
        Glibc.send(
          descriptor, pointer.baseAddress?.advanced(by: sent), bytes.count - sent,
          CInt(MSG_NOSIGNAL))
      }
      guard count > 0 else { throw Failure(what: "send: \(errno)") }
      sent += count
    }
  }

  /// Sends a request with its length.
  package func request(
    _ method: String = "POST", _ path: String, _ fields: [(String, String)] = [],
    _ body: [UInt8] = []
  ) throws {
    var head = "\(method) \(path) HTTP/1.1\r\nhost: localhost\r\n"
    for (name, value) in fields { head += "\(name): \(value)\r\n" }
    if method == "POST" || !body.isEmpty { head += "content-length: \(body.count)\r\n" }
    try send(Array((head + "\r\n").utf8) + body)
  }

  package func closeOutput() {
    shutdown(descriptor, CInt(SHUT_WR))
  }

  // MARK: Receiving

  /// Reads a response with its body.
  package func response() throws -> Response {
    var response = try head()
    if let length = response["content-length"].flatMap(Int.init) {
      response.body = try read(length)
    } else if response["transfer-encoding"] == "chunked" {
      while let chunk = try chunk() { response.body += chunk }
    } else if response.status != 204, response.status != 100 {
      while try receive() {}
      response.body = received
      received = []
    }
    return response
  }

  /// Reads the head of a response.
  package func head() throws -> Response {
    let parts = try line().split(separator: " ")
    guard parts.count > 1, let status = Int(parts[1]) else { throw Failure(what: "status line") }
    var fields: [(name: String, value: String)] = []
    while case let line = try line(), !line.isEmpty {
      guard let colon = line.firstIndex(of: ":") else { throw Failure(what: "field") }
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      fields.append((line[..<colon].lowercased(), String(value)))
    }
    chunkLeft = nil
    return Response(status: status, fields: fields)
  }

  /// Reads the next message of a stream: its flags and its content.
  package func envelope() throws -> (flags: UInt8, message: [UInt8]) {
    let prefix = try chunked(5)
    let length = prefix[1...].reduce(0) { $0 << 8 | Int($1) }
    return (prefix[0], try chunked(length))
  }

  /// Whether the server has closed, and sent nothing more.
  package func isAtEnd() throws -> Bool { try received.isEmpty && !receive() }

  /// Whether something can be read within this time.
  package func canRead(within milliseconds: CInt) -> Bool {
    var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return !received.isEmpty || Glibc.poll(&poll, 1, milliseconds) > 0
  }

  private func chunk() throws -> [UInt8]? {
    guard let length = Int(try line(), radix: 16) else { throw Failure(what: "chunk") }
    let bytes = try read(length)
    guard try line().isEmpty else { throw Failure(what: "end of chunk") }
    return length == 0 ? nil : bytes
  }

  private func chunked(_ count: Int) throws -> [UInt8] {
    var bytes: [UInt8] = []
    while bytes.count < count {
      var left = chunkLeft ?? 0
      if left == 0 {
        left = Int(try line(), radix: 16) ?? 0
        if left == 0 { throw Failure(what: "the body ends too early") }
      }
      let part = try read(min(left, count - bytes.count))
      bytes += part
      left -= part.count
      chunkLeft = left
      if left == 0 { _ = try line() }
    }
    return bytes
  }

  private func line() throws -> String {
    while true {
      if let end = received.firstIndex(of: 10) {
        let line = received[..<end]
        received.removeSubrange(...end)
        return String(decoding: line.last == 13 ? line.dropLast() : line, as: UTF8.self)
      }
      guard try receive() else { throw Failure(what: "closed by the server") }
    }
  }

  private func read(_ count: Int) throws -> [UInt8] {
    while received.count < count {
      guard try receive() else { throw Failure(what: "closed by the server") }
    }
    defer { received.removeFirst(count) }
    return Array(received.prefix(count))
  }

  /// - Returns: false at the end.
  private func receive() throws -> Bool {
    var buffer = [UInt8](repeating: 0, count: 65_536)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    // A reset is an end, too.
    if count == 0 || count < 0 && errno == ECONNRESET { return false }
    guard count > 0 else { throw Failure(what: "receive: \(errno)") }
    received += buffer[..<count]
    return true
  }
}
