import Framing
import NIOCore
import TestSupport
import Testing
import Wire

@testable import RPCServer

@Suite("Immediate answers")
struct ImmediateAnswerTests {
  @Test(
    "Immediate answers and calls give the client the same bytes, whatever it sends")
  func same() throws {
    var generator = SeededRandom(for: "answers at hand")
    for round in 0..<400 {
      let limits = RPCLimits(streamsPerConnection: 3, writeBufferPause: 60_000)
      let with = try EmbeddedConnection(limits)
      let without = try EmbeddedConnection(limits, immediate: false)
      var bytes = Frames.joined((0..<40).map { _ in randomFrame(using: &generator) })
      if Bool.random(using: &generator) {
        bytes.setInteger(
          UInt8.random(in: .min ... .max, using: &generator),
          at: Int.random(in: 0..<bytes.readableBytes, using: &generator))
      }
      while bytes.readableBytes > 0, with.isOpen, without.isOpen {
        let cut = bytes.readSlice(
          length: Int.random(in: 1...bytes.readableBytes, using: &generator))!
        try with.receive(cut)
        try without.receive(cut)
        #expect(
          try with.sentBytes() == without.sentBytes(), "seed \(generator.seed), round \(round)")
      }
      #expect(with.isOpen == without.isOpen)
      with.close()
      without.close()
    }
  }

  @Test("Immediate answers are counted as successful calls")
  func counted() throws {
    let connection = try EmbeddedConnection(RPCLimits())
    try connection.receive(
      Frames.request(1, "Immediate", "hello"), Frames.request(3, "Immediate", "other"),
      Frames.request(5, "Immediate", "h2"), Frames.request(7, "Fail"))
    #expect(connection.statistics.calls[.ok] == 3)
    #expect(connection.statistics.calls[.notFound] == 1)
  }

  @Test("A call after its deadline gets no immediate answer, and a call in flight keeps its stream")
  func refused() throws {
    let connection = try EmbeddedConnection(RPCLimits())
    try connection.receive(
      Frames.request(1, "Immediate", "h", timeout: -1), Frames.request(3, "Hold", "x"),
      Frames.request(3, "Immediate", "h"), Frames.request(2, "Immediate", "h"),
      Frames.request(5, "Immediate", "h", flags: .remoteOpen))
    #expect(
      try connection.sent() == [
        "1 DEADLINE_EXCEEDED", "3 INVALID_ARGUMENT", "2 INVALID_ARGUMENT", "5 INVALID_ARGUMENT",
      ])
  }

  @Test(
    "A stamp replaces its bytes in the answer, and not in the bytes that answers share",
    arguments: [8, 300, 16_384, 16_385, 16_391, 70_000])
  func stamp(length: Int) throws {
    let connection = try EmbeddedConnection(RPCLimits())
    try connection.receive(Frames.request(1, "Immediate", "s\(length)"))
    var decoder = FrameDecoder()
    decoder.append(try connection.sentBytes())
    guard case .frame(let frame) = decoder.next() else {
      Issue.record("no answer of \(length) bytes")
      return
    }
    let payload = try ResponseEnvelope(decoding: frame.data).payload
    // 1,790,000,000,000 as a varint.
    let expected = [0x73, 0x73, 0x80, 0xd8, 0xc1, 0xa2, 0x8c, 0x34].map { UInt8($0) }
    #expect(Array(payload.readableBytesView.prefix(8)) == expected)
    #expect(payload.readableBytes == length)
    #expect(payload.readableBytesView.dropFirst(8).allSatisfy { $0 == 0x73 })
  }

  @Test(
    "A deadline that passes while earlier requests are handled is DEADLINE_EXCEEDED",
    arguments: [true, false])
  func late(immediate: Bool) throws {
    let connection = try EmbeddedConnection(RPCLimits(), immediate: immediate)
    // All arrive at once. The second begins 5 ms later, and the last ones 25 ms later.
    try connection.receive(
      Frames.request(1, "Immediate", "h", timeout: 1), Frames.request(3, "Slow", "5"),
      Frames.request(5, "Immediate", "h", timeout: 5_000_000),
      Frames.request(7, "Immediate", "h", timeout: 5_000_001),
      Frames.request(9, "Slow", "20"), Frames.request(11, "Immediate", "h", timeout: 20_000_000),
      Frames.request(13, "Immediate", "h", timeout: 25_000_001),
      Frames.request(15, "Immediate", "h", timeout: 1_000_000_000),
      Frames.request(17, "Immediate", "h"))
    #expect(
      try connection.sent() == [
        "1 OK h", "3 OK 5", "5 DEADLINE_EXCEEDED", "7 OK h", "9 OK 20", "11 DEADLINE_EXCEEDED",
        "13 OK h", "15 OK h", "17 OK h",
      ])
  }

  private func randomFrame(using generator: inout SeededRandom) -> ByteBuffer {
    let stream = UInt32.random(in: 1...12, using: &generator)
    let payload = [
      "h", "hand", "h0", "h5", "h300", "h16384", "h16385", "h70000", "s8", "s300", "s16384",
      "s16385", "s70000", "", "other",
    ].randomElement(using: &generator)!
    switch Int.random(in: 0..<16, using: &generator) {
    case 0: return Frames.request(stream, "Hold", payload)
    case 1: return Frames.request(stream, "Fail")
    case 2: return Frames.frame(stream, .data, data: ByteBuffer(string: payload))
    case 3: return Frames.request(stream, "None", payload)
    case 4: return Frames.request(stream, "Immediate", payload, flags: .remoteOpen)
    case 5: return Frames.request(stream, "Immediate", payload, timeout: -1)
    case 6: return Frames.request(stream, "Immediate", payload, metadata: [("k", "v")])
    case 7: return Frames.frame(stream, .request, data: ByteBuffer(string: payload))
    case 8: return Frames.request(stream, "Count", "3", flags: .remoteClosed)
    case 9: return Frames.request(stream, "Immediate", payload, timeout: 1_000_000_000)
    default: return Frames.request(stream | 1, "Immediate", payload)
    }
  }
}
