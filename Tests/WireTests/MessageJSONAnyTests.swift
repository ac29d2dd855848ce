import CConformanceMessages
import NIOCore
import TestSupport
import Testing

@testable import Wire

/// `google.protobuf.Any` as JSON, with messages of the Connect conformance suite: those of the product
/// have none.
@Suite("Any as JSON")
struct MessageJSONAnyTests {
  private static let error = MessageType(initialize: connectrpc__conformance__v1__error__init)
  private static let header = MessageType(initialize: connectrpc__conformance__v1__header__init)
  private static let anyTypes = AnyTypes([error, header])
  private static let prefix = "type.googleapis.com/connectrpc.conformance.v1."

  private static func wire(_ json: String, _ anyTypes: AnyTypes = anyTypes) throws -> ByteBuffer {
    try error.wire(ofJSON: Array(json.utf8), anyTypes: anyTypes)
  }

  private static func json(_ wire: ByteBuffer, _ anyTypes: AnyTypes = anyTypes) throws -> String {
    String(decoding: try error.json(of: wire, anyTypes: anyTypes), as: UTF8.self)
  }

  /// An `Error` with one detail.
  private static func bytes(url: String, value: MessageBytes?) -> ByteBuffer {
    var detail = MessageBytes().field(1, text: url)
    if let value { detail = detail.field(2, bytes: value.bytes) }
    return ByteBuffer(bytes: MessageBytes().field(3, bytes: detail.bytes).bytes)
  }

  @Test("The type is the first member, and the others are those of the message inside")
  func form() throws {
    let json = #"{"details":[{"@type":"\#(Self.prefix)Header","name":"a","value":["b","c"]}]}"#
    let header = MessageBytes().field(1, text: "a").field(2, text: "b").field(2, text: "c")
    let wire = Self.bytes(url: Self.prefix + "Header", value: header)
    #expect(try Self.json(wire) == json)
    #expect(try Self.wire(json) == wire)
    #expect(
      try Self.wire(
        #"{"details":[{"value":["b","c"],"name":"a","@type":"\#(Self.prefix)Header"}]}"#) == wire)
  }

  @Test("An Any in the message of an Any, one without a value, and an empty one have their forms")
  func nested() throws {
    let inner = #"{"@type":"\#(Self.prefix)Header"}"#
    let json =
      #"{"details":[{"@type":"\#(Self.prefix)Error","code":"CODE_ABORTED","details":[\#(inner),{}]}]}"#
    #expect(try Self.json(Self.wire(json)) == json)
    #expect(
      try Self.wire(#"{"details":[\#(inner)]}"#)
        == Self.bytes(url: Self.prefix + "Header", value: nil))
  }

  @Test(
    "JSON of an Any without a known type, or with a member that its message lacks, is refused",
    arguments: [
      (#"{"name":"a"}"#, "details[0]", .unknownType),
      (#"{"@type":1}"#, "details[0]", .unknownType),
      (#"{"@type":"Header"}"#, "details[0]", .unknownType),
      (#"{"@type":"a.example/b.C"}"#, "details[0]", .unknownType),
      (#"{"@type":"a.example/google.protobuf.Any"}"#, "details[0]", .unknownType),
      (#"{"@type":"\#(prefix)Header","typeUrl":"a"}"#, "details[0].typeUrl", .unknownField),
      (
        #"{"@type":"\#(prefix)Header","name":1}"#, "details[0].name",
        .wrongType(expected: "a string")
      ),
    ] as [(String, String, MessageJSONError.Fault)])
  func refused(detail: String, path: String, fault: MessageJSONError.Fault) {
    #expect(throws: MessageJSONError(fault, at: path, in: Self.error)) {
      try Self.wire(#"{"details":[\#(detail)]}"#)
    }
  }

  @Test("A message of an unknown type, or one that cannot be read, is not written")
  func unreadable() throws {
    let known = Self.bytes(url: Self.prefix + "Header", value: MessageBytes().field(1, text: "a"))
    #expect(throws: MessageJSONError(.unknownType, at: "", in: Self.error)) {
      try Self.json(known, .none)
    }
    #expect(throws: MessageJSONError(.unknownType, at: "", in: Self.error)) {
      try Self.json(Self.bytes(url: "", value: MessageBytes().field(1, text: "a")))
    }
    let broken = Self.bytes(url: Self.prefix + "Header", value: MessageBytes().raw([0xFF]))
    #expect(throws: MessageJSONError.self) { try Self.json(broken) }
    #expect(throws: MessageJSONError(.unknownType, at: "details[0]", in: Self.error)) {
      try Self.wire(#"{"details":[{"@type":"\#(Self.prefix)Header"}]}"#, .none)
    }
  }

  @Test("Any in Any has a limit")
  func depth() throws {
    var value = MessageBytes()
    for _ in 0..<100 {
      let detail = MessageBytes().field(1, text: Self.prefix + "Error").field(2, bytes: value.bytes)
      value = MessageBytes().field(3, bytes: detail.bytes)
    }
    #expect(throws: MessageJSONError.self) { try Self.json(ByteBuffer(bytes: value.bytes)) }
    var json = "{}"
    for _ in 0..<30 { json = #"{"@type":"\#(Self.prefix)Error","details":[\#(json)]}"# }
    #expect(throws: MessageJSONError.self) { try Self.wire(#"{"details":[\#(json)]}"#) }
  }
}
