/// Unsigned numbers of seven bits a byte, the lowest first; the eighth bit says that more follow
/// (LEB128).
enum VariableLength {
  static func append(_ number: UInt32, to bytes: inout [UInt8]) {
    var rest = number
    while rest >= 128 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 128)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// Takes a number from the front.
  ///
  /// - Throws: ``PayloadCompressionError/damaged`` when it is cut off or above 32 bits.
  static func take(from bytes: inout ArraySlice<UInt8>) throws(PayloadCompressionError) -> UInt32 {
    var number: UInt64 = 0
    for shift in stride(from: 0, to: 35, by: 7) {
      guard let byte = bytes.popFirst() else { throw .damaged }
      number |= UInt64(byte & 127) << UInt64(shift)
      if byte < 128 {
        guard let result = UInt32(exactly: number) else { throw .damaged }
        return result
      }
    }
    throw .damaged
  }
}
