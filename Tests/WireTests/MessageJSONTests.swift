import CEntitleMessages
import EntitlementDomain
import JSON
import NIOCore
import TestSupport
import Testing

@testable import Wire

@Suite("Messages as JSON")
struct MessageJSONTests {
  private static let add = AddGrantRequest(
    grantID: "7c9e6679-7425-40de-944b-e07fc1f90ae7",
    scope: AppScope(bundleID: "com.example.scribe", environment: .sandbox), accountID: "\"émile\"",
    entitlementID: "pro", starts: 0, reason: "an outage\n", onBehalfOf: "support")

  @Test("Names are in lowerCamelCase, 64-bit numbers are strings, absent fields are omitted")
  func form() throws {
    #expect(
      String(decoding: try Self.add.jsonEncoded(), as: UTF8.self)
        == #"{"grantId":"7c9e6679-7425-40de-944b-e07fc1f90ae7","bundleId":"com.example.scribe","#
        + #""environment":"STORE_ENVIRONMENT_SANDBOX","accountId":"\"émile\"","#
        + #""entitlementId":"pro","startsMs":"0","reason":"an outage\n","onBehalfOf":"support"}"#)
  }

  @Test("Every message of Protos is found by its name")
  func types() throws {
    let protos = try MessageProtos()
    let names = MessageType.all.map { type in
      type.name.split(separator: ".").drop { $0.first?.isLowercase == true || $0 == "v1" }
        .joined(separator: ".")
    }
    #expect(Set(names) == Set(protos.messages.keys))
    #expect(names.count == protos.messages.count)
    for type in MessageType.all {
      #expect(MessageType.named(type.name) == type)
      let shape = MessageJSONShape.of(type)
      for field in shape.fields {
        if let message = field.message { #expect(MessageType.all.contains(message)) }
      }
    }
    #expect(MessageType.named("entitle.v1.Nothing") == nil)
    #expect(CustomerState.messageType.name == "entitle.v1.CustomerState")
  }

  @Test("Fields have their kinds, for programs that inspect JSON")
  func fields() throws {
    let fields = Dictionary(uniqueKeysWithValues: MessageType.kinds.fields.map { ($0.name, $0) })
    #expect(fields.count == 32)
    guard case .enumeration(let names) = fields["colours"]?.kind else {
      Issue.record("colours are no enumeration")
      return
    }
    #expect(names == ["COLOUR_BLACK", "COLOUR_UNSPECIFIED", "COLOUR_RED"])
    #expect(fields["colours"]?.isRepeated == true)
    let present = fields.values.filter(\.hasPresence).map(\.name).sorted()
    #expect(
      present == [
        "inner", "inners", "kindsChoice", "numberChoice", "optional2Number", "textChoice",
      ])
  }

  @Test(
    "Names are the same as those of protoc",
    arguments: [
      ("bundle_id", "bundleId"), ("in_app_count", "inAppCount"), ("a__b", "aB"), ("_a", "A"),
      ("text_", "text"), ("value_2_x", "value2X"), ("plain", "plain"), ("a_1", "a1"),
    ])
  func names(name: String, camelCase: String) {
    #expect(MessageJSONField.lowerCamelCase(name) == camelCase)
  }

  @Test("Every message survives a round trip through JSON", arguments: MessageSample.all)
  func samples(sample: MessageSample) throws {
    let type = try #require(sample.type)
    let wire = try sample.encoded()
    #expect(try type.wire(ofJSON: type.json(of: wire)) == wire)
  }

  @Test("Random messages of every type survive a round trip through JSON")
  func randomMessages() throws {
    var generator = SeededRandom(for: "random messages as JSON")
    for type in MessageType.all + [.kinds] {
      for _ in 0..<50 {
        let json = try type.json(of: ByteBuffer(bytes: type.randomWire(using: &generator)))
        let wire = try type.wire(ofJSON: json)
        #expect(try type.json(of: wire) == json)
      }
    }
  }

