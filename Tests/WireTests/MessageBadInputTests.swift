import EntitlementDomain
import NIOCore
import Testing

import TestSupport

@testable import Wire

@Suite("Malformed messages")
struct MessageBadInputTests {
  @Test(
    "A message cut inside a field is malformed; one cut between fields is read or incomplete",
    arguments: MessageSample.all)
  func truncation(sample: MessageSample) throws {
    let whole = try sample.encoded()
    let boundaries = fieldBoundaries(Array(whole.readableBytesView))
    for length in 0..<whole.readableBytes {
      let cut = ByteBuffer(whole.readableBytesView.prefix(length))
      do {
        _ = try sample.decode(cut)
        #expect(boundaries.contains(length), "cut at \(length), inside a field")
      } catch {
        #expect(
          error.code == (boundaries.contains(length) ? .invalid : .malformed), "cut at \(length)")
      }
    }
  }

  @Test(
    "A field with a wrong wire type is refused by name, for each field of each message",
    arguments: MessageSample.all)
  func wrongWireTypes(sample: MessageSample) throws {
    let fields = try #require(MessageProtos().messages[sample.messageName])
    let names = Dictionary(uniqueKeysWithValues: fields.map { ($0.number, $0.name) })
    let whole = try MessageBytes().raw(Array(sample.encoded().readableBytesView))
    for number in Set(1...32).union(names.keys) {
      // Protos has no fixed-width fields of four bytes.
      let bytes = whole.tag(UInt64(number), 5).raw([1, 2, 3, 4])
      if let name = names[number] {
        let error = #expect(throws: MessageError.self) { try sample.decode(bytes.buffer) }
        #expect(error?.fault == .wrongWireType(field: name))
      } else {
        #expect(try sample.decode(bytes.buffer), "field \(number) is not known")
      }
    }
  }

  @Test("Random bytes do no harm", arguments: MessageSample.all)
  func randomBytes(sample: MessageSample) {
    var generator = SeededRandom(for: "random bytes, \(sample.testDescription)")
    for _ in 0..<1_000 {
      _ = try? sample.decode(ByteBuffer(bytes: generator.bytes(upTo: 64)))
    }
  }

  @Test("Messages with random damage do no harm", arguments: MessageSample.all)
  func mutations(sample: MessageSample) throws {
    var generator = SeededRandom(for: "random damage, \(sample.testDescription)")
    let original = try Array(sample.encoded().readableBytesView)
    for _ in 0..<1_000 {
      var bytes = original
      for _ in 0...Int.random(in: 0..<3, using: &generator) {
        damage(&bytes, using: &generator)
      }
      _ = try? sample.decode(ByteBuffer(bytes: bytes))
    }
  }

  @Test("Each kind of malformed bytes has its own error", arguments: malformedBytes)
  func malformed(bytes: MessageBytes, fault: MessageFault) {
    #expect(throws: MessageError(fault, in: "entitle.v1.GetCustomerStateRequest")) {
      try GetCustomerStateRequest.decode(from: bytes.buffer)
    }
  }

  /// Field 1 is a message, 2 a text, 3 an enumeration, 6 a number.
  static let malformedBytes: [(MessageBytes, MessageFault)] = [
    (MessageBytes().raw([0x80]), .truncated),
    (MessageBytes().tag(6, 0), .truncated),
    (MessageBytes().tag(6, 0).raw([0xff]), .truncated),
    (MessageBytes().tag(2, 2).number(4).raw([97, 98, 99]), .truncated),
    (MessageBytes().tag(2, 2).number(.max), .truncated),
    (MessageBytes().tag(99, 1).raw([1, 2, 3, 4, 5, 6, 7]), .truncated),
    (MessageBytes().tag(99, 5).raw([1, 2, 3]), .truncated),
    (MessageBytes().raw([UInt8](repeating: 0xff, count: 11)), .overlongNumber),
    (MessageBytes().tag(6, 0).raw([UInt8](repeating: 0x80, count: 10) + [0]), .overlongNumber),
    (MessageBytes().raw([0x00, 0x00]), .invalidFieldNumber),
    (MessageBytes().tag(1 << 29, 0).raw([0]), .invalidFieldNumber),
    (MessageBytes().tag(2, 6), .invalidWireType),
    (MessageBytes().tag(99, 7), .invalidWireType),
    (MessageBytes().tag(1, 3).tag(1, 4), .group),
    (MessageBytes().tag(99, 3).tag(99, 4), .group),
    (MessageBytes().tag(2, 4), .group),
    (MessageBytes().field(2, number: 1), .wrongWireType(field: "bundle_id")),
    (MessageBytes().tag(2, 5).raw([1, 2, 3, 4]), .wrongWireType(field: "bundle_id")),
    (MessageBytes().field(6, text: "a"), .wrongWireType(field: "if_revision_differs")),
    (
      MessageBytes().tag(6, 1).raw([1, 2, 3, 4, 5, 6, 7, 8]),
      .wrongWireType(field: "if_revision_differs")
    ),
    (MessageBytes().field(3, text: "1"), .wrongWireType(field: "environment")),
    (MessageBytes().field(1, number: 1), .wrongWireType(field: "customer")),
    (MessageBytes().field(2, text: "a\0b"), .nullInText(field: "bundle_id")),
    (MessageBytes().field(2, text: "\0"), .nullInText(field: "bundle_id")),
    (MessageBytes().field(2, bytes: [0xff]), .invalidText(field: "bundle_id")),
    (
      MessageBytes().field(2, bytes: Array("sixteen bytes or".utf8) + [0xc3]),
      .invalidText(field: "bundle_id")
    ),
    (MessageBytes().field(2, bytes: [0xc0, 0xaf]), .invalidText(field: "bundle_id")),
    (MessageBytes().field(2, bytes: [0xed, 0xa0, 0x80]), .invalidText(field: "bundle_id")),
    (
      MessageBytes().field(2, bytes: [0xf4, 0x90, 0x80, 0x80]), .invalidText(field: "bundle_id")
    ),
  ]

  @Test("An error inside a nested message names that message")
  func nestedError() {
    let bytes = MessageBytes().field(1, message: MessageBytes().field(1, bytes: [0x80]))
    #expect(
      throws: MessageError(.invalidText(field: "account_id"), in: "entitle.v1.CustomerSelector")
    ) {
      try GetCustomerStateRequest.decode(from: bytes.buffer)
    }
  }

  @Test("The text of an error contains no value that was sent")
  func errorText() throws {
    let bytes = MessageBytes().field(2, text: "secret\0")
    let error = #expect(throws: MessageError.self) {
      try GetCustomerStateRequest.decode(from: bytes.buffer)
    }
    #expect(
      error?.description == "entitle.v1.GetCustomerStateRequest: bundle_id contains a NUL")
  }

  @Test("Unknown fields are skipped")
  func unknownFields() throws {
    let request = GetCustomerStateRequest(
      customer: .account("a"), scope: MessageSample.scope)
    let known = try Array(request.encoded().readableBytesView)
    let bytes = MessageBytes().raw(known).field(99, number: 1).field(100, bytes: [0xff, 0x00])
      .tag(101, 1).raw([UInt8](repeating: 0, count: 8)).tag(102, 5).raw([0, 0, 0, 0])
    #expect(try GetCustomerStateRequest.decode(from: bytes.buffer) == request)
  }

  @Test("Of duplicate texts and oneof members the last one counts")
  func lastStands() throws {
    let selector = MessageBytes().field(1, text: "first").field(3, text: "second")
    let bytes = MessageBytes().field(1, message: selector).field(2, text: "x").field(2, text: "y")
    let request = try GetCustomerStateRequest.decode(from: bytes.buffer)
    #expect(request.customer == .transaction("second"))
    #expect(request.scope.bundleID == "y")
  }

  @Test("Lists of numbers may be packed or not; a truncated packed list is refused")
  func packedNumbers() throws {
    let packed = MessageBytes().field(7, bytes: [1, 2])
    let single = MessageBytes().field(7, number: 1).field(7, number: 2)
    for list in [packed, single] {
      let state = MessageBytes().field(1, text: "a").field(6, number: 1).raw(list.bytes)
      let bytes = MessageBytes().field(1, message: state)
      let response = try GetCustomerStateResponse.decode(from: bytes.buffer)
      guard case .state(let state) = response else {
        Issue.record("not a state")
        continue
      }
      #expect(state.callsToAction == [.none, .merchandise])
    }
    let cut = MessageBytes().field(1, message: MessageBytes().field(7, bytes: [1, 0x80]))
    #expect(throws: MessageError(.truncated, in: "entitle.v1.CustomerState")) {
      try GetCustomerStateResponse.decode(from: cut.buffer)
    }
  }

  @Test("No message of Protos nests deeper than the limit, and none is recursive")
  func nestingOfProtos() throws {
    let protos = try MessageProtos()
    #expect(protos.depth(of: "BatchGetCustomerStateResponse", limit: 32) == 6)
    #expect(protos.depth(of: "WatchCustomerStatesResponse", limit: 32) == 6)
    for message in protos.messages.keys {
      #expect(protos.depth(of: message, limit: 32) <= MessageLimits.nestingDepth, "\(message)")
    }
  }

  @Test("A message nested deeper than the limit is refused")
  func nesting() throws {
    let bytes = try GetCustomerStateResponse.state(.full).encoded()
    let descriptor = GetCustomerStateResponse.shape.descriptor
    bytes.withUnsafeReadableBytes { bytes in
      var atLimit = MessageChecker(nestingLimit: 5)
      #expect(throws: Never.self) { try atLimit.check(bytes, descriptor: descriptor) }
      var underLimit = MessageChecker(nestingLimit: 4)
      let error = #expect(throws: MessageError.self) {
        try underLimit.check(bytes, descriptor: descriptor)
      }
      #expect(error?.fault == .nestedTooDeep)
    }
  }

  @Test("Ten thousand levels of an unknown field do no harm")
  func deepUnknownNesting() throws {
    var inner = MessageBytes()
    for _ in 0..<10_000 { inner = MessageBytes().field(99, message: inner) }
    #expect(
      throws: MessageError(.missing(field: "customer"), in: "entitle.v1.GetCustomerStateRequest")
    ) {
      try GetCustomerStateRequest.decode(from: inner.buffer)
    }
  }

  /// The boundaries of the fields of the outer message; the bytes must be valid.
  private func fieldBoundaries(_ bytes: [UInt8]) -> Set<Int> {
    var boundaries: Set<Int> = [0]
    var offset = 0
    func number() -> Int {
      var value = 0
      var shift = 0
      while true {
        let byte = bytes[offset]
        offset += 1
        if shift < 63 { value |= Int(byte & 0x7f) << shift }
        shift += 7
        if byte < 0x80 { return value }
      }
    }
    while offset < bytes.count {
      let tag = number()
      let value = number()
      if tag & 7 == 2 { offset += value }
      boundaries.insert(offset)
    }
    return boundaries
  }

  private func damage(_ bytes: inout [UInt8], using generator: inout SeededRandom) {
    let byte = UInt8.random(in: .min ... .max, using: &generator)
    guard let index = bytes.indices.randomElement(using: &generator) else {
      bytes.append(byte)
      return
    }
    switch Int.random(in: 0..<5, using: &generator) {
    case 0: bytes[index] = byte
    case 1: bytes[index] ^= 1 << (byte & 7)
    case 2: bytes.remove(at: index)
    case 3: bytes.insert(byte, at: index)
    default:
      // Repeats a range of bytes, so that fields occur twice.
      let end = min(bytes.count, index + Int(byte & 31))
      bytes.insert(contentsOf: bytes[index..<end], at: end)
    }
  }
}
