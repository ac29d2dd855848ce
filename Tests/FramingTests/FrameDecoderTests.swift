import Framing
import NIOCore
import TestSupport
import Testing
import Wire

@Suite("Frame decoding")
struct FrameDecoderTests {
  private static func frame(
    _ data: [UInt8], stream: UInt32 = 1, type: FrameType = .request, flags: FrameFlags = []
  ) -> Frame {
    Frame(
      header: FrameHeader(
        dataLength: UInt32(data.count), streamID: StreamID(rawValue: stream), type: type,
        flags: flags),
      data: ByteBuffer(bytes: data))
  }

  private static func encoded(_ frames: [Frame]) -> ByteBuffer {
    var buffer = ByteBuffer()
    for frame in frames {
      FrameEncoder.writeHeader(frame.header, into: &buffer)
      buffer.writeImmutableBuffer(frame.data)
    }
    return buffer
  }

  private static func decodeAll(_ decoder: inout FrameDecoder) -> [DecodedFrame] {
    var all: [DecodedFrame] = []
    while let decoded = decoder.next() {
      all.append(decoded)
    }
    decoder.compact()
    return all
  }

  private static let frames = [
    frame([1, 2, 3]),
    frame([], stream: 4_294_967_295, type: .data, flags: [.remoteClosed, .noData]),
    frame(Array(repeating: 7, count: 300), stream: 3, type: FrameType(rawValue: 200)),
    frame([9], stream: 0, type: .response, flags: FrameFlags(rawValue: 0xFF)),
  ]

  @Test("The header is ten bytes, big-endian")
  func headerLayout() {
    let header = FrameHeader(
      dataLength: 0x0001_0203, streamID: StreamID(rawValue: 0x0405_0607), type: .data,
      flags: [.remoteClosed, .noData])
    var buffer = ByteBuffer()
    FrameEncoder.writeHeader(header, into: &buffer)
    #expect(Array(buffer.readableBytesView) == [0, 1, 2, 3, 4, 5, 6, 7, 3, 5])
  }

  @Test("Frames that arrive together are decoded one by one")
  func together() {
    var decoder = FrameDecoder()
    decoder.append(Self.encoded(Self.frames))
    #expect(Self.decodeAll(&decoder) == Self.frames.map(DecodedFrame.frame))
    #expect(!decoder.hasPartialFrame)
  }

  @Test("Frames that arrive byte by byte are decoded equally")
  func byteByByte() {
    var decoder = FrameDecoder()
    var decoded: [DecodedFrame] = []
    for byte in Self.encoded(Self.frames).readableBytesView {
      decoder.append(ByteBuffer(bytes: [byte]))
      decoded += Self.decodeAll(&decoder)
    }
    #expect(decoded == Self.frames.map(DecodedFrame.frame))
  }

  @Test("Frames that arrive in random pieces are decoded equally")
  func randomPieces() {
    var random = SeededRandom(for: "random pieces")
    for _ in 0..<200 {
      let frames = (0..<Int.random(in: 1...8, using: &random)).map { _ in
        Self.frame(random.bytes(upTo: 500), stream: UInt32.random(in: 0...9, using: &random))
      }
      var rest = Self.encoded(frames)
      var decoder = FrameDecoder()
      var decoded: [DecodedFrame] = []
      while rest.readableBytes > 0 {
        let count = Int.random(in: 1...min(700, rest.readableBytes), using: &random)
        if let piece = rest.readSlice(length: count) {
          decoder.append(piece)
        }
        // Some pieces are decoded together.
        if Bool.random(using: &random) {
          decoded += Self.decodeAll(&decoder)
        }
      }
      decoded += Self.decodeAll(&decoder)
      #expect(decoded == frames.map(DecodedFrame.frame))
    }
  }

