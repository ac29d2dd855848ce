import Cryptography
import EntitlementDomain
import StoreSimulator
import TestSupport
import Testing

@testable import PayloadCompression

@Suite("The stored form of payloads")
struct PayloadFormTests {
  private static let header = Array("eyJhbGciOiJFUzI1NiIsIng1YyI6WyJNSUlDIl19".utf8)
  private let compressor = PayloadCompressor()

  private func expectSame(
    _ payload: [UInt8], header: [UInt8]? = nil, _ comment: Comment? = nil
  ) throws {
    let stored = compressor.stored(payload, header: header)
    #expect(stored.count <= payload.count + 1, comment)
    #expect(try compressor.payload(of: stored, header: header) == payload, comment)
  }

  /// A notification that contains JWS of some payloads.
  private static func notification(
    _ inner: [[UInt8]], header: [UInt8] = header, tail: String = ""
  ) -> [UInt8] {
    var text = "{\"notificationType\":\"DID_RENEW\",\"data\":{"
    for (index, payload) in inner.enumerated() {
      let signature = (0..<64).map { UInt8(truncatingIfNeeded: $0 * 37 + index) }
      let jws = [
        header, Base64Form.urlWithoutPadding.encode(payload),
        Base64Form.urlWithoutPadding.encode(signature),
      ].map { String(decoding: $0, as: UTF8.self) }.joined(separator: ".")
      text += "\"signed\(index)\":\"\(jws)\(tail)\","
    }
    return Array((text + "\"version\":\"2.0\"}}").utf8)
  }

  /// Payloads of all kinds, of all life cycles of the simulator.
  private static let simulated: [[UInt8]] = LifeCycle.allCases.flatMap { lifeCycle in
    let timeline = Timeline(lifeCycle, seed: 9, start: 1_704_067_200_000, environment: .production)
    return timeline.history(until: timeline.characteristicMoment).flatMap { event in
      event.transactions.map(\.json)
        + [event.renewalInfo?.json, event.appTransaction?.json].compactMap(\.self)
    }
  }

  // MARK: Round trips

  @Test("Random bytes of any length and any first byte are the same after they were stored")
  func randomBytes() throws {
    var random = SeededRandom(for: "random payloads")
    try expectSame([])
    for first in UInt8.min...UInt8.max {
      try expectSame([first])
      try expectSame([first] + random.bytes(upTo: 300))
      try expectSame([first] + [UInt8](repeating: first, count: 5_000))
    }
    for length in [127, 128, 129, 16_383, 16_384, 131_071, 131_072, 131_073, 2_097_152] {
      try expectSame((0..<length).map { _ in UInt8.random(in: 0...255, using: &random) })
      try expectSame((0..<length).map { UInt8(truncatingIfNeeded: $0 / 1_000) })
    }
  }

  @Test("Simulated payloads of all kinds are the same, and a third of their length")
  func simulatedPayloads() throws {
    #expect(Self.simulated.count > 50)
    for payload in Self.simulated { try expectSame(payload, header: Self.header) }
    let stored = Self.simulated.reduce(0) { $0 + compressor.stored($1).count }
    #expect(stored * 3 < Self.simulated.reduce(0) { $0 + $1.count })
  }

