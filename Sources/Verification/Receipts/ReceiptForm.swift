import Cryptography

/// The two forms in which apps hand over a receipt: DER, and the standard base64 of it, which may
/// be broken into lines.
package enum ReceiptForm {
  private static let sequence: UInt8 = 0x30

  /// Whether something that is a receipt, or another signed payload, is a receipt: DER that begins
  /// as every receipt of 128 bytes and more does, or base64 of it.
  package static func isReceipt(_ bytes: [UInt8]) -> Bool {
    if bytes.first == sequence {
      // The length has one to four octets of its own; one without any is refused with that reason.
      return bytes.dropFirst().first.map { (0x80...0x84).contains($0) } ?? false
    }
    return bytes.lazy.filter { !isBlank($0) }.starts(with: "MI".utf8)
  }

  /// The DER.
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
