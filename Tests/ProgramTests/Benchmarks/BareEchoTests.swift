import Framing
import Glibc
import NIOCore
import Testing
import Wire

/// The server that `deploy/benchmark read` compares the service with. The comparison is valid only
/// if it answers every call.
@Suite("The bare echo", .timeLimit(.minutes(2)))
struct BareEchoTests {
  private static let answer = ByteBuffer(repeating: UInt8(ascii: "r"), count: 300)
  /// More than one read(2) takes.
  private static let longLength = 200_000

  private func withEcho(_ body: (ServerAddress) throws -> Void) async throws {
    let child = try ChildProcess(.bareEcho, [])
    defer { child.signal(SIGKILL) }
    let port = try await child.journal.first("port") { contents -> UInt16? in
      if let exit = contents.exit {
        throw HarnessFailure("the bare echo ended with \(exit):\n\(contents.errorText)")
      }
      let text = contents.outputText
      return text.last == "\n" ? UInt16(text.dropLast()) : nil
    }
    try body(.tcp(host: "127.0.0.1", port: port))
  }

  /// Expects one answer for each of these streams, in this order.
  private func expectAnswers(to streams: [UInt32], from client: RawClient) throws {
    for stream in streams {
      let header = FrameHeader(
        dataLength: UInt32(Self.answer.readableBytes), streamID: StreamID(rawValue: stream),
        type: .response)
      try #require(try client.receive() == Frame(header: header, data: Self.answer))
    }
  }

  private static func request(_ stream: UInt32, length: Int = 100) -> ByteBuffer {
    Frames.frame(stream, data: ByteBuffer(repeating: 0, count: length))
  }

  @Test func `a frame that arrives byte by byte is answered once`() async throws {
    try await withEcho { address in
      let client = try RawClient(address)
      let other = try RawClient(address)
      let bytes = Self.request(1)
      for position in 0..<bytes.readableBytes {
        try client.send(try #require(bytes.getSlice(at: position, length: 1)))
        // The server has read the byte when it answers a later call.
        try other.send(Self.request(5))
        try expectAnswers(to: [5], from: other)
      }
      try client.send(Self.request(3))
      try expectAnswers(to: [1, 3], from: client)
    }
  }

  @Test func `frames of one write are answered in order, whatever their lengths`() async throws {
    try await withEcho { address in
      let client = try RawClient(address)
      let lengths = [100, 0, 1, Self.longLength, 0]
      var bytes = ByteBuffer()
      for (number, length) in lengths.enumerated() {
        bytes.writeImmutableBuffer(Self.request(UInt32(2 * number + 1), length: length))
      }
      try client.send(bytes)
      try expectAnswers(to: [1, 3, 5, 7, 9], from: client)
    }
  }

  @Test func `answers that the client does not read yet are sent later`() async throws {
    // 6 MB of answers: more than the buffers of both sockets.
    let streams = (0..<20_000).map { UInt32(2 * $0 + 1) }
    var bytes = ByteBuffer()
    for stream in streams { bytes.writeImmutableBuffer(Self.request(stream, length: 0)) }
    try await withEcho { address in
      let client = try RawClient(address)
      try client.send(bytes)
      // Other clients are answered meanwhile.
      let other = try RawClient(address)
      try other.send(Self.request(5))
      try expectAnswers(to: [5], from: other)
      client.closeOutput()
      try expectAnswers(to: streams, from: client)
      #expect(try client.receive() == nil)
    }
  }

  @Test func `a client that closes within a frame does not disturb others`() async throws {
    try await withEcho { address in
      let other = try RawClient(address)
      let bytes = Self.request(1)
      for length in [0, 1, 9, 10, 11, bytes.readableBytes - 1, bytes.readableBytes] {
        let orderly = try RawClient(address)
        try orderly.send(try #require(bytes.getSlice(at: 0, length: length)))
        orderly.close()
        let abrupt = try RawClient(address)
        try abrupt.send(try #require(bytes.getSlice(at: 0, length: length)))
        abrupt.reset()
        try other.send(bytes)
        try expectAnswers(to: [1], from: other)
      }
    }
  }
}