  @Test(
    "JSON may be written in several ways",
    arguments: [
      #"{"bundle_id":"a","environment":2,"page_size":"7"}"#,
      #"{"bundleId":"a","environment":"STORE_ENVIRONMENT_SANDBOX","pageSize":7}"#,
      #" { "pageSize" : 7.0 , "environment" : 2 , "bundleId" : "\u0061" } "#,
      #"{"pageSize":70e-1,"environment":2e0,"bundleId":"a","pageToken":null}"#,
      #"{"pageSize":"0.7E+1","environment":2,"bundleId":"a","pageToken":""}"#,
    ])
  func spellings(json: String) throws {
    let scope = AppScope(bundleID: "a", environment: .sandbox)
    let request = try ListCustomersRequest.decode(json: Array(json.utf8))
    #expect(request == ListCustomersRequest(scope: scope, pageSize: 7))
  }

  private static let kinds: [(json: String, again: String?)] = [
    (#"{"int32Value":-2147483648,"sint32Value":-1,"sfixed32Value":-2}"#, nil),
    (#"{"int64Value":"-9223372036854775808","sint64Value":"-9223372036854775808"}"#, nil),
    (#"{"sfixed64Value":"-1","uint32Value":4294967295,"fixed32Value":4294967295}"#, nil),
    (#"{"uint64Value":"18446744073709551615","fixed64Value":"18446744073709551615"}"#, nil),
    (#"{"int64Value":1e3}"#, #"{"int64Value":"1000"}"#),
    (#"{"int64Value":9223372036854775807}"#, #"{"int64Value":"9223372036854775807"}"#),
    (#"{"int64Value":-0}"#, "{}"),
    (#"{"int64Value":0e999999999999}"#, "{}"),
    (#"{"uint64Value":184467440737095516150e-1}"#, #"{"uint64Value":"18446744073709551615"}"#),
    (
      #"{"floatValue":1.5,"doubleValue":-2.5e+300}"#, #"{"floatValue":1.5,"doubleValue":-2.5e+300}"#
    ),
    (#"{"floatValue":"NaN","doubleValue":"-Infinity"}"#, nil),
    (#"{"doubleValue":"Infinity"}"#, nil),
    (#"{"doubleValue":"1e2"}"#, #"{"doubleValue":100.0}"#),
    (#"{"boolValue":true,"colour":"COLOUR_BLACK"}"#, nil),
    (#"{"colour":-2}"#, #"{"colour":"COLOUR_BLACK"}"#),
    (#"{"colour":7}"#, nil),
    (#"{"colours":["COLOUR_RED",-7,0]}"#, #"{"colours":["COLOUR_RED",-7,"COLOUR_UNSPECIFIED"]}"#),
    (
      #"{"text":"\u0001\u001f\b\t\n\f\r\"\\\/é\ud83d\ude42"}"#,
      #"{"text":"\u0001\u001f\b\t\n\f\r\"\\/é🙂"}"#
    ),
    (#"{"bytesValue":"-_-_"}"#, #"{"bytesValue":"+/+/"}"#),
    (#"{"bytesValue":"AQ"}"#, #"{"bytesValue":"AQ=="}"#),
    (#"{"bytesValue":"AQI="}"#, nil),
    (#"{"inner":{}}"#, nil),
    (#"{"inner":{"inner":{"boolValue":false}}}"#, #"{"inner":{"inner":{}}}"#),
    (#"{"inners":[{},{"texts":["","a"]}],"texts":[]}"#, #"{"inners":[{},{"texts":["","a"]}]}"#),
    (#"{"doubleValues":[1.5,"NaN"],"boolValues":[true,false]}"#, nil),
    (#"{"numberChoice":"0"}"#, nil),
    (#"{"textChoice":"","numberChoice":null}"#, #"{"textChoice":""}"#),
    (#"{"optional2Number":0}"#, nil),
    (#"{"optional2Number":null,"int32Values":null,"inner":null}"#, "{}"),
    (#"{"unpackedValues":[0,1,-1]}"#, nil),
  ]

  @Test("Every kind of value has its JSON form", arguments: kinds)
  func forms(json: String, again: String?) throws {
    let wire = try MessageType.kinds.wire(ofJSON: Array(json.utf8))
    let written = String(decoding: try MessageType.kinds.json(of: wire), as: UTF8.self)
    #expect(written == again ?? json)
  }

  private typealias Fault = MessageJSONError.Fault
  private static let integer = "an integer, or a string that contains one"

  private static let refused: [(json: String, path: String, fault: Fault)] = [
    (#"{"bundel":"a"}"#, "bundel", .unknownField),
    (#"{"inner":{"inners":[{},{"no":1}]}}"#, "inner.inners[1].no", .unknownField),
    (#"{"a b":"a"}"#, "?", .unknownField),
    (#"{"BoolValue":true}"#, "BoolValue", .unknownField),
    (#"[]"#, "", .wrongType(expected: "an object")),
    (#"null"#, "", .wrongType(expected: "an object")),
    (#"{"inner":[]}"#, "inner", .wrongType(expected: "an object")),
    (#"{"inners":{}}"#, "inners", .wrongType(expected: "an array")),
    (#"{"inners":[null]}"#, "inners[0]", .wrongType(expected: "an object")),
    (#"{"texts":["a",null]}"#, "texts[1]", .wrongType(expected: "a string")),
    (#"{"text":1}"#, "text", .wrongType(expected: "a string")),
    (#"{"text":"a\u0000b"}"#, "text", .nullInText),
    (#"{"bytesValue":1}"#, "bytesValue", .wrongType(expected: "a string of base64")),
    (#"{"byteStrings":["AQ==","A"]}"#, "byteStrings[1]", .invalidBase64),
    (#"{"bytesValue":"AQ="}"#, "bytesValue", .invalidBase64),
    (#"{"bytesValue":"AR=="}"#, "bytesValue", .invalidBase64),
    (#"{"bytesValue":"A QI"}"#, "bytesValue", .invalidBase64),
    (#"{"bytesValue":"===="}"#, "bytesValue", .invalidBase64),
    (#"{"boolValue":"true"}"#, "boolValue", .wrongType(expected: "a boolean")),
    (#"{"boolValue":1}"#, "boolValue", .wrongType(expected: "a boolean")),
    (#"{"colour":"COLOUR_GREEN"}"#, "colour", .unknownValue),
    (#"{"colour":"RED"}"#, "colour", .unknownValue),
    (#"{"colour":"1"}"#, "colour", .unknownValue),
    (#"{"colour":"COLOUR_RED\u0000"}"#, "colour", .unknownValue),
    (#"{"colour":true}"#, "colour", .wrongType(expected: "the name of a value, or a number")),
    (#"{"colour":2147483648}"#, "colour", .outOfRange),
    (#"{"int32Value":2147483648}"#, "int32Value", .outOfRange),
    (#"{"int32Values":[1,-2147483649]}"#, "int32Values[1]", .outOfRange),
    (#"{"uint32Value":-1}"#, "uint32Value", .outOfRange),
    (#"{"int64Value":9223372036854775808}"#, "int64Value", .outOfRange),
    (#"{"int64Value":1e999999999999}"#, "int64Value", .outOfRange),
    (#"{"uint64Value":"18446744073709551616"}"#, "uint64Value", .outOfRange),
    (#"{"int64Value":1.5}"#, "int64Value", .notAnInteger),
    (#"{"int64Value":1e-999999999999}"#, "int64Value", .notAnInteger),
    (#"{"int64Value":""}"#, "int64Value", .notAnInteger),
    (#"{"int64Value":" 1"}"#, "int64Value", .notAnInteger),
    (#"{"int64Value":"01"}"#, "int64Value", .notAnInteger),
    (#"{"int64Value":"+1"}"#, "int64Value", .notAnInteger),
    (#"{"int64Value":"0x1"}"#, "int64Value", .notAnInteger),
    (#"{"int64Value":true}"#, "int64Value", .wrongType(expected: integer)),
    (#"{"floatValue":1e39}"#, "floatValue", .outOfRange),
    (#"{"doubleValue":1e309}"#, "doubleValue", .outOfRange),
    (#"{"doubleValue":"inf"}"#, "doubleValue", .wrongType(expected: "a number")),
    (#"{"int64Value":1,"int64_value":1}"#, "int64Value", .duplicateField),
    (#"{"numberChoice":1,"textChoice":"a"}"#, "textChoice", .conflicting(with: "numberChoice")),
    (
      #"{"kindsChoice":{},"numberChoice":0}"#, "kindsChoice", .conflicting(with: "numberChoice")
    ),
  ]

  @Test("A wrong value is refused with its path", arguments: refused)
  func refusals(json: String, path: String, fault: MessageJSONError.Fault) throws {
    let error = #expect(throws: MessageJSONError.self) {
      try MessageType.kinds.wire(ofJSON: Array(json.utf8))
    }
    #expect(error == MessageJSONError(fault, at: path, in: "entitle.test.Kinds"))
  }

  @Test("Text that is not JSON, and duplicate names, are refused with the place alone")
  func malformed() throws {
    for json in ["", "{", "{}{}", #"{"text":"secret"#, "{\"text\":\"\u{1}\"}", "nul"] {
      let error = #expect(throws: MessageJSONError.self) {
        try MessageType.kinds.wire(ofJSON: Array(json.utf8))
      }
      guard case .malformed(.malformedJSON, _) = error?.fault else {
        Issue.record("\(json): \(error.map { "\($0)" } ?? "accepted")")
        continue
      }
      #expect(error?.description.contains("secret") == false)
    }
    let twice = #expect(throws: MessageJSONError.self) {
      try MessageType.kinds.wire(ofJSON: Array(#"{"text":"a","te\u0078t":"b"}"#.utf8))
    }
    guard case .malformed(.duplicateName, _) = twice?.fault else {
      Issue.record("accepted")
      return
    }
    let notText = #expect(throws: MessageJSONError.self) {
      try MessageType.kinds.wire(ofJSON: Array(#"{"text":""#.utf8) + [0xFF] + Array(#""}"#.utf8))
    }
    guard case .malformed(.invalidText, _) = notText?.fault else {
      Issue.record("accepted")
      return
    }
  }

  @Test("An error is one sentence with the path, and contains no value")
  func descriptions() {
    let json = #"{"payloads":[],"bundleId":"secret","priority":"secret"}"#
    let error = #expect(throws: MessageJSONError.self) {
      try SubmitSignedTransactionsRequest.decode(json: Array(json.utf8))
    }
    #expect(
      error?.description == "entitle.v1.SubmitSignedTransactionsRequest: payloads is not a field "
        + "of this message")
    let missing = #expect(throws: MessageJSONError.self) {
      try ListGrantsRequest.decode(json: Array(#"{"accountId":"a"}"#.utf8))
    }
    #expect(missing?.description == "entitle.v1.ListGrantsRequest: bundle_id is required")
  }

  @Test("The nesting of messages and the length of JSON are limited")
  func limits() throws {
    let depth = MessageLimits.nestingDepth
    func nested(_ levels: Int) -> [UInt8] {
      Array(
        (String(repeating: #"{"inners":["#, count: levels - 1) + "{}"
          + String(repeating: "]}", count: levels - 1)).utf8)
    }
    let wire = try MessageType.kinds.wire(ofJSON: nested(depth))
    #expect(try MessageType.kinds.json(of: wire) == nested(depth))
    let single =
      String(repeating: #"{"inner":"#, count: depth) + "{}" + String(repeating: "}", count: depth)
    for json in [nested(depth + 1), Array(single.utf8)] {
      let tooDeep = #expect(throws: MessageJSONError.self) {
        try MessageType.kinds.wire(ofJSON: json)
      }
      #expect(tooDeep?.fault == .nestedTooDeep)
    }
    let long = #expect(throws: MessageJSONError.self) {
      try MessageType.kinds.wire(ofJSON: nested(2), limit: nested(2).count - 1)
    }
    guard case .malformed(.tooLarge, _) = long?.fault else {
      Issue.record("accepted")
      return
    }
    let json = try MessageType.kinds.json(of: wire, limit: nested(depth).count)
    #expect(json.count == nested(depth).count)
    // A packed enumeration has the longest JSON for its size; writing ends soon after the limit.
    let numbers = ByteBuffer(
      bytes: MessageBytes().field(24, bytes: [UInt8](repeating: 1, count: 1 << 20)).bytes)
    let error = #expect(throws: MessageJSONError.self) {
      try MessageType.kinds.json(of: numbers, limit: 1_000)
    }
    #expect(error?.fault == .tooLong(limit: 1_000))
  }

  @Test("The last encoded value counts; unknown fields and replaced members are dropped")
  func wireForms() throws {
    let wire = MessageBytes()
      .field(4, number: 1).field(4, number: 0).field(1, number: 5).field(1, number: 6)
      .field(28, number: 5).field(99, text: "new").field(29, text: "last")
      .field(18, bytes: [1, 2]).field(18, number: 3).field(18, bytes: [])
    let json = try MessageType.kinds.json(of: wire.buffer)
    #expect(
      String(decoding: json, as: UTF8.self)
        == #"{"int32Value":6,"int32Values":[1,2,3],"textChoice":"last"}"#)
    #expect(
      try MessageType.kinds.json(of: MessageBytes().field(18, bytes: []).buffer)
        == Array("{}".utf8))
  }

  @Test("Bytes that a decoder refuses have no JSON")
  func malformedWire() {
    for (bytes, fault) in [
      (MessageBytes().raw([0x80]), MessageFault.truncated),
      (MessageBytes().field(15, bytes: [0xFF]), .invalidText(field: "text_")),
      (MessageBytes().field(15, bytes: [0]), .nullInText(field: "text_")),
      (MessageBytes().field(15, number: 1), .wrongWireType(field: "text_")),
    ] {
      let error = #expect(throws: MessageJSONError.self) {
        try MessageType.kinds.json(of: bytes.buffer)
      }
      #expect(error?.fault == .message(MessageError(fault, in: "entitle.test.Kinds")))
    }
  }

  @Test("Truncated JSON is refused", arguments: MessageSample.all)
  func truncation(sample: MessageSample) throws {
    let type = try #require(sample.type)
    let json = try type.json(of: sample.encoded())
    for length in 0..<json.count {
      #expect(throws: MessageJSONError.self) { try type.wire(ofJSON: Array(json.prefix(length))) }
    }
  }

  @Test("JSON with random damage is refused, or is another valid message")
  func damage() throws {
    var generator = SeededRandom(for: "damaged JSON")
    for sample in MessageSample.all {
      let type = try #require(sample.type)
      let original = try type.json(of: sample.encoded())
      for _ in 0..<100 {
        var json = original
        for _ in 0...Int.random(in: 0..<3, using: &generator) {
          guard let index = json.indices.randomElement(using: &generator) else { break }
          switch Int.random(in: 0..<3, using: &generator) {
          case 0: json[index] = UInt8.random(in: 0x20..<0x7F, using: &generator)
          case 1: json.remove(at: index)
          default: json.insert(contentsOf: json[index...].prefix(8), at: index)
          }
        }
        guard let wire = try? type.wire(ofJSON: json) else { continue }
        let again = try type.json(of: wire)
        #expect(try type.wire(ofJSON: again) == wire)
      }
    }
  }
}

extension MessageSample {
  /// The type of the message; nil when it has none.
  fileprivate var type: MessageType? {
    MessageType.all.first { $0.name.hasSuffix(".\(messageName)") }
  }
}
