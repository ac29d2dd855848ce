import Cryptography

/// The two encodings of receipts: DER, and standard base64 of it, with optional line breaks.
package enum ReceiptForm {
  private static let sequence: UInt8 = 0x30

  /// Whether a submitted document is a receipt and not a JWS: it starts like DER of at least 128
  /// bytes, or like base64 of it.
  package static func isReceipt(_ bytes: [UInt8]) -> Bool {
    if bytes.first == sequence {
      // The length has one to four more octets. The indefinite form (0x80) is included, so that
      // parsing reports it.
      return bytes.dropFirst().first.map { (0x80...0x84).contains($0) } ?? false
    }
    return bytes.lazy.filter { !isBlank($0) }.starts(with: "MI".utf8)
  }

  /// Decodes a receipt to DER.
  ///
  /// - Throws: ``Refusal`` with ``Verdict/malformed`` when it is neither, or is too long.
  static func der(of bytes: [UInt8]) throws(Refusal) -> [UInt8] {
    let der = bytes.first == sequence ? bytes : try decoded(bytes)
    guard der.count <= VerificationLimits.receiptLength else {
      throw Refusal(.malformed, "longer than \(VerificationLimits.receiptLength) bytes")
    }
    guard der.first == sequence else { throw Refusal(.malformed, "neither DER nor base64 of it") }
    return der
  }

  private static func decoded(_ text: [UInt8]) throws(Refusal) -> [UInt8] {
    guard text.count <= VerificationLimits.receiptTextLength else {
      throw Refusal(
        .malformed, "longer than \(VerificationLimits.receiptTextLength) bytes of base64")
    }
    do {
      return try Base64Form.standard.decode(text.filter { !isBlank($0) })
    } catch {
      throw Refusal(error, as: .malformed, in: "receipt")
    }
  }

  private static func isBlank(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\r"), UInt8(ascii: "\n"): true
    default: false
    }
  }
}
