/// The DER form of a P-256 signature (RFC 3279 section 2.2.3), which OpenSSL reads: a sequence of
/// two integers in place of the raw r‖s of a JWS.
enum ECDSASignature {
  /// Two integers of at most 33 bytes with two bytes of head each, and two for the sequence.
  static let maximumLength = 72

  /// Writes the DER form of r‖s (64 bytes) to `output` and returns its length.
  ///
  /// - Parameter output: room for ``maximumLength`` bytes.
  static func encode(_ raw: [UInt8], into output: UnsafeMutableBufferPointer<UInt8>) -> Int {
    var length = 2
    appendInteger(raw[..<32], to: output, at: &length)
    appendInteger(raw[32...], to: output, at: &length)
    output[0] = 0x30
    output[1] = UInt8(length - 2)
    return length
  }

  private static func appendInteger(
    _ bytes: ArraySlice<UInt8>, to output: UnsafeMutableBufferPointer<UInt8>,
    at position: inout Int
  ) {
    // The shortest form without a sign bit: DER allows no other.
    let digits = bytes.drop { $0 == 0 }
    let needsZero = digits.first.map { $0 >= 0x80 } ?? true
    output[position] = 0x02
    output[position + 1] = UInt8(digits.count + (needsZero ? 1 : 0))
    position += 2
    if needsZero {
      output[position] = 0
      position += 1
    }
    for digit in digits {
      output[position] = digit
      position += 1
    }
  }
}
