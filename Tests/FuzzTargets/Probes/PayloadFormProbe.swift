import Cryptography
import PayloadCompression

/// The stored form of payloads: any bytes are read or refused, what is read has a bounded length, and
/// any payload is the same after it was stored.
enum PayloadFormProbe {
  private static let compressor = PayloadCompressor()
  /// That of the notifications of the seeds.
  static let header = Array("eyJhbGciOiJFUzI1NiJ9".utf8)
  /// Texts as rows hold them, of all lengths, and such as payloads of the seeds contain.
  static let texts = RowTexts([
    "originalTransactionId", "", "2000000", "200000", "com.example.", "1700000000000", "short",
    "USD\",\"",
  ])

  static func run(_ input: [UInt8]) throws(BrokenInvariant) {
    for (header, texts) in [(nil, RowTexts.none), (header, .none), (nil, texts)] {
      if let payload = try? compressor.payload(of: input, header: header, texts: texts) {
        try require(
          payload.count <= PayloadCompressor.maximumByteCount * 4 / 3 + input.count * 10,
          "what is read has a bounded length")
        try check(payload, header, texts)
      }
      try check(input, header, texts)
    }
  }

  private static func check(
    _ payload: [UInt8], _ header: [UInt8]?, _ texts: RowTexts
  ) throws(BrokenInvariant) {
    let stored = compressor.stored(payload, header: header, texts: texts)
    try require(stored.count <= payload.count + 1, "a stored form is not longer than the payload")
    try require(
      (try? compressor.payload(of: stored, header: header, texts: texts)) == payload,
      "a stored payload is read as it was")
  }

  /// The payload of a notification with JWS inside.
  ///
  /// - Parameter lines: of ``CorpusCustomer/notification``.
  static func notification(_ lines: [UInt8]) -> [UInt8] {
    let lines = lines.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    var text = String(decoding: lines[0], as: UTF8.self)
    let signature = Base64Form.urlWithoutPadding.encode([UInt8](0..<64))
    for (index, line) in lines.enumerated().dropFirst() {
      let jws = [header, Base64Form.urlWithoutPadding.encode(Array(line)), signature]
        .map { String(decoding: $0, as: UTF8.self) }.joined(separator: ".")
      text = text.split(separator: "\"$\(index)\"", omittingEmptySubsequences: false)
        .joined(separator: "\"\(jws)\"")
    }
    return Array(text.utf8)
  }
}
