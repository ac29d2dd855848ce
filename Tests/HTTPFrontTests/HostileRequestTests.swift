import Framing
import HTTPFront
import NIOCore
import RPCServer
import TestSupport
import Testing
import Wire

@Suite("Slow and hostile clients of HTTP")
struct HostileRequestTests {
  private static let head =
    "POST \(ScriptedService.path) HTTP/1.1\r\nhost: a\r\ncontent-type: application/proto\r\n"

  @Test(
    "A request that does not arrive in time is 408, however its bytes drip",
    arguments: ["", "POST / HTTP/1.1\r\nx-slow: ", head + "content-length: 100\r\n\r\n"])
  func slow(start: String) async throws {
    let limits = HTTPFrontLimits(requestTime: .milliseconds(200))
    try await ScriptedService.run(limits) { _, address in
      let socket = try HTTPSocket(address)
      // One byte at least: the time begins with it.
      try socket.send(start.isEmpty ? "P" : start)
      var dripped = 0
      while !socket.canRead(within: 20), dripped < 3_000, !start.isEmpty {
        try? socket.send("a")
        dripped += 1
      }
      let response = try socket.response()
      #expect(response.status == 408)
      #expect(response["connection"] == "close")
      #expect(try socket.isAtEnd())
    }
  }

  @Test("A connection without a request is closed")
  func idle() async throws {
    try await ScriptedService.run(HTTPFrontLimits(keepAliveTime: .milliseconds(100))) {
      _, address in
      let silent = try HTTPSocket(address)
      #expect(try silent.isAtEnd())
      // On a slow machine the request may come too late.
      try await eventually {
        let used = try HTTPSocket(address)
        try? used.request("GET", "/healthz")
        guard (try? used.response())?.status == 200 else { return false }
        return try used.isAtEnd()
      }
    }
  }

  @Test("A long header is 431, in one field or in many")
  func header() async throws {
    try await ScriptedService.run { _, address in
      let long = String(repeating: "a", count: 17_000)
      let fields = (0..<200).map { "x-\($0): 1\r\n" }.joined()
      for request in [
        "GET /healthz HTTP/1.1\r\nhost: a\r\nx: \(long)\r\n\r\n",
        "GET /\(long) HTTP/1.1\r\nhost: a\r\n\r\n",
        "GET /healthz HTTP/1.1\r\nhost: a\r\n\(fields)\r\n",
        // Without an end.
        "GET /healthz HTTP/1.1\r\nx: \(long)",
      ] {
        let socket = try HTTPSocket(address)
        try socket.send(request)
        let response = try socket.response()
        #expect(response.status == 431)
        #expect(response["connection"] == "close")
      }
    }
  }