  @Test("Notifications with 0 to 9 payloads inside are the same", arguments: 0...9)
  func notifications(count: Int) throws {
    let payload = Self.notification(Array(Self.simulated.prefix(count)))
    try expectSame(payload, header: Self.header)
    let stored = compressor.stored(payload, header: Self.header)
    #expect(stored.first == (count == 0 ? 1 : 2))
    if count > 0 {
      #expect(stored.count < compressor.stored(payload).count)
      // Without its header it is not readable, nor with another.
      #expect(throws: PayloadCompressionError.damaged) { try compressor.payload(of: stored) }
      #expect(
        try compressor.payload(of: stored, header: Array("eyJ9".utf8)) != payload)
    }
  }

  @Test("What only looks like a JWS of the same header is the same too")
  func lookalikes() throws {
    let inner = Array(Self.simulated.prefix(2))
    // Not canonical base64url; another header; cut off; empty parts.
    try expectSame(Self.notification(inner, tail: "="), header: Self.header)
    try expectSame(Self.notification(inner, tail: "\u{00e9}"), header: Self.header)
    try expectSame(Self.notification(inner, header: Array("eyJ9".utf8)), header: Self.header)
    let whole = Self.notification(inner)
    for length in stride(from: 0, to: whole.count, by: 13) {
      try expectSame(Array(whole.prefix(length)), header: Self.header)
    }
    let header = String(decoding: Self.header, as: UTF8.self)
    for text in [
      "\"\(header)", "\"\(header).\"", "\"\(header)..\"", "\"\(header).AA.\"",
      "\"\(header).AB.AA\"",
      "\"\(header).A.A\"", "\"\"\(header).AAAA.AAAA\"\"",
    ] {
      try expectSame(Array(text.utf8), header: Self.header, "\(text)")
      try expectSame(Array(text.utf8) + whole, header: Self.header, "\(text)")
    }
    try expectSame(whole, header: [])
  }

  @Test("What is not smaller when it is compressed is stored as it is, after the byte 0")
  func plainForm() throws {
    for payload in [Array("{\"a\":1}".utf8), [0x30, 0x82, 1, 2], [0], [1], [8], []] {
      #expect(compressor.stored(payload, header: Self.header, texts: Self.texts) == [0] + payload)
      #expect(try compressor.payload(of: [0] + payload) == payload)
    }
  }

  // MARK: Texts of the row

  private static let texts = RowTexts([
    "2000000812345678", "", "5c0a8f4e-3b1d-4e2a-9f60-0123456789ab", "12345", "1700000000000",
  ])
  private static let holder = Array(
    """
    {"transactionId":"2000000812345678","originalTransactionId":"2000000812345678",\
    "appAccountToken":"5c0a8f4e-3b1d-4e2a-9f60-0123456789ab","signedDate":1700000000000,\
    "n":17000000000001,"short":"12345","inside":"a2000000812345678"}
    """.utf8)

  @Test("What the row holds is left out, and put back")
  func rowTexts() throws {
    let stored = compressor.stored(Self.holder, texts: Self.texts)
    #expect(stored.first == 3)
    #expect(stored.count + 20 < compressor.stored(Self.holder).count)
    #expect(try compressor.payload(of: stored, texts: Self.texts) == Self.holder)
    // Another row gives another payload, whose digest differs, or none.
    let other = RowTexts([
      "2000000812345679", "", "5c0a8f4e-3b1d-4e2a-9f60-0123456789ab", "", "1700000000000",
    ])
    #expect(try compressor.payload(of: stored, texts: other) != Self.holder)
    for texts in [RowTexts.none, RowTexts(["2000000812345678"]), RowTexts(["200000081234567"])] {
      #expect(throws: PayloadCompressionError.damaged) {
        try compressor.payload(of: stored, texts: texts)
      }
    }
    #expect(
      try compressor.payload(of: compressor.stored(Self.holder), texts: Self.texts) == Self.holder)
  }

  @Test("Payloads that contain the numbers of texts, or none of the texts, are stored whole")
  func withoutTexts() throws {
    let other = Array("{\"transactionId\":\"2000000899999999\",\"a\":[12345,12345,12345]}".utf8)
    var payloads = [other, []]
    for byte: UInt8 in 0...31 { payloads.append(Self.holder + [byte]) }
    for (index, payload) in payloads.enumerated() {
      let stored = compressor.stored(payload, texts: Self.texts)
      #expect((stored.first == 3) == (index > 10 || index == 2), "\(index)")
      #expect(try compressor.payload(of: stored, texts: Self.texts) == payload)
    }
    let long = String(repeating: "7", count: 65)
    for texts in [["", ""], ["", long], [long]] {
      let stored = compressor.stored(Array(":\(long)\(long)".utf8), texts: RowTexts(texts))
      #expect(stored.first == 1)
    }
    // Texts that JSON escapes, and such as equal others with other bytes.
    for text in ["a\u{1}bcdefgh", "caf\u{e9}-2000", "abc\ndefgh"] {
      let payload = Array("{\"a\":\"\(text)\"}".utf8)
      #expect(compressor.stored(payload, texts: RowTexts([text])).first != 3)
    }
  }

  @Test("Random payloads and texts, which are parts of each other, are the same")
  func randomTexts() throws {
    var random = SeededRandom(for: "texts of rows")
    for _ in 0..<2_000 {
      let texts = (0..<Int.random(in: 1...8, using: &random)).map { _ -> String in
        let digit = Bool.random(using: &random) ? "1" : "2"
        return String(repeating: digit, count: Int.random(in: 4...9, using: &random))
      }
      var payload: [UInt8] = []
      for _ in 0..<Int.random(in: 0...12, using: &random) {
        payload += Array([":", "\"", "x"].randomElement(using: &random)!.utf8)
        payload += Array(texts.randomElement(using: &random)!.utf8)
        if Int.random(in: 0..<20, using: &random) == 0 { payload += random.bytes(upTo: 3) }
      }
      let rowTexts = RowTexts(texts)
      let stored = compressor.stored(payload, texts: rowTexts)
      #expect(try compressor.payload(of: stored, texts: rowTexts) == payload)
    }
  }

  @Test("A long payload that is nothing but a text of its row is the same")
  func longText() throws {
    let text = String(repeating: "1234567", count: 9)
    let payload = Array(String(repeating: "\"" + text, count: 40_000).utf8)
    let stored = compressor.stored(payload, texts: RowTexts([text]))
    #expect(stored.count < 1_000)
    #expect(try compressor.payload(of: stored, texts: RowTexts([text])) == payload)
  }

  // MARK: Damage

  @Test("Truncated and altered forms are refused or read, without a crash")
  func damage() throws {
    var random = SeededRandom(for: "damaged forms")
    let payloads = [
      Self.simulated[0], Self.notification(Array(Self.simulated.prefix(2))), Self.holder,
    ]
    for payload in payloads {
      let stored = compressor.stored(payload, header: Self.header, texts: Self.texts)
      for length in 0..<stored.count {
        let cut = Array(stored.prefix(length))
        #expect(
          (try? compressor.payload(of: cut, header: Self.header, texts: Self.texts)) != payload)
      }
      for _ in 0..<3_000 {
        var damaged = stored
        let index = Int.random(in: 0..<damaged.count, using: &random)
        damaged[index] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        _ = try? compressor.payload(of: damaged, header: Self.header, texts: Self.texts)
      }
    }
    for _ in 0..<3_000 {
      let bytes = [UInt8.random(in: 0...7, using: &random)] + random.bytes(upTo: 60)
      _ = try? compressor.payload(of: bytes, header: Self.header, texts: Self.texts)
    }
  }

  @Test("A short form that claims a great length is refused")
  func claimedLength() {
    for form: UInt8 in [1, 2, 3] {
      // 64 MiB, and the most that the number can be.
      for length: [UInt8] in [[0x80, 0x80, 0x80, 0x20], [0xFF, 0xFF, 0xFF, 0xFF, 0x0F]] {
        // An unknown dictionary, which is looked for only after the length.
        let prefix: [UInt8] = form == 2 ? [2, 0, 9] : [form, 9]
        let tail: [UInt8] = (form == 2 ? [4] : []) + [0, 1, 0, 0]
        #expect(throws: PayloadCompressionError.damaged) {
          try compressor.payload(of: prefix + length + tail, header: Self.header)
        }
      }
    }
    #expect(throws: PayloadCompressionError.damaged) {
      try compressor.payload(of: [1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF], header: nil)
    }
  }

  @Test("Bytes of no known form, and none at all, are refused")
  func unknownForm() {
    for form in UInt8(4)...255 {
      #expect(throws: PayloadCompressionError.damaged) {
        try compressor.payload(of: [form, 1, 2], header: Self.header, texts: Self.texts)
      }
    }
    #expect(throws: PayloadCompressionError.damaged) { try compressor.payload(of: []) }
  }

  // MARK: The dictionary

  @Test("The shipped dictionary never changes: databases refer to it")
  func shipped() throws {
    #expect(PayloadDictionary.shipped.number == 1)
    #expect(
      try SHA256.digest(of: PackageResources.shipped_dictionary).hexadecimal
        == "f1c23afdfc9234d65d29056c53abe5ce633b4175e9c4a15782fa71ee2f34a700")
  }

  @Test("A payload names its dictionary, and one of another dictionary is refused")
  func unknownDictionary() throws {
    let notification = Self.notification(Array(Self.simulated.prefix(1)))
    for payload in [Self.simulated[0], Self.holder, notification] {
      var stored = compressor.stored(payload, header: Self.header, texts: Self.texts)
      // Its place in a notification is after the lengths of the one JWS inside: of the text before it,
      // which has less than 128 bytes, of its payload and of its signature.
      let place = stored[0] == 2 ? 1 + 1 + 2 + 1 + 1 : 1
      #expect(stored[place] == 1)
      stored[place] = 7
      #expect(throws: PayloadCompressionError.unknownDictionary(7)) {
        try compressor.payload(of: stored, header: Self.header, texts: Self.texts)
      }
    }
  }
}
