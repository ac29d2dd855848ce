import Framing
import HTTPFront
import NIOCore
import RPCServer
import TestSupport
import Testing
import Wire

@Suite("Connections of HTTP")
struct ConnectionTests {
  @Test("Connections are kept unless one side asks otherwise, with HTTP/1.1 and 1.0")
  func keepAlive() async throws {
    try await ScriptedService.run { _, address in
      let cases: [(String, String?, Bool)] = [
        ("HTTP/1.1\r\nhost: a\r\n", nil, true),
        ("HTTP/1.1\r\nhost: a\r\nconnection: close\r\n", "close", false),
        ("HTTP/1.0\r\n", "close", false),
        ("HTTP/1.0\r\nconnection: keep-alive\r\n", "keep-alive", true),
        // After it, the decoder would read nothing more.
        ("HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: h2c\r\n", "close", false),
      ]
      for (rest, field, isKept) in cases {
        let socket = try HTTPSocket(address)
        try socket.send("GET /healthz \(rest)\r\n")
        let response = try socket.response()
        #expect(response.status == 200)
        #expect(response["connection"] == field, "\(rest)")
        if isKept {
          try socket.send("GET /healthz \(rest)\r\n")
          #expect(try socket.response().status == 200)
        } else {
          #expect(try socket.isAtEnd())
        }
      }
    }
  }

  @Test("A stream to a client of HTTP/1.0 has no chunks, and ends with the connection")
  func oldStream() async throws {
    try await ScriptedService.run { service, address in
      let socket = try HTTPSocket(address)
      try socket.send(
        "POST \(ScriptedService.watchPath) HTTP/1.0\r\ncontent-type: application/connect+proto\r\n"
          + "content-length: 5\r\n\r\n\0\0\0\0\0")
      try await eventually { !service.streams.isEmpty }
      let stream = service.streams[0]
      stream.send(ByteBuffer(bytes: [8, 1]))
      stream.finish()
      let response = try socket.response()
      #expect(response["transfer-encoding"] == nil)
      #expect(response["connection"] == "close")
      #expect(response.body == enveloped([8, 1]) + enveloped(Array("{}".utf8), flags: 2))
    }
  }

  @Test("Requests that are sent together are answered in their order")
  func pipelined() async throws {
    try await ScriptedService.run { _, address in
      let socket = try HTTPSocket(address)
      func request(_ number: Int) -> String {
        "POST \(ScriptedService.path) HTTP/1.1\r\nhost: a\r\ncontent-type: application/proto\r\n"
          + "content-length: \(String(number).utf8.count)\r\n\r\n\(number)"
      }
      let health = "GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n"
      try socket.send((0..<10).map { request($0) + health }.joined())
      for number in 0..<10 {
        #expect(try socket.response().text == String(number))
        #expect(try socket.response().text == "ok\n")
      }
      // All are answered before a half-closed connection ends.
      try socket.send(request(7) + request(8) + health)
      socket.closeOutput()
      #expect(try socket.response().text == "7")
      #expect(try socket.response().text == "8")
      #expect(try socket.response().text == "ok\n")
      #expect(try socket.isAtEnd())
    }
  }

  @Test("Requests that arrive byte by byte, with chunks and a whole URL, are the same requests")
  func byteByByte() async throws {
    try await ScriptedService.run { _, address in
      let socket = try HTTPSocket(address)
      let requests =
        "POST http://localhost\(ScriptedService.path) HTTP/1.1\r\nhost: a\r\n"
        + "content-type: application/proto\r\ntransfer-encoding: chunked\r\n\r\n"
        + "2\r\nab\r\n1;x=y\r\nc\r\n0\r\nx-trailer: 1\r\n\r\n"
        + "HEAD /healthz HTTP/1.1\r\nhost: a\r\n\r\nGET /healthz HTTP/1.1\r\nhost: a\r\n\r\n"
      for byte in requests.utf8 { try socket.send([byte]) }
      #expect(try socket.response().text == "abc")
      let head = try socket.head()
      #expect(head.status == 200)
      #expect(head["content-length"] == "3")
      #expect(try socket.response().text == "ok\n")
    }
  }

