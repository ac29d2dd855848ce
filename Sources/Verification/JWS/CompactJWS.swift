import AppStorePayloads
import Cryptography
import EntitlementDomain
import Glibc
import JSON

/// A JWS in compact form (RFC 7515 section 7.1), split into its parts. The header segment is not
/// decoded.
struct CompactJWS {
  let bytes: [UInt8]
  let headerLength: Int
  /// Length of the signing input: the header segment, the dot and the payload segment.
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
    else { throw Refusal(.malformed, "not three parts separated by dots") }
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

  /// Calls `body` with the signing input after the header segment: the dot and the payload segment.
  func withSignedRest<Result>(
    _ body: (UnsafeRawBufferPointer) throws(CryptographyError) -> Result
  ) throws(CryptographyError) -> Result {
    try bytes.withUnsafeBufferPointer { (bytes) throws(CryptographyError) in
      try body(
        UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: bytes[headerLength..<signedLength])))
    }
  }

  /// The first dot at or after `start`. `start` may be the end.
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

/// The decoded header of a JWS.
struct SignerHeader {
  private let fields: PayloadFields

  var document: JSONDocument { fields.document }

  /// - Parameter segment: the header segment in base64url.
  /// - Throws: ``Refusal`` with ``Verdict/malformed``.
  init(segment: [UInt8]) throws(Refusal) {
    let json: [UInt8]
    do {
      json = try Base64Form.urlWithoutPadding.decode(segment)
    } catch {
      throw Refusal(error, as: .malformed, in: "header")
    }
    do {
      fields = try PayloadFields(json: json)
    } catch {
      throw Refusal(error, in: "header")
    }
  }

  /// - Throws: ``Refusal`` with ``Verdict/unsupportedAlgorithm`` unless `alg` is ES256 and there is
  ///   neither `crit` nor `b64` (RFC 7515 section 4.1.11, RFC 7797).
  func checkAlgorithm() throws(Refusal) {
    guard case "ES256"? = try? fields.text("alg") else {
      throw Refusal(.unsupportedAlgorithm, "alg is not ES256")
    }
    guard !fields.containsName("crit") else {
      throw Refusal(.unsupportedAlgorithm, "crit requires extensions that are not supported")
    }
    // Refused with either value: without crit, implementations disagree on the signing input.
    guard !fields.containsName("b64") else {
      throw Refusal(.unsupportedAlgorithm, "b64 is not supported")
    }
  }

  /// The certificates of `x5c`, in order.
  ///
  /// - Throws: ``Refusal`` with ``Verdict/invalidCertificate``.
  func certificates() throws(Refusal) -> [Certificate] {
    let texts: [String]?
    do {
      texts = try fields.texts("x5c")
    } catch {
      throw Refusal(.invalidCertificate, "header: \(error.message)")
    }
    guard let texts else { throw Refusal(.invalidCertificate, "x5c is missing") }
    guard texts.count <= VerificationLimits.certificates else {
      throw Refusal(.invalidCertificate, "x5c contains \(texts.count) certificates")
    }
    var certificates: [Certificate] = []
    for (index, text) in texts.enumerated() {
      do {
        certificates.append(try Certificate(der: try Base64Form.standard.decode(text.utf8)))
      } catch {
        throw Refusal(error, as: .invalidCertificate, in: "certificate \(index + 1) of x5c")
      }
    }
    return certificates
  }
}
