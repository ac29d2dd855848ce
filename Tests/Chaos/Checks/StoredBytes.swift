/// Bytes of the database, in the text of PostgreSQL's `encode(…, 'hex')`.
enum StoredBytes {
  /// Other characters are left out.
  static func decode(_ text: some StringProtocol) -> [UInt8] {
    let digits = text.compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map {
      UInt8(digits[$0] << 4 | digits[$0 + 1])
    }
  }
}
