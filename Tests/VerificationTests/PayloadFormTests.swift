import AppStorePayloads
import Cryptography
import EntitlementDomain
import JSON
import StoreSimulator
import TestSupport
import Testing
import Verification

@Suite("The JSON of a payload")
struct PayloadFormTests {
  let workshop = Workshop.shared
  let verifier = Workshop.shared.verifier

  /// The payload's members as JSON text, without its braces.
  private static let members = String(Payload.transaction().json.dropFirst().dropLast())

  private func verdict(_ json: [UInt8]) throws -> Verdict {
    VerificationTests.verdict(verifier, try workshop.sign(json))
  }

  private func verdict(_ json: String) throws -> Verdict { try verdict(Array(json.utf8)) }

  @Test(arguments: [
    #","transactionId":"2000000123456790""#, #","\u0074ransactionId":"2000000123456790""#,
    #","unread":1,"unread":1"#, #","unread":1,"unre\u0061d":1"#, #","unread":{"a":1,"a":1}"#,
    #","unread":{"\u0061":1,"a":null}"#, #","unread":[{"a":[]},{"b":1,"c":{"d":1,"d":2}}]"#,
    #","":1,"":1"#, #","é":1,"\u00e9":2"#, #","😀":1,"\ud83d\ude00":2"#, #","a/b":1,"a\/b":1"#,
  ])
  func `a name that occurs twice in one object is malformed, however it is spelled`(
    more: String
  ) throws {
    #expect(try verdict("{\(Self.members)\(more)}") == .malformed)
  }

  @Test(arguments: [
    #","transactionID":"1""#, #","unread":{"transactionId":"1"}"#, #","a":{"x":1},"b":{"x":1}"#,
    #","transactionId ":"1""#, ",\"\u{E9}\":1,\"e\u{301}\":2",
  ])
  func `names that only look alike, or stand in other objects, are no duplicates`(
    more: String
  ) throws {
    #expect(try verdict("{\(Self.members)\(more)}") == .ok)
  }

  @Test(arguments: [
    "\u{FEFF}{MEMBERS}", "{MEMBERS}\u{0}", "{MEMBERS}{}", "{MEMBERS},", "[{MEMBERS}]", "MEMBERS",
    "{MEMBERS", "{MEMBERS,}", "{}", "[]", "null", "true", "1", #""text""#, "", " ",
    "{MEMBERS}//", #"{MEMBERS,"a":01}"#, #"{MEMBERS,"a":+1}"#, #"{MEMBERS,"a":NaN}"#,
    #"{MEMBERS,"a":Infinity}"#, #"{MEMBERS,"a":"\ud800"}"#, #"{MEMBERS,"a":"\udc00\ud800"}"#,
    #"{MEMBERS,"\ud800":1}"#, "{MEMBERS,\"a\":\"\t\"}", #"{MEMBERS,"a":"\x"}"#, "{MEMBERS,a:1}",
    #"{MEMBERS,"a":'b'}"#,
  ])
  func `anything but one JSON object is malformed`(form: String) throws {
    #expect(try verdict(form.replacing("MEMBERS", with: Self.members)) == .malformed)
  }

  @Test func `white space of JSON around it is allowed`() throws {
    #expect(try verdict(" \t\r\n{ \(Self.members)\n} ") == .ok)
  }

