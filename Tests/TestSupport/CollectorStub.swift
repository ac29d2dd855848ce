import Foundation
import Glibc
import Synchronization

/// An HTTP server on a loopback port that keeps what is posted to it, as a collector of traces.
package final class CollectorStub: Sendable {
  package struct Request: Sendable {
    package let line: String
    /// Names in lower case.
    package let fields: [String: String]
    package let body: [UInt8]
  }

  package struct Answer: Sendable {
    let status: Int
    let fields: [String]
    let body: Int
    let isSilent: Bool
    /// The head tells of a body that is not sent.
    let isHeadAlone: Bool

    /// - Parameter body: the length of the body.
    package init(_ status: Int, _ fields: [String] = [], body: Int = 2) {
      self.status = status
      self.fields = fields
      self.body = body
      isSilent = false
      isHeadAlone = false
    }

    private init(isSilent: Bool) {
      status = 200
      fields = []
      body = 2
      self.isSilent = isSilent
      isHeadAlone = !isSilent
    }

    /// The request is read, and never answered.
    package static let never = Answer(isSilent: true)
    /// The head of an answer, whose body never comes.
    package static let headAlone = Answer(isSilent: false)
  }

  private struct State {
    var requests: [Request] = []
    var answers: [Answer]
  }

  package let port: UInt16
  private let listener: CInt
  private let state: Mutex<State>

  /// - Parameter answers: to the first requests; all others are answered with 200.
  package init(_ answers: [Answer] = []) throws {
    state = Mutex(State(answers: answers))
    (listener, port) = try Self.listen()
    let thread = Thread { [weak self, listener] in
      while case let client = accept(listener, nil, nil), client >= 0 {
        guard let stub = self else {
          close(client)
          return
        }
        Thread { stub.serve(client) }.start()
      }
    }
    thread.start()
  }

  private static func listen() throws -> (CInt, UInt16) {
    let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    let isBound = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard isBound == 0, Glibc.listen(listener, 16) == 0,
      let port = socketPort(listener, getsockname)
    else { throw HTTPSocket.Failure(what: "listen: \(errno)") }
    return (listener, port)
  }

  deinit {
    // Ends `accept`.
    shutdown(listener, CInt(SHUT_RDWR))
    close(listener)
  }

  package var url: String { "http://127.0.0.1:\(port)" }

  package var requests: [Request] { state.withLock { $0.requests } }

  private func serve(_ client: CInt) {
    defer { close(client) }
    var received: [UInt8] = []
    while let request = read(client, &received) {
      let answer = state.withLock { state in
        state.requests.append(request)
        return state.answers.isEmpty ? Answer(200) : state.answers.removeFirst()
      }
      if answer.isSilent { continue }
      var head = "HTTP/1.1 \(answer.status) x\r\ncontent-length: \(answer.body)\r\n"
      for field in answer.fields { head += "\(field)\r\n" }
      let body = answer.isHeadAlone ? 0 : answer.body
      let bytes = Array((head + "\r\n").utf8) + Array(repeating: UInt8(ascii: " "), count: body)
      var sent = 0
      while sent < bytes.count {
        let count = bytes.withUnsafeBytes {
          send(client, $0.baseAddress?.advanced(by: sent), $0.count - sent, CInt(MSG_NOSIGNAL))
        }
        if count <= 0 { return }
        sent += count
      }
    }
  }

  /// Nil when the client has closed.
  private func read(_ client: CInt, _ received: inout [UInt8]) -> Request? {
    let end = Array("\r\n\r\n".utf8)
    var headEnd: Int?
    while true {
      if headEnd == nil { headEnd = Data(received).range(of: Data(end))?.upperBound }
      if let headEnd {
        let lines = String(decoding: received[..<headEnd], as: UTF8.self)
          .split(separator: "\r\n").map(String.init)
        var fields: [String: String] = [:]
        for line in lines.dropFirst() {
          let parts = line.split(separator: ":", maxSplits: 1)
          fields[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        let length = fields["content-length"].flatMap(Int.init) ?? 0
        if received.count >= headEnd + length {
          let body = Array(received[headEnd..<headEnd + length])
          received.removeFirst(headEnd + length)
          return Request(line: lines[0], fields: fields, body: body)
        }
      }
      var buffer = [UInt8](repeating: 0, count: 65_536)
      let count = recv(client, &buffer, buffer.count, 0)
      if count <= 0 { return nil }
      received += buffer[..<count]
    }
  }
}