  @Test(
    "What is not HTTP/1.1 is 400",
    arguments: [
      "\0\0\0\u{10}\0\0\0\u{1}\u{1}\0hello", "hello\r\n\r\n", "GET / HTTP/2.0\r\n\r\n",
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET /healthz HTTP/1.1\r\n\r\n",
      "GET /healthz HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
      "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
      "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n",
      "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
      "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
      "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: gzip, chunked\r\n\r\n",
      "POST / HTTP/1.0\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    ])
  func malformed(request: String) async throws {
    try await ScriptedService.run { _, address in
      let socket = try HTTPSocket(address)
      try socket.send(request)
      #expect(try socket.response().status == 400)
      #expect(try socket.isAtEnd())
    }
  }

  @Test("Requests with random faults end the connection or are answered, and disturb no other")
  func randomFaults() async throws {
    var random = SeededRandom(for: "random faults of HTTP")
    try await ScriptedService.run(HTTPFrontLimits(requestTime: .milliseconds(50))) {
      _, address in
      let valid = Array((Self.head + "content-length: 3\r\n\r\nabc").utf8)
      for _ in 0..<200 {
        var request = valid + valid
        for _ in 0..<Int.random(in: 1...4, using: &random) {
          let place = Int.random(in: request.indices, using: &random)
          switch Int.random(in: 0..<3, using: &random) {
          case 0: request[place] = UInt8.random(in: 0...255, using: &random)
          case 1: request.remove(at: place)
          default: request.insert(contentsOf: request[place...].prefix(40), at: place)
          }
        }
        let socket = try HTTPSocket(address)
        // The server may have closed before the last byte.
        try? socket.send(request)
        socket.closeOutput()
        while let response = try? socket.response() {
          #expect([200, 400, 404, 405, 408, 413, 415, 431, 501].contains(response.status))
        }
      }
      let other = try HTTPSocket(address)
      try other.request("GET", "/healthz")
      #expect(try other.response().status == 200)
    }
  }

  @Test("A body beyond the limit is 413: by its announced length at once, else when it is reached")
  func longBody() async throws {
    try await ScriptedService.run(HTTPFrontLimits(body: 1_000)) { _, address in
      let announced = try HTTPSocket(address)
      try announced.send(Self.head + "content-length: 1001\r\n\r\n")
      let response = try announced.response()
      #expect(response.status == 413)
      #expect(response.text.contains("\"code\":\"resource_exhausted\""))
      #expect(try announced.isAtEnd())

      let chunked = try HTTPSocket(address)
      try chunked.send(Self.head + "transfer-encoding: chunked\r\n\r\n")
      let chunk = "1f4\r\n" + String(repeating: "a", count: 500) + "\r\n"
      try chunked.send(chunk + chunk + "1\r\na\r\n")
      #expect(try chunked.response().status == 413)

      // What is refused for its head is limited too.
      let skipped = try HTTPSocket(address)
      try skipped.send("POST /nothing HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n")
      try skipped.send(chunk + chunk + "1\r\na\r\n")
      #expect(try skipped.response().status == 413)

      let full = try HTTPSocket(address)
      try full.request(
        "POST", ScriptedService.path, ScriptedService.proto, [UInt8](repeating: 1, count: 1_000))
      #expect(try full.response().body.count == 1_000)
    }
  }

  @Test("Unfinished bodies are bounded over all connections, and small ones always fit")
  func bodies() async throws {
    // The third one would have more than it leaves to others.
    try await ScriptedService.run(HTTPFrontLimits(unfinishedBodies: 150_000)) { service, address in
      let holders = try (0..<2).map { _ in try HTTPSocket(address) }
      for holder in holders {
        try holder.send(Self.head + "content-length: 200000\r\n\r\n")
        try holder.send([UInt8](repeating: 1, count: 60_000))
      }
      try await eventually { service.front.statistics.bodyBytes > 80_000 }
      let large = try HTTPSocket(address)
      try large.send(Self.head + "content-length: 100000\r\n\r\n")
      try large.send([UInt8](repeating: 1, count: 60_000))
      let refused = try large.response()
      #expect(refused.status == 503)
      #expect(refused["retry-after"] == "1")
      let small = try HTTPSocket(address)
      try small.request(
        "POST", ScriptedService.path, ScriptedService.proto, [UInt8](repeating: 1, count: 16_000))
      #expect(try small.response().status == 200)
      for holder in holders {
        try holder.send([UInt8](repeating: 1, count: 20_000))
        holder.closeOutput()
      }
      try await eventually { service.front.statistics.bodyBytes == 0 }
    }
  }

  @Test("At the limit of connections, the one that has been in no call for longest gives way")
  func connections() async throws {
    try await ScriptedService.run(HTTPFrontLimits(connections: 2), answersAtOnce: false) {
      service, address in
      let silent = try HTTPSocket(address)
      // Event loops accept at the same time.
      try await eventually { service.front.statistics.connectionsOpen == 1 }
      let slow = try HTTPSocket(address)
      try slow.send("POST \(ScriptedService.path) HTTP/1.1\r\nhost: localhost\r\n")
      try await eventually { service.front.statistics.connectionsOpen == 2 }
      var calls: [HTTPSocket] = []
      for (count, former) in [silent, slow].enumerated() {
        let socket = try HTTPSocket(address)
        #expect(try former.isAtEnd())
        try socket.request("POST", ScriptedService.path, ScriptedService.proto, [])
        try await eventually { service.waiting == count + 1 }
        calls.append(socket)
      }
      // Both are in a call now.
      #expect(try HTTPSocket(address).isAtEnd())
      service.answer()
      for socket in calls { #expect(try socket.response().status == 200) }
      let next = try HTTPSocket(address)
      try next.request("GET", "/healthz")
      #expect(try next.response().status == 200)
      #expect(service.front.statistics.connectionsRefused == 4)
    }
  }

  @Test("The stream of a client that does not read ends, and nothing grows beyond the limit")
  func unread() async throws {
    let limits = RPCLimits(
      writeBufferPause: 65_536, writeBuffer: 8_388_608, slowReaderTime: .milliseconds(200))
    try await ScriptedService.run(server: limits) { service, address in
      let socket = try HTTPSocket(address, receiveBuffer: 4_096)
      try socket.request(
        "POST", ScriptedService.watchPath, [("content-type", "application/connect+proto")],
        enveloped([]))
      try await eventually { !service.streams.isEmpty }
      let stream = service.streams[0]
      let message = ByteBuffer(repeating: 1, count: 100_000)
      var sent = 0
      while await stream.sendWhenRead([StreamMessage(message)]) { sent += 1 }
      // What fits the buffers of both kernels and the pause.
      #expect(sent < 200)
      try await eventually { service.cancelled == 1 }
      _ = try socket.head()
      var last: UInt8 = 0
      var messages = 0
      while last == 0 {
        let next = try socket.envelope()
        last = next.flags
        if last == 0 {
          messages += 1
        } else {
          #expect(
            String(decoding: next.message, as: UTF8.self).contains("resource_exhausted"))
        }
      }
      #expect(last == 2)
      #expect(messages == sent)
    }
  }
}