  @Test(arguments: [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xC3], [0xF5, 0x80, 0x80, 0x80]])
  func `text that is not UTF-8 is malformed, read or not`(bytes: [UInt8]) throws {
    let text = String(decoding: Array(Payload.transaction().json.utf8), as: UTF8.self)
    for field in ["productId", "unread"] {
      let marked = Payload.transaction().with(field, #""MARK""#).json
      let range = try #require(marked.utf8.firstRange(of: "MARK".utf8))
      let json =
        Array(marked.utf8[..<range.lowerBound]) + bytes
        + Array(marked.utf8[range.upperBound...])
      #expect(try verdict(json) == .malformed)
    }
    #expect(try verdict(text) == .ok)
  }

  @Test func `a NUL is malformed in an id, but not in text that is not read`() throws {
    for field in [
      "bundleId", "environment", "transactionId", "originalTransactionId", "productId", "type",
      "webOrderLineItemId", "appTransactionId", "subscriptionGroupIdentifier", "storefront",
    ] {
      let payload = Payload.transaction().with(field, #""1\u00002""#)
      #expect(try verdict(payload.json) == .malformed, "\(field)")
    }
    #expect(try verdict(Payload.transaction().with("unread", #""1\u00002""#).json) == .ok)
    let renewal = Payload.renewalInfo().with("eligibleWinBackOfferIds", #"["a","1\u00002"]"#)
    #expect(try verdict(renewal.json) == .malformed)
  }

  @Test(
    arguments: [
      ("1704067200000", .ok), ("1704067200000.0", .malformed), ("1704067200000.5", .malformed),
      ("17040672e5", .malformed), ("1704067200000e0", .malformed), ("1704067200000E+0", .malformed),
      ("\"1704067200000\"", .malformed), ("9223372036854775808", .malformed),
      ("-9223372036854775809", .malformed), ("18446744073709551616", .malformed),
      ("1e400", .malformed), ("-0.0", .malformed),
      // Integers, but no moment at which a certificate was valid.
      ("-0", .certificateExpired), ("0", .certificateExpired), ("-1", .certificateExpired),
      ("9223372036854775807", .certificateExpired), ("-9223372036854775808", .certificateExpired),
    ] as [(String, Verdict)])
  func `a date is an integer that fits 64 bits, without fraction or exponent`(
    date: String, expected: Verdict
  ) throws {
    #expect(try verdict(Payload.transaction().with("signedDate", date).json) == expected)
    let app = Payload.appTransaction().with("receiptCreationDate", date)
    #expect(try verdict(app.json) == expected)
  }

  @Test func `minus zero is zero`() throws {
    for quantity in ["0", "-0"] {
      let jws = try workshop.sign(Payload.transaction().with("quantity", quantity))
      let verified = try verifier.verify(jws, policy: .scribe, now: Workshop.signedDate)
      guard case .transaction(let fact) = verified.content else {
        Issue.record("not a transaction")
        continue
      }
      #expect(fact.quantity == 0)
    }
  }

  @Test(arguments: [
    (#""3b9d5f10-7c2e-4d84-b6a1-0e5f7a9c3d8f""#, true),
    (#""3B9D5F10-7C2E-4D84-B6A1-0E5F7A9C3D8F""#, true),
    (#""00000000-0000-0000-0000-000000000001""#, true),
    (#""00000000-0000-0000-0000-000000000000""#, false),
    (#""3b9d5f10-7c2e-4d84-b6a1-0e5f7a9c3d8""#, false),
    (#""3b9d5f10-7c2e-4d84-b6a1-0e5f7a9c3d8ff""#, false),
    (#""{3b9d5f10-7c2e-4d84-b6a1-0e5f7a9c3d8f}""#, false),
    (#""3b9d5f107c2e4d84b6a10e5f7a9c3d8f""#, false),
    (#""urn:uuid:3b9d5f10-7c2e-4d84-b6a1-0e5f7a9c3d8f""#, false),
    (#""3b9d5f10-7c2e-4d84-b6a1-0e5f7a9c3d8\u0000""#, false),
    (#""3b9d5f10-7c2e-4d84-b6a1-0e5f7a9c3d8f\u0000""#, false),
    (#""3b9d5fg0-7c2e-4d84-b6a1-0e5f7a9c3d8f""#, false), (#""""#, false), (#""user-7""#, false),
  ])
  func `R43: an account token is a UUID in lower case; other text counts as absent`(
    token: String, isToken: Bool
  ) throws {
    let jws = try workshop.sign(Payload.transaction().with("appAccountToken", token))
    let verified = try verifier.verify(jws, policy: .scribe, now: Workshop.signedDate)
    guard case .transaction(let fact) = verified.content else {
      Issue.record("not a transaction")
      return
    }
    #expect((fact.appAccountToken != nil) == isToken)
    if isToken {
      #expect(fact.appAccountToken?.rawValue == token.dropFirst().dropLast().lowercased())
    }
  }

  @Test func `nesting and length are bounded, also where they are signed`() throws {
    func nested(_ depth: Int) -> String {
      let brackets = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
      return Payload.transaction().with("unread", brackets).json
    }
    // The payload is the outermost level.
    #expect(try verdict(nested(JSONLimits.depth - 1)) == .ok)
    #expect(try verdict(nested(JSONLimits.depth)) == .malformed)
    #expect(try verdict(nested(10_000)) == .malformed)
    let number = String(repeating: "7", count: 1_000)
    #expect(try verdict(Payload.transaction().with("unread", number).json) == .ok)
    #expect(try verdict(Payload.transaction().with("quantity", number).json) == .malformed)
    let huge = [UInt8](repeating: UInt8(ascii: "7"), count: 4 << 20)
    #expect(try verdict(huge) == .malformed)
    let error = #expect(throws: PayloadError.self) { try PayloadFields(json: huge) }
    #expect(error?.code == .tooLarge)
  }

  @Test func `a payload just within the length limit is read, one byte more is not`() throws {
    // Four characters stand for three bytes; the header and the signature take their share.
    let empty = try workshop.sign(Payload.transaction().with("unread", #""""#)).count
    let room = (VerificationLimits.signedLength - empty) / 4 * 3
    func filled(_ count: Int) throws -> [UInt8] {
      try workshop.sign(
        Payload.transaction().with("unread", "\"\(String(repeating: "a", count: count))\""))
    }
    let longest = try filled(room)
    #expect(longest.count > VerificationLimits.signedLength - 4)
    #expect(VerificationTests.verdict(verifier, longest) == .ok)
    #expect(VerificationTests.verdict(verifier, try filled(room + 4)) == .malformed)
  }
}
