import Framing
import NIOCore
import TestSupport
import Testing
import Wire

@Suite("Request envelopes")
struct EnvelopeRequestTests {
  private static func encoded(
    service: String = "entitle.v1.EntitlementService", method: String = "GetCustomerState",
    payload: [UInt8] = [1, 2, 3], timeout: Int64 = 0,
    metadata: [(key: String, value: String)] = []
  ) -> ByteBuffer {
    var buffer = ByteBuffer()
    RequestEnvelope.write(
      service: service, method: method, payload: ByteBuffer(bytes: payload),
      timeoutNanoseconds: timeout, metadata: metadata, into: &buffer)
    return buffer
  }

  @Test("An envelope survives encoding and decoding")
  func roundTrip() throws {
    let bytes = Self.encoded(
      timeout: 1_500_000_000,
      metadata: [("authorization", "Bearer é"), ("k", ""), ("authorization", "second")])
    let request = try RequestEnvelope(decoding: bytes)
    #expect(request.service == "entitle.v1.EntitlementService")
    #expect(request.method == "GetCustomerState")
    #expect(request.payload == ByteBuffer(bytes: [1, 2, 3]))
    #expect(request.timeoutNanoseconds == 1_500_000_000)
    #expect(request.metadata.count == 3)
    #expect(request.metadata["authorization"] == ["Bearer é", "second"])
    #expect(request.metadata["k"] == [""])
    #expect(request.metadata["Authorization"] == [])
  }

  @Test("The bytes are those of ttrpc's Request")
  func knownBytes() throws {
    let bytes: [UInt8] = [
      0x0A, 1, 0x73, 0x12, 1, 0x6D, 0x1A, 2, 0xFF, 0x00,
      0x20, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01,
      0x2A, 6, 0x0A, 1, 0x6B, 0x12, 1, 0x76,
    ]
    let request = try RequestEnvelope(decoding: ByteBuffer(bytes: bytes))
    #expect(request.service == "s")
    #expect(request.method == "m")
    #expect(request.payload == ByteBuffer(bytes: [0xFF, 0x00]))
    #expect(request.timeoutNanoseconds == -1)
    #expect(request.metadata["k"] == ["v"])
    let written = Self.encoded(
      service: "s", method: "m", payload: [0xFF, 0x00], timeout: -1, metadata: [("k", "v")])
    #expect(Array(written.readableBytesView) == bytes)
  }

  @Test("An empty envelope has empty fields")
  func empty() throws {
    let request = try RequestEnvelope(decoding: ByteBuffer())
    #expect(request.service == "")
    #expect(request.method == "")
    #expect(request.payload.readableBytes == 0)
    #expect(request.timeoutNanoseconds == 0)
    #expect(request.metadata.isEmpty)
  }

  @Test("Unknown fields are skipped, and the last value of a repeated field applies")
  func unknownAndRepeated() throws {
    var bytes = ByteBuffer(bytes: [
      0x30, 0x96, 0x01,  // field 6, varint
      0x39, 1, 2, 3, 4, 5, 6, 7, 8,  // field 7, fixed64
      0x42, 2, 0xFF, 0xFF,  // field 8, bytes
      0x4D, 1, 2, 3, 4,  // field 9, fixed32
      0x0A, 1, 0x61,
    ])
    bytes.writeImmutableBuffer(Self.encoded(service: "b"))
    let request = try RequestEnvelope(decoding: bytes)
    #expect(request.service == "b")
    #expect(request.method == "GetCustomerState")
  }

  @Test("An envelope inside a larger buffer is read from its own start")
  func slice() throws {
    let bytes = Self.encoded(metadata: [("k", "v")])
    var buffer = ByteBuffer(bytes: [9, 9, 9])
    buffer.writeImmutableBuffer(bytes)
    buffer.moveReaderIndex(forwardBy: 3)
    let request = try RequestEnvelope(decoding: buffer)
    #expect(request.method == "GetCustomerState")
    #expect(request.payload == ByteBuffer(bytes: [1, 2, 3]))
    #expect(request.metadata["k"] == ["v"])
  }