  @Test("A truncated frame is not decoded")
  func truncated() {
    let whole = Self.encoded([Self.frame([1, 2, 3, 4, 5])])
    for length in 0..<whole.readableBytes {
      var decoder = FrameDecoder()
      if let start = whole.getSlice(at: 0, length: length) {
        decoder.append(start)
      }
      #expect(decoder.next() == nil)
      decoder.compact()
      #expect(decoder.hasPartialFrame == (length > 0))
    }
  }

  @Test("An incomplete frame can be given up: its rest is skipped, and the next frames are decoded")
  func dropped() {
    let long = Self.frame(Array(repeating: 7, count: 3_000))
    let bytes = Self.encoded([long] + Self.frames)
    for length in [0, 9, 10, 11, 1_000, 3_009, 3_010] {
      var decoder = FrameDecoder()
      decoder.append(ByteBuffer(bytes: bytes.readableBytesView.prefix(length)))
      let isIncomplete = (10..<3_010).contains(length)
      if isIncomplete {
        #expect(decoder.next() == nil)
        decoder.compact()
      }
      #expect(decoder.dropPartialFrame() == (isIncomplete ? long.header : nil), "\(length)")
      #expect(decoder.dropPartialFrame() == nil)
      if isIncomplete { #expect(decoder.bufferedBytes == 0) }
      decoder.append(ByteBuffer(bytes: bytes.readableBytesView.dropFirst(length)))
      let expected = (isIncomplete ? [] : [long]) + Self.frames
      #expect(Self.decodeAll(&decoder) == expected.map(DecodedFrame.frame))
    }
  }

  @Test("The longest frame passes")
  func longest() {
    let data = [UInt8](repeating: 1, count: RPCLimits.maximumFrameData)
    var decoder = FrameDecoder()
    decoder.append(Self.encoded([Self.frame(data, type: .data)]))
    #expect(decoder.next() == .frame(Self.frame(data, type: .data)))
  }

  @Test(
    "A frame that is too long is reported and skipped, and the next one is decoded",
    arguments: [RPCLimits.maximumFrameData + 1, RPCLimits.maximumSkippedData], [1000, 1_000_003])
  func oversized(length: Int, pieceLength: Int) {
    let header = FrameHeader(
      dataLength: UInt32(length), streamID: StreamID(rawValue: 5), type: .request)
    var head = ByteBuffer()
    FrameEncoder.writeHeader(header, into: &head)
    var decoder = FrameDecoder()
    decoder.append(head)
    #expect(Self.decodeAll(&decoder) == [.oversized(header)])
    #expect(decoder.hasPartialFrame)
    var left = length
    while left > pieceLength {
      decoder.append(ByteBuffer(repeating: 0xEE, count: pieceLength))
      #expect(Self.decodeAll(&decoder) == [])
      left -= pieceLength
    }
    var last = ByteBuffer(repeating: 0xEE, count: left)
    last.writeImmutableBuffer(Self.encoded(Self.frames))
    decoder.append(last)
    #expect(Self.decodeAll(&decoder) == Self.frames.map(DecodedFrame.frame))
  }

  /// A frame whose data begins with the given bytes, followed by zeros, which no request contains.
  private static func long(
    _ beginning: [UInt8], _ type: FrameType = .request, length: Int = 1_000_000
  ) -> (header: FrameHeader, bytes: ByteBuffer) {
    let header = FrameHeader(
      dataLength: UInt32(length), streamID: StreamID(rawValue: 5), type: type)
    var bytes = ByteBuffer()
    FrameEncoder.writeHeader(header, into: &bytes)
    bytes.writeBytes(beginning)
    bytes.writeRepeatingByte(0, count: length - beginning.count)
    return (header, bytes)
  }

  private static let misread: [(beginning: [UInt8], code: WireError.Code)] = [
    (Array(repeating: 0xFF, count: 10), .overlongNumber), ([0], .wrongWireType),
    ([0x08], .wrongWireType), ([0x0A, 1, 0xFF], .notUTF8),
    (Array(repeating: [0x2A, 0], count: 200).flatMap(\.self), .tooMuchMetadata),
  ]

  @Test(
    "A long request with malformed first bytes is reported early and skipped",
    arguments: misread, [1, 1000, 700_000])
  func malformed(_ sample: (beginning: [UInt8], code: WireError.Code), pieceLength: Int) {
    let long = Self.long(sample.beginning)
    var bytes = long.bytes
    let needed = FrameHeader.encodedSize + RPCLimits.earlyCheckLength
    bytes.writeImmutableBuffer(Self.encoded(Self.frames))
    var decoder = FrameDecoder()
    var received = 0
    while received < needed {
      #expect(Self.decodeAll(&decoder) == [])
      let piece = bytes.readSlice(length: min(pieceLength, needed))!
      received += piece.readableBytes
      decoder.append(piece)
    }
    guard case .malformed(long.header, let error) = decoder.next() else {
      Issue.record("\(sample.code) is not seen")
      return
    }
    #expect(error.code == sample.code)
    #expect(Self.decodeAll(&decoder) == [])
    #expect(decoder.hasPartialFrame)
    #expect(decoder.isEmpty)
    decoder.append(bytes)
    #expect(Self.decodeAll(&decoder) == Self.frames.map(DecodedFrame.frame))
  }

  @Test("The first bytes of other frames and of short requests are not checked")
  func notLookedAt() throws {
    let bad = Self.misread[0].beginning
    let samples = [
      Self.long(bad, .data), Self.long(bad, .response),
      Self.long(bad, length: RPCLimits.earlyCheckLength),
    ]
    for sample in samples {
      let header = sample.header
      var bytes = sample.bytes
      let data = try #require(
        bytes.getSlice(at: FrameHeader.encodedSize, length: Int(header.dataLength)))
      let last = try #require(bytes.getSlice(at: bytes.readableBytes - 1, length: 1))
      bytes.moveWriterIndex(to: bytes.writerIndex - 1)
      var decoder = FrameDecoder()
      decoder.append(bytes)
      #expect(Self.decodeAll(&decoder) == [])
      decoder.append(last)
      #expect(Self.decodeAll(&decoder) == [.frame(Frame(header: header, data: data))])
    }
  }

