import Cryptography

/// A notification taken apart: the JWS in it have the header of the notification itself, and base64url
/// hides what their payloads have in common with others.
struct NestedPayloads {
  /// A JWS in the text. Its header is that of the notification.
  struct Inner {
    /// The bytes of the text between the JWS before it, or the beginning, and this one.
    let gap: Int
    let payload: [UInt8]
    let signature: [UInt8]
  }

  /// The most JWS that are taken out of a text. A notification has two.
  static let maximumCount = 8

  private(set) var inner: [Inner] = []
  /// The text without them.
  private(set) var text: [UInt8] = []

  /// - Parameters:
  ///   - payload: the JSON of the notification.
  ///   - header: the header segment of its JWS, in base64url.
  /// - Returns: nil when there is none to take out.
  init?(_ payload: [UInt8], header: [UInt8]) {
    guard !header.isEmpty, payload.count > header.count else { return nil }
    let quote = UInt8(ascii: "\"")
    var copied = 0
    var index = 0
    while index < payload.count, inner.count < Self.maximumCount {
      guard payload[index] == quote else {
        index += 1
        continue
      }
      index += 1
      guard let found = Self.jws(in: payload, at: index, header: header) else { continue }
      inner.append(
        Inner(gap: index - copied, payload: found.payload, signature: found.signature))
      text += payload[copied..<index]
      index = found.end
      copied = index
    }
    guard !inner.isEmpty else { return nil }
    text += payload[copied...]
  }

  /// The JWS that begins at an index, if it has the header and can be made again from its parts.
  private static func jws(
    in payload: [UInt8], at start: Int, header: [UInt8]
  ) -> (payload: [UInt8], signature: [UInt8], end: Int)? {
    let dot = UInt8(ascii: ".")
    let payloadStart = start + header.count + 1
    guard payload.count > payloadStart, payload[payloadStart - 1] == dot,
      payload[start..<(payloadStart - 1)].elementsEqual(header),
      let payloadEnd = payload[payloadStart...].firstIndex(of: dot),
      let end = payload[(payloadEnd + 1)...].firstIndex(of: UInt8(ascii: "\"")),
      // Only canonical base64url is decoded, so encoding gives the same text.
      let decoded = try? Base64Form.urlWithoutPadding.decode(payload[payloadStart..<payloadEnd]),
      let signature = try? Base64Form.urlWithoutPadding.decode(payload[(payloadEnd + 1)..<end])
    else { return nil }
    return (decoded, signature, end)
  }
}