  @Test("Too many requests that are sent together are answered up to the limit")
  func tooManyPipelined() async throws {
    try await ScriptedService.run(answersAtOnce: false) { service, address in
      let socket = try HTTPSocket(address)
      try socket.request("POST", ScriptedService.path, ScriptedService.proto)
      try await eventually { service.waiting == 1 }
      try socket.send(
        String(repeating: "GET /healthz HTTP/1.1\r\nhost: a\r\n\r\n", count: 500))
      service.answer()
      var answered = 0
      while try !socket.isAtEnd() {
        #expect(try socket.response().status == 200)
        answered += 1
      }
      #expect(answered == 1 + HTTPFrontLimits.pipelinedRequests)
    }
  }

  @Test("A client that expects 100-continue is told to send its body, unless it is refused")
  func expectation() async throws {
    try await ScriptedService.run(HTTPFrontLimits(body: 1_000)) { _, address in
      func ask(_ path: String, _ length: Int) throws -> HTTPSocket {
        let socket = try HTTPSocket(address)
        try socket.send(
          "POST \(path) HTTP/1.1\r\nhost: a\r\ncontent-type: application/proto\r\n"
            + "expect: 100-continue\r\ncontent-length: \(length)\r\n\r\n")
        return socket
      }
      let accepted = try ask(ScriptedService.path, 3)
      #expect(try accepted.response().status == 100)
      try accepted.send("abc")
      #expect(try accepted.response().text == "abc")
      let unknown = try ask("/nothing", 3)
      #expect(try unknown.response().status == 404)
      #expect(try unknown.isAtEnd())
      #expect(try ask(ScriptedService.path, 2_000).response().status == 413)
    }
  }

  @Test("A call is cancelled when its client closes the connection")
  func cancellation() async throws {
    try await ScriptedService.run { service, address in
      var socket: HTTPSocket? = try HTTPSocket(address)
      try socket?.request(
        "POST", ScriptedService.watchPath, [("content-type", "application/connect+proto")],
        enveloped([]))
      _ = try socket?.head()
      try await eventually { service.streams.count == 1 }
      service.streams[0].send(ByteBuffer(bytes: [8, 1]))
      socket = nil
      // The kernel answers the next message with a reset.
      try await eventually {
        service.streams[0].send(ByteBuffer(bytes: [8, 1]))
        return service.cancelled == 1
      }
    }
  }

  @Test("A shutdown answers calls in flight, ends streams, and closes idle connections")
  func shutdown() async throws {
    try await ScriptedService.run(answersAtOnce: false) { service, address in
      let idle = try HTTPSocket(address)
      try idle.request("GET", "/healthz")
      _ = try idle.response()
      let stream = try HTTPSocket(address)
      try stream.request(
        "POST", ScriptedService.watchPath, [("content-type", "application/connect+json")],
        enveloped(Array("{}".utf8)))
      _ = try stream.head()
      let partial = try HTTPSocket(address)
      try partial.send(
        "POST \(ScriptedService.path) HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\n"
          + "content-length: 100\r\n\r\n{")
      let calling = try HTTPSocket(address)
      try calling.request("POST", ScriptedService.path, ScriptedService.json, Array("{}".utf8))
      try await eventually { service.waiting == 1 && service.streams.count == 1 }
      async let stopped: Void = service.server.shutDown()
      let end = try stream.envelope()
      #expect(end.flags == 2)
      #expect(String(decoding: end.message, as: UTF8.self).contains("\"code\":\"unavailable\""))
      #expect(try idle.isAtEnd())
      #expect(try partial.response().status == 503)
      service.answer()
      let response = try calling.response()
      #expect(response.text == "{\"status\":\"SERVING\"}")
      #expect(response["connection"] == "close")
      #expect(try calling.isAtEnd())
      await stopped
      #expect(service.server.statistics.connectionsOpen == 0)
    }
  }
}
