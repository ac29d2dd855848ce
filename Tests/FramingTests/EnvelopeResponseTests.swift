import Framing
import NIOCore
import TestSupport
import Testing
import Wire

@Suite("Response envelopes and statuses")
struct EnvelopeResponseTests {
  private static let status = RPCStatus(
    .invalidArgument, "bad é",
    errorInfo: RPCStatus.ErrorInfo(
      reason: "SLOW_READER", domain: "entitle", metadata: ["cursor": "42", "a": ""]),
    retryDelay: .milliseconds(1250),
    fieldViolations: [
      RPCStatus.FieldViolation(field: "selector", description: "missing"),
      RPCStatus.FieldViolation(field: "at", description: ""),
    ])

  /// The envelope in the one response frame that `write` produces.
  private static func data(_ write: (inout ByteBuffer) -> Void) throws -> ByteBuffer {
    var buffer = ByteBuffer()
    write(&buffer)
    var decoder = FrameDecoder()
    decoder.append(buffer)
    guard case .frame(let frame)? = decoder.next() else {
      Issue.record("not a frame")
      return ByteBuffer()
    }
    #expect(!decoder.hasPartialFrame)
    #expect(frame.header.type == .response)
    #expect(frame.header.streamID == StreamID(rawValue: 7))
    return frame.data
  }

  private static func failure(_ status: RPCStatus) throws -> ByteBuffer {
    try data {
      FrameEncoder.writeResponse(streamID: StreamID(rawValue: 7), status: status, into: &$0)
    }
  }

  @Test("A status keeps its details", arguments: RPCCode.allCases.filter { $0 != .ok })
  func statusRoundTrip(code: RPCCode) throws {
    var status = Self.status
    status.code = code
    let response = try ResponseEnvelope(decoding: Self.failure(status))
    #expect(response == ResponseEnvelope(status: status))
  }

  @Test("A plain status has the bytes of google.rpc.Status")
  func knownBytes() throws {
    let data = try Self.failure(RPCStatus(.notFound, "no"))
    #expect(Array(data.readableBytesView) == [0x0A, 6, 0x08, 5, 0x12, 2, 0x6E, 0x6F])
  }

  @Test("A retry delay has the bytes of google.rpc.RetryInfo in an Any")
  func knownRetryInfo() throws {
    let data = try Self.failure(RPCStatus(.unavailable, retryDelay: .seconds(1)))
    let url = Array("type.googleapis.com/google.rpc.RetryInfo".utf8)
    let any = [0x0A, UInt8(url.count)] + url + [0x12, 4, 0x0A, 2, 0x08, 1]
    let status = [0x08, 14, 0x1A, UInt8(any.count)] + any
    #expect(Array(data.readableBytesView) == [0x0A, UInt8(status.count)] + status)
  }

  @Test("A success omits the status", arguments: [0, 1, 127, 128, 20_000])
  func success(length: Int) throws {
    let payload = ByteBuffer(repeating: 3, count: length)
    let data = try Self.data {
      FrameEncoder.writeResponsePrefix(
        streamID: StreamID(rawValue: 7), payloadLength: length, into: &$0)
      $0.writeImmutableBuffer(payload)
    }
    #expect(data.readableBytes == FrameEncoder.responseDataLength(payloadLength: length))
    #expect(try ResponseEnvelope(decoding: data) == ResponseEnvelope(payload: payload))
  }

  @Test("A status too large for a frame loses its details, not its code")
  func hugeStatus() throws {
    let status = RPCStatus(.internal, String(repeating: "x", count: RPCLimits.maximumFrameData))
    let response = try ResponseEnvelope(decoding: Self.failure(status))
    #expect(response.status == RPCStatus(.internal))
  }

  @Test("An unknown code is UNKNOWN, an unknown detail is skipped", arguments: [17, 300, -1])
  func foreignStatus(code: Int64) throws {
    var status = ByteBuffer(bytes: [0x08])
    var rest = UInt64(bitPattern: code)
    while rest >= 0x80 {
      status.writeInteger(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    status.writeInteger(UInt8(rest))
    status.writeBytes([0x1A, 6, 0x0A, 1, 0x78, 0x12, 1, 0xFF])
    var response = ByteBuffer(bytes: [0x0A, UInt8(status.readableBytes)])
    response.writeImmutableBuffer(status)
    #expect(try ResponseEnvelope(decoding: response).status == RPCStatus(.unknown))
  }

  @Test("Truncated, random and mutated responses never trap")
  func random() throws {
    var random = SeededRandom(for: "random responses")
    let template = Array(try Self.failure(Self.status).readableBytesView)
    for length in 0..<template.count {
      _ = try? ResponseEnvelope(decoding: ByteBuffer(bytes: template[..<length]))
    }
    for _ in 0..<20_000 {
      var bytes = Bool.random(using: &random) ? template : random.bytes(upTo: 40)
      for _ in 0..<Int.random(in: 0...4, using: &random) where !bytes.isEmpty {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(
          in: .min ... .max, using: &random)
      }
      _ = try? ResponseEnvelope(decoding: ByteBuffer(bytes: bytes))
    }
  }
}