  @Test("Malformed first bytes are reported in any fragmentation, and takeFrames stops at them")
  func malformedTogether() throws {
    for sample in Self.misread {
      let (header, bytes) = Self.long(sample.beginning)
      let before = Self.frame([1])
      var all = Self.encoded([before])
      all.writeImmutableBuffer(bytes)
      all.writeImmutableBuffer(Self.encoded(Self.frames))
      var decoder = FrameDecoder()
      decoder.append(all)
      var taken: [FrameHeader] = []
      decoder.takeFrames { header, _ in
        taken.append(header)
        return true
      }
      #expect(taken == [before.header])
      let error = WireError(
        sample.code, sample.code == .tooMuchMetadata ? "Request.metadata" : "Request")
      #expect(
        Self.decodeAll(&decoder)
          == [.malformed(header, error)] + Self.frames.map(DecodedFrame.frame))
    }
  }

  @Test("A well-formed long request is not refused for its first bytes")
  func longRequests() {
    var random = SeededRandom(for: "long requests")
    for _ in 0..<60 {
      func text(upTo count: Int) -> String {
        String(decoding: random.bytes(upTo: count), as: UTF8.self)
      }
      var data = ByteBuffer()
      while data.readableBytes <= RPCLimits.earlyCheckLength {
        RequestEnvelope.write(
          service: text(upTo: 2_000), method: text(upTo: 2_000),
          payload: ByteBuffer(bytes: random.bytes(upTo: 3_000)),
          timeoutNanoseconds: .random(in: .min ... .max, using: &random),
          metadata: (0..<Int.random(in: 0...9, using: &random)).map { _ in
            (text(upTo: 300), text(upTo: 300))
          }, into: &data)
      }
      let frame = Self.frame(Array(data.readableBytesView))
      var bytes = Self.encoded([frame])
      var decoder = FrameDecoder()
      var decoded: [DecodedFrame] = []
      while bytes.readableBytes > 0 {
        let count = Int.random(in: 1...min(bytes.readableBytes, 3_000), using: &random)
        decoder.append(bytes.readSlice(length: count)!)
        decoded += Self.decodeAll(&decoder)
      }
      #expect(decoded == [.frame(frame)], "seed \(random.seed)")
    }
  }

  @Test(
    "Nothing is decoded after a length that is too large to skip",
    arguments: [RPCLimits.maximumSkippedData + 1, Int(UInt32.max)])
  func unskippable(length: Int) {
    let header = FrameHeader(
      dataLength: UInt32(length), streamID: StreamID(rawValue: 5), type: .request)
    var bytes = ByteBuffer()
    FrameEncoder.writeHeader(header, into: &bytes)
    bytes.writeImmutableBuffer(Self.encoded(Self.frames))
    var decoder = FrameDecoder()
    decoder.append(bytes)
    #expect(Self.decodeAll(&decoder) == [.unskippable(header)])
    decoder.append(Self.encoded(Self.frames))
    #expect(Self.decodeAll(&decoder) == [])
    #expect(!decoder.hasPartialFrame)
  }

  @Test("Random bytes never trap, and give the same frames in any fragmentation")
  func randomBytes() {
    var random = SeededRandom(for: "random bytes")
    for _ in 0..<500 {
      var bytes = random.bytes(upTo: 200)
      // Short lengths, so that more than the first header is decoded.
      for index in stride(from: 0, to: bytes.count, by: 12) {
        bytes[index] = 0
      }
      var whole = FrameDecoder()
      whole.append(ByteBuffer(bytes: bytes))
      let expected = Self.decodeAll(&whole)
      var cut = FrameDecoder()
      var decoded: [DecodedFrame] = []
      for byte in bytes {
        cut.append(ByteBuffer(bytes: [byte]))
        decoded += Self.decodeAll(&cut)
      }
      #expect(decoded == expected)
    }
  }

  @Test("takeFrames and next give the same frames in any fragmentation")
  func taken() {
    var generator = SeededRandom(for: "taken frames")
    for _ in 0..<2_000 {
      var frames: [Frame] = []
      for _ in 0..<Int.random(in: 1..<8, using: &generator) {
        frames.append(
          Self.frame(generator.bytes(upTo: 60), stream: .random(in: 0...9, using: &generator)))
      }
      var bytes = Self.encoded(frames)
      var expected = frames.map(DecodedFrame.frame)
      if Bool.random(using: &generator) {
        let header = FrameHeader(
          dataLength: UInt32(
            [RPCLimits.maximumFrameData + 1, RPCLimits.maximumSkippedData + 1].randomElement(
              using: &generator)!),
          streamID: StreamID(rawValue: 1), type: .request)
        FrameEncoder.writeHeader(header, into: &bytes)
        bytes.writeBytes([1, 2, 3])
        expected.append(
          header.dataLength > RPCLimits.maximumSkippedData
            ? .unskippable(header) : .oversized(header))
      }
      var decoder = FrameDecoder()
      var seen: [DecodedFrame] = []
      while bytes.readableBytes > 0 {
        decoder.append(
          bytes.readSlice(length: Int.random(in: 1...bytes.readableBytes, using: &generator))!)
        var isStopped = false
        while !isStopped {
          // Takes some frames, and leaves the next one to next().
          var taken = Int.random(in: 0..<3, using: &generator)
          decoder.takeFrames { header, data in
            guard taken > 0 else { return false }
            taken -= 1
            seen.append(.frame(Frame(header: header, data: ByteBuffer(bytes: data))))
            return true
          }
          if let next = decoder.next() { seen.append(next) } else { isStopped = true }
        }
        decoder.compact()
      }
      #expect(seen == expected, "seed \(generator.seed)")
    }
  }
}
