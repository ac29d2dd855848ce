import TestSupport
import Testing

@testable import AppStorePayloads
@testable import JSON

@testable import EntitlementDomain

@Suite("The strict JSON reader")
struct JSONDocumentTests {
  private func code(_ bytes: [UInt8]) -> JSONError.Code? {
    do {
      _ = try JSONDocument(bytes)
      return nil
    } catch {
      return error.code
    }
  }

  private func code(_ text: String) -> JSONError.Code? { code(Array(text.utf8)) }

  @Test(arguments: [
    "{}", "[]", "0", "-0", "-1", "1.5", "1e5", "1E+5", "1.0e-5", "true", "false", "null", #""""#,
    " { } ", "\t[\r\n]\n", #"{"a":{"a":[{"a":1}]}}"#, #""\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00""#,
    #""é😀""#, "[1,2,3]", #"{"a":1,"A":2,"":3}"#,
  ])
  func `all forms of RFC 8259 are accepted`(text: String) {
    #expect(code(text) == nil)
  }

  @Test(arguments: [
    "", " ", "{", "}", "[", "]", "[1,]", "[,1]", "[1 2]", "{,}", #"{"a"}"#, #"{"a":}"#,
    #"{"a":1,}"#, #"{a:1}"#, "{'a':1}", "{1:1}", "01", "+1", "-", "--1", "1.", ".5", "1e", "1e+",
    "0x1", "1_000", "NaN", "Infinity", "tru", "True", "nul", "nulll", #"""#, #""\"#, #""\x""#,
    #""\u12"#, #""\u12g4""#, "\"\n\"", "\"\u{1}\"", "{} {}", "1 2", "[1]x", "\u{FEFF}{}",
    "// c\n1", "/**/1", "{}\u{0}",
  ])
  func `anything else is not`(text: String) {
    #expect(code(text) == .malformedJSON)
  }

  @Test(arguments: [
    #""\ud800""#, #""\udc00""#, #""\ud800\ud800""#, #""\ud800x""#, #""\ud800\n""#,
    #""\udfff\ud800""#, #"{"\ud800":1}"#,
  ])
  func `halves of surrogate pairs are refused`(text: String) {
    #expect(code(text) == .invalidText)
  }

  @Test(
    arguments: [
      [0x80], [0xBF], [0xC0, 0x80], [0xC1, 0xBF], [0xC3], [0xC3, 0x28], [0xE0, 0x9F, 0xBF],
      [0xE2, 0x82], [0xED, 0xA0, 0x80], [0xED, 0xBF, 0xBF], [0xF0, 0x8F, 0xBF, 0xBF],
      [0xF0, 0x9F, 0x98], [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF], [0xFE],
    ] as [[UInt8]])
  func `strings that are not UTF-8 are refused`(bytes: [UInt8]) {
    let quote = UInt8(ascii: "\"")
    for padding in 0..<10 {
      let filler = [UInt8](repeating: UInt8(ascii: "a"), count: padding)
      #expect(code([quote] + filler + bytes + filler + [quote]) == .invalidText)
    }
  }

  @Test func `every Unicode scalar is decoded unchanged`() throws {
    var value: UInt32 = 0
    while value <= 0x10FFFF {
      if let scalar = Unicode.Scalar(value), value >= 0x20, scalar != "\"", scalar != "\\" {
        let text = "abcdefg" + String(Character(scalar)) + "h"
        let fields = try PayloadFields(json: Array("{\"a\":\"\(text)\"}".utf8))
        #expect(try fields.text("a") == text)
      }
      value += value < 0x900 ? 1 : 251
    }
  }

  @Test func `escapes are decoded`() throws {
    let json = #"{"a":"\"\\\/\b\f\n\r\t\u0041\u00e9\u20ac\ud83d\ude00","\u0062":"found"}"#
    let fields = try PayloadFields(json: Array(json.utf8))
    #expect(try fields.text("a") == "\"\\/\u{8}\u{C}\n\r\tAé€😀")
    #expect(try fields.text("b") == "found")
  }

  @Test(arguments: [
    #"{"a":1,"a":1}"#, #"{"a":1,"b":2,"a":null}"#, #"{"a":1,"\u0061":1}"#,
    #"{"\u0061":1,"\u0061":1}"#, #"{"x":{"a":1,"a":2}}"#, #"[{"a":1,"a":2}]"#, #"{"":1,"":2}"#,
    #"{"a":{"b":{"c":1,"d":2,"c":3}}}"#,
  ])
  func `duplicate names are refused at any level`(text: String) {
    #expect(code(text) == .duplicateName)
  }

  @Test(arguments: [2, 7, 8, 9, 10, 63, 64, 65, 500])
  func `duplicate names are found among any number of members`(count: Int) {
    let members = (0..<count).map { "\"name\($0)\":{\"name\($0)\":[\($0)]}" }
    #expect(code("{" + members.joined(separator: ",") + "}") == nil)
    for duplicate in [0, count / 2, count - 1] {
      let all = members + ["\"name\(duplicate)\":0"]
      #expect(code("{" + all.joined(separator: ",") + "}") == .duplicateName)
    }
  }

  @Test(arguments: [
    ("costarring", "liquid"), ("declinate", "macallums"), ("altarage", "zinke"),
    ("altarages", "zinkes"),
  ])
  func `names cannot be chosen so that all are compared`(left: String, right: String) {
    // These names collide under FNV-1a; every hash without a secret has such names.
    let hashes = [left, right].map { name in
      Array(name.utf8).withUnsafeBufferPointer { JSONName.hash(of: $0) }
    }
    #expect(hashes[0] != hashes[1])
    #expect(code("{\"\(left)\":1,\"\(right)\":2}") == nil)
    #expect(code("{\"\(left)\":1,\"\(right)\":2,\"\(left)\":3}") == .duplicateName)
  }

