import Cryptography
import Glibc

/// A JWS in compact form (RFC 7515 section 7.1) taken apart, its header segment not decoded yet.
struct CompactJWS {
  let bytes: [UInt8]
  let headerLength: Int
  /// The header segment, the dot and the payload segment: what is signed.
  let signedLength: Int
  let payload: [UInt8]
  let signature: [UInt8]

  /// - Throws: ``Refusal`` with ``Verdict/malformed``.
  init(_ bytes: [UInt8]) throws(Refusal) {
    guard bytes.count <= VerificationLimits.signedLength else {
      throw Refusal(.malformed, "longer than \(VerificationLimits.signedLength) bytes")
    }
    guard let first = Self.dot(in: bytes, from: 0),
      let second = Self.dot(in: bytes, from: first + 1),
      Self.dot(in: bytes, from: second + 1) == nil
    else { throw Refusal(.malformed, "not three parts with dots between them") }
    guard first > 0, second > first + 1, second + 1 < bytes.count else {
      throw Refusal(.malformed, "one of the three parts is empty")
    }
    guard first <= VerificationLimits.headerLength else {
      throw Refusal(
        .malformed, "the header is longer than \(VerificationLimits.headerLength) bytes")
    }
    self.bytes = bytes
    headerLength = first
    signedLength = second
    payload = try Self.decode(bytes, first + 1..<second, "payload")
    signature = try Self.decode(bytes, second + 1..<bytes.count, "signature")
  }

  var header: [UInt8] { Array(bytes[..<headerLength]) }

  /// What is signed, after the header segment: the dot and the payload segment.
  func withSignedRest<Result>(
    _ body: (UnsafeRawBufferPointer) throws(CryptographyError) -> Result
  ) throws(CryptographyError) -> Result {
    try bytes.withUnsafeBufferPointer { (bytes) throws(CryptographyError) in
      try body(
        UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[headerLength..<signedLength])))
    }
  }

  /// The first dot at or after `start`, which may be the end.
  private static func dot(in bytes: [UInt8], from start: Int) -> Int? {
    bytes.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress, start < bytes.count,
        let found = memchr(base + start, CInt(UInt8(ascii: ".")), bytes.count - start)
      else { return nil }
      return UnsafeRawPointer(found) - base
    }
  }

  private static func decode(
    _ bytes: [UInt8], _ range: Range<Int>, _ part: String
  ) throws(Refusal) -> [UInt8] {
    do {
      return try bytes.withUnsafeBufferPointer { (buffer) throws(CryptographyError) in
        try Base64Form.urlWithoutPadding.decode(
          UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: buffer[range])))
      }
    } catch {
      throw Refusal(error, as: .malformed, in: part)
    }
  }
}