  @Test(
    "Malformed envelopes are refused",
    arguments: [
      ([0x0A, 5, 0x61], .truncated),
      ([0x0A], .truncated),
      ([0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01], .truncated),
      ([0x20, 0x80], .truncated),
      ([0x20, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01], .overlongNumber),
      ([0x39, 1, 2, 3], .truncated),
      ([0x4D, 1], .truncated),
      ([0x2A, 2, 0x0A, 5], .truncated),
      ([0x08, 1], .wrongWireType),
      ([0x0D, 1, 2, 3, 4], .wrongWireType),
      ([0x22, 1, 1], .wrongWireType),
      ([0x28, 1], .wrongWireType),
      ([0x33, 0x34], .wrongWireType),
      ([0x36], .wrongWireType),
      ([0x00, 0x00], .wrongWireType),
      ([0xFA, 0xFF, 0xFF, 0xFF, 0xFF, 0x01, 0], .wrongWireType),
      ([0x0A, 1, 0xFF], .notUTF8),
      ([0x12, 2, 0xC3, 0x28], .notUTF8),
      ([0x0A, 3, 0xED, 0xA0, 0x80], .notUTF8),
      ([0x2A, 3, 0x0A, 1, 0xC0], .notUTF8),
      ([0x2A, 3, 0x12, 1, 0x80], .notUTF8),
    ] as [([UInt8], WireError.Code)])
  func malformed(bytes: [UInt8], code: WireError.Code) {
    let error = #expect(throws: WireError.self) {
      try RequestEnvelope(decoding: ByteBuffer(bytes: bytes))
    }
    #expect(error?.code == code)
  }

  @Test("Metadata is limited in number")
  func tooMuchMetadata() throws {
    let pair = (key: "k", value: "v")
    let limit = RPCLimits.maximumMetadataPairs
    let fitting = Self.encoded(metadata: Array(repeating: pair, count: limit))
    #expect(try RequestEnvelope(decoding: fitting).metadata.pairs.count == limit)
    let error = #expect(throws: WireError.self) {
      try RequestEnvelope(
        decoding: Self.encoded(metadata: Array(repeating: pair, count: limit + 1)))
    }
    #expect(error?.code == .tooMuchMetadata)
  }

  @Test("A truncated envelope is refused, or has complete fields only")
  func truncated() throws {
    let whole = Self.encoded(timeout: 77, metadata: [("key", "value")])
    for length in 0..<whole.readableBytes {
      let bytes = try #require(whole.getSlice(at: 0, length: length))
      guard let request = try? RequestEnvelope(decoding: bytes) else {
        continue
      }
      #expect(["", "entitle.v1.EntitlementService"].contains(request.service))
      #expect(["", "GetCustomerState"].contains(request.method))
      #expect([0, 3].contains(request.payload.readableBytes))
      #expect([0, 77].contains(request.timeoutNanoseconds))
      #expect(request.metadata.isEmpty)
    }
  }

  @Test("Random and mutated bytes never trap")
  func random() {
    var random = SeededRandom(for: "random envelopes")
    let template = Array(
      Self.encoded(timeout: 77, metadata: [("key", "value")]).readableBytesView)
    for _ in 0..<20_000 {
      var bytes = Bool.random(using: &random) ? template : random.bytes(upTo: 40)
      for _ in 0..<Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
        bytes[Int.random(in: 0..<bytes.count, using: &random)] = .random(
          in: .min ... .max, using: &random)
      }
      if let request = try? RequestEnvelope(decoding: ByteBuffer(bytes: bytes)) {
        _ = (request.service, request.method, request.payload)
        #expect(request.metadata.pairs.count == request.metadata.count)
      }
    }
  }

  @Test("Methods are found by their exact names")
  func methodTable() throws {
    let methods = (0..<40).map {
      MethodTable.Method(
        service: "s\($0 % 3)", method: "Method\($0)", kind: $0 % 2 == 0 ? .unary : .serverStreaming)
    }
    let table = MethodTable(methods)
    for (index, method) in methods.enumerated() {
      let request = try RequestEnvelope(
        decoding: Self.encoded(service: method.service, method: method.method))
      #expect(table.index(of: request) == index)
    }
    for (service, method) in [
      ("s0", "Method1"), ("s0", "method0"), ("", ""), ("s0Method0", ""), ("s0", "Method0 "),
    ] {
      let request = try RequestEnvelope(decoding: Self.encoded(service: service, method: method))
      #expect(table.index(of: request) == nil)
    }
  }

  @Test("The content after a known prefix equals the result of decoding the whole envelope")
  func prefixed() throws {
    var generator = SeededRandom(for: "prefixed envelopes")
    let prefix = RequestEnvelope.prefix(
      service: "entitle.v1.EntitlementService", method: "GetCustomerState")
    var found = 0
    for round in 0..<40_000 {
      var whole = Self.encoded(
        payload: generator.bytes(upTo: 200),
        timeout: Bool.random(using: &generator) ? 0 : .random(in: .min ... .max, using: &generator),
        metadata: Array(
          repeating: (key: "k", value: "v"), count: Int.random(in: 0..<3, using: &generator)))
      if Int.random(in: 0..<4, using: &generator) == 0 {
        // A second call after the first: its fields apply.
        whole.writeImmutableBuffer(Self.encoded(method: "Other"))
      }
      var bytes = Array(whole.readableBytesView)
      if Bool.random(using: &generator), let place = bytes.indices.randomElement(using: &generator)
      {
        bytes[place] = .random(in: .min ... .max, using: &generator)
      }
      let buffer = ByteBuffer(bytes: bytes)
      let content = buffer.withUnsafeReadableBytes { bytes in
        RequestEnvelope.content(of: bytes, after: prefix)
          .map { (payload: ByteBuffer(bytes: $0.payload), timeout: $0.timeoutNanoseconds) }
      }
      guard let content else { continue }
      found += 1
      let request = try RequestEnvelope(decoding: buffer)
      #expect(request.service == "entitle.v1.EntitlementService")
      #expect(request.method == "GetCustomerState", "seed \(generator.seed), round \(round)")
      #expect(request.payload == content.payload, "seed \(generator.seed), round \(round)")
      #expect(request.timeoutNanoseconds == content.timeout)
    }
    #expect(found > 1_000)
  }
}
