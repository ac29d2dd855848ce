import Cryptography

/// The encodings of receipts: DER, and standard base64 of it, with optional line breaks. Receipts
/// of Xcode have indefinite lengths instead (``IndefiniteForm``).
package enum ReceiptForm {
  private static let sequence: UInt8 = 0x30

  /// Whether a submitted document is a receipt and not a JWS: it starts like DER of at least 128
  /// bytes, or like base64 of it.
  package static func isReceipt(_ bytes: [UInt8]) -> Bool {
    if bytes.first == sequence {
      // The length has one to four more octets, or it is indefinite (0x80).
      return bytes.dropFirst().first.map { (0x80...0x84).contains($0) } ?? false
    }
    return bytes.lazy.filter { !isBlank($0) }.starts(with: "MI".utf8)
  }

  /// Decodes a receipt to DER.
  ///
  /// - Returns: the receipt, and whether it had indefinite lengths, which only Xcode writes.
  /// - Throws: ``Refusal`` with ``Verdict/malformed`` when it has another form, or is too long.
  static func der(
    of bytes: [UInt8]
  ) throws(Refusal) -> (der: [UInt8], hadIndefiniteLengths: Bool) {
    let received = bytes.first == sequence ? bytes : try decoded(bytes)
    try checkLength(received)
    guard received.first == sequence else {
      throw Refusal(.malformed, "neither DER nor base64 of it")
    }
    guard IndefiniteForm.isUsed(by: received) else { return (received, false) }
    let der = try IndefiniteForm.der(of: received)
    // A definite length can take more octets, and what is stored must be readable again.
    try checkLength(der)
    return (der, true)
  }

  private static func checkLength(_ bytes: [UInt8]) throws(Refusal) {
    guard bytes.count <= VerificationLimits.receiptLength else {
      throw Refusal(.malformed, "longer than \(VerificationLimits.receiptLength) bytes")
    }
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