  @Test func `names are hashed by their unescaped bytes, and values are not hashed`() throws {
    let document = try JSONDocument(Array(#"{"a":"a","b":"\u0061","\u0063":1,"c2":"c"}"#.utf8))
    func hash(_ name: String) -> UInt32 {
      Array(name.utf8).withUnsafeBufferPointer { JSONName.hash(of: $0) }
    }
    #expect(
      document.nodes.map(\.hash) == [0, hash("a"), 0, hash("b"), 0, hash("c"), 0, hash("c2"), 0])
  }

  @Test func `canonically equivalent names are different names`() {
    // Composed and decomposed forms are equal as Swift strings, and differ as bytes.
    #expect(code("{\"\u{E9}\":1,\"e\u{301}\":2}") == nil)
    let many = (0..<100).map { "\"n\($0)\":0" }.joined(separator: ",")
    #expect(code("{\(many),\"\u{E9}\":1,\"e\u{301}\":2}") == nil)
  }

  @Test func `depth is bounded`() {
    func nested(_ depth: Int) -> String {
      String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    }
    #expect(code(nested(JSONLimits.depth)) == nil)
    #expect(code(nested(JSONLimits.depth + 1)) == .tooDeep)
    #expect(code(nested(100_000)) == .tooDeep)
    #expect(code(String(repeating: #"{"a":"#, count: 100_000)) == .tooDeep)
  }

  @Test func `length is bounded, in one number too`() {
    let digits = [UInt8](repeating: UInt8(ascii: "1"), count: JSONLimits.length)
    #expect(code(digits) == nil)
    #expect(code(digits + [UInt8(ascii: "1")]) == .tooLarge)
  }

  @Test func `values are bounded where the caller says so, names not counted`() {
    func code(_ text: String, _ limit: Int) -> JSONError.Code? {
      do throws(JSONError) {
        _ = try JSONDocument(Array(text.utf8), valueLimit: limit)
        return nil
      } catch {
        return error.code
      }
    }
    for (text, values) in [
      ("1", 1), ("[]", 1), (#"{"a":1,"b":[true,null,"c",{}]}"#, 7), ("[[],[],[[]]]", 5),
    ] {
      #expect(code(text, values) == nil, "\(text)")
      #expect(code(text, values - 1) == .tooLarge, "\(text)")
    }
    // Found when it is reached: what follows is not even read.
    #expect(code("[1,2,nonsense", 2) == .tooLarge)
  }

  @Test func `many members do not take long`() {
    // A quadratic comparison would take minutes.
    let members = (0..<60_000).map { "\"\($0)\":0" }.joined(separator: ",")
    #expect(code("{\(members)}") == nil)
  }

  @Test func `every prefix of a text is refused, and no random change traps`() throws {
    let text = Array(
      #"{"a":[1,-2.5e3,true,null,{"b":"\u00e9\ud83d\ude00é"}],"long":"0123456789abcdef"}"#.utf8)
    for length in 0..<text.count { #expect(code(Array(text[..<length])) != nil) }
    var generator = SeededRandom(for: "random changes")
    for _ in 0..<20_000 {
      var changed = text
      for _ in 0..<Int.random(in: 1...4, using: &generator) {
        changed[Int.random(in: 0..<changed.count, using: &generator)] =
          UInt8.random(in: 0...255, using: &generator)
      }
      // A text that is still accepted must be equal after a round trip.
      guard let document = try? JSONDocument(changed) else { continue }
      let again = try JSONDocument(Array(document.indented().utf8))
      #expect(again.indented() == document.indented())
    }
  }

  @Test(
    arguments: [
      ("0", 0), ("-0", 0), ("1", 1), ("-1", -1), ("9223372036854775807", .max),
      ("-9223372036854775808", .min), ("1704067200123", 1_704_067_200_123),
    ] as [(String, Int64)])
  func `integers are read exactly`(text: String, value: Int64) throws {
    let fields = try PayloadFields(json: Array("{\"n\":\(text)}".utf8))
    #expect(try fields.integer("n") == value)
  }

  @Test(
    arguments: [
      ("1.0", .notAnInteger), ("1e3", .notAnInteger), ("1E0", .notAnInteger),
      ("-0.0", .notAnInteger), ("9223372036854775808", .outOfRange),
      ("-9223372036854775809", .outOfRange), ("99999999999999999999999999", .outOfRange),
      ("\"1\"", .wrongType), ("true", .wrongType), ("[]", .wrongType), ("{}", .wrongType),
    ] as [(String, PayloadError.Code)])
  func `numbers that are not integers have different errors`(
    text: String, expected: PayloadError.Code
  ) throws {
    let fields = try PayloadFields(json: Array("{\"n\":\(text)}".utf8))
    let error = #expect(throws: PayloadError.self) { try fields.integer("n") }
    #expect(error?.code == expected)
  }

  @Test func `a number of a thousand digits is out of range, not a trap`() throws {
    let digits = String(repeating: "7", count: 1_000)
    let fields = try PayloadFields(json: Array("{\"n\":\(digits)}".utf8))
    #expect(throws: PayloadError.self) { try fields.integer("n") }
  }

  @Test func `indentation keeps all characters of names and values`() throws {
    let json =
      #"{"z":1.50,"a":12345678901234567890,"s":"\u00e9\/","e":{},"l":[],"n":[1,{"b":null}]}"#
    let expected = #"""
      {
        "z": 1.50,
        "a": 12345678901234567890,
        "s": "\u00e9\/",
        "e": {},
        "l": [],
        "n": [
          1,
          {
            "b": null
          }
        ]
      }
      """#
    #expect(try JSONDocument(Array(json.utf8)).indented() == expected)
  }
}
