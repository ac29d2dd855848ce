package import Cryptography

/// A bearer token: `entl_ID_SECRET`, where the last six characters are a checksum.
///
/// The id names the token in files, logs and the audit trail, and finds its entry. The secret has 256
/// random bits, so that a plain hash is enough to keep it: it cannot be guessed, and a password hash
/// would let callers without credentials spend the time of the server. Prefix and checksum let
/// scanners of source code find tokens that were committed by mistake.
package struct AccessToken: Sendable {
  package static let prefix = "entl_"
  package static let idLength = 8
  private static let secretLength = 43
  private static let checksumLength = 6
  /// In bytes.
  package static let length =
    prefix.utf8.count + idLength + 1 + secretLength + checksumLength

  private static let alphabet = Array(
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz".utf8)

  /// The whole token. Show it to its caller once, and keep only ``digest``.
  package let text: String
  package let id: String

  /// A new random token.
  package init() {
    var generator = SystemRandomNumberGenerator()
    self.init(using: &generator)
  }

  init(using generator: inout some RandomNumberGenerator) {
    func letters(_ count: Int) -> [UInt8] {
      (0..<count).map { _ in Self.alphabet[Int.random(in: 0..<62, using: &generator)] }
    }
    let id = letters(Self.idLength)
    let body = Array(Self.prefix.utf8) + id + [UInt8(ascii: "_")] + letters(Self.secretLength)
    self.id = String(decoding: id, as: UTF8.self)
    text = String(decoding: body + Self.checksum(of: body), as: UTF8.self)
  }

  /// SHA-256 of the text.
  ///
  /// - Throws: ``CryptographyError`` when OpenSSL fails.
  package var digest: SHA256Digest {
    get throws(CryptographyError) { try SHA256.digest(of: Array(text.utf8)) }
  }

  /// The id in the text of a token; nil unless the text has the form of a token and the checksum is
  /// right.
  static func id(in token: UnsafeRawBufferPointer) -> String? {
    let prefix = Self.prefix.utf8
    guard token.count == length, token.starts(with: prefix) else { return nil }
    let id = token[prefix.count..<prefix.count + idLength]
    let body = token[..<(length - checksumLength)]
    guard token[prefix.count + idLength] == UInt8(ascii: "_"), id.allSatisfy(isLetter),
      token[(length - checksumLength)...].elementsEqual(checksum(of: body))
    else { return nil }
    return String(decoding: id, as: UTF8.self)
  }

  /// Whether a text can be the id of a token.
  static func isID(_ text: String) -> Bool {
    text.utf8.count == idLength && text.utf8.allSatisfy(isLetter)
  }

  private static func isLetter(_ byte: UInt8) -> Bool { alphabet.contains(byte) }

  /// CRC-32 (IEEE 802.3) in six letters.
  private static func checksum(of bytes: some Sequence<UInt8>) -> [UInt8] {
    var crc = ~UInt32(0)
    for byte in bytes {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc >> 1 ^ (crc & 1 == 1 ? 0xedb8_8320 : 0) }
    }
    var rest = ~crc
    var letters = [UInt8](repeating: alphabet[0], count: checksumLength)
    for index in letters.indices.reversed() {
      letters[index] = alphabet[Int(rest % 62)]
      rest /= 62
    }
    return letters
  }
}
