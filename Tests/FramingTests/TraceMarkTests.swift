import NIOCore
import Testing

@testable import Framing

@Suite("What an envelope asks for of traces")
struct TraceMarkTests {
  private static let ids = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7"

  private func mark(
    _ metadata: [(key: String, value: String)]
  ) throws -> (envelope: TraceMark, content: TraceMark?) {
    var buffer = ByteBuffer()
    RequestEnvelope.write(
      service: "a.B", method: "C", payload: ByteBuffer(string: "p"), timeoutNanoseconds: 0,
      metadata: metadata, into: &buffer)
    let prefix = RequestEnvelope.prefix(service: "a.B", method: "C")
    let content = buffer.withUnsafeReadableBytes {
      RequestEnvelope.content(of: $0, after: prefix)?.trace
    }
    return (try RequestEnvelope(decoding: buffer).trace, content)
  }

  @Test("The last digit of the flags decides, on both paths")
  func digits() throws {
    for digit in "0123456789abcdef" {
      let value = try #require(digit.hexDigitValue)
      let expected: TraceMark = value & 1 == 1 ? .sampled : .unsampled
      let mark = try mark([(key: "traceparent", value: "\(Self.ids)-0\(digit)")])
      #expect(mark.envelope == expected)
      #expect(mark.content == expected)
    }
  }

  @Test("Other keys and values ask for nothing")
  func others() throws {
    let sampled = "\(Self.ids)-01"
    let rows: [([(key: String, value: String)], TraceMark)] = [
      ([], .none), ([(key: "tracestate", value: sampled)], .none),
      ([(key: "Traceparent", value: sampled)], .none),
      ([(key: "traceparenx", value: sampled)], .none), ([(key: "", value: "")], .none),
      ([(key: "traceparent", value: "")], .unsampled),
      ([(key: "traceparent", value: "\(Self.ids)-0")], .unsampled),
      ([(key: "traceparent", value: "\(Self.ids)-0F")], .unsampled),
      (
        [
          (key: "authorization", value: "x"), (key: "traceparent", value: sampled),
          (key: "traceparent", value: "\(Self.ids)-00"),
        ], .sampled
      ),
    ]
    for (metadata, expected) in rows {
      let mark = try mark(metadata)
      #expect(mark.envelope == expected, "\(metadata)")
      #expect(mark.content == expected, "\(metadata)")
    }
  }
}
