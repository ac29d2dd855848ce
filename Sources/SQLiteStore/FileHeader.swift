import EntitlementStore

/// The first bytes of an SQLite database (SQLite, "Database File Format", 1.3). Looked at before
/// SQLite opens the file, which would write to it even if only to find a newer schema there.
enum FileHeader {
  static let length = 100
  private static let magic = Array("SQLite format 3\u{0}".utf8)
  private static let userVersionOffset = 60
  private static let applicationIDOffset = 68

  /// - Parameter bytes: as many of the first 100 as the file has.
  /// - Throws: ``StoreError/Code/corrupt`` when the file is not a database of this program,
  ///   ``StoreError/Code/newerSchema``.
  static func check(_ bytes: [UInt8]) throws(StoreError) {
    // A new file.
    if bytes.isEmpty { return }
    guard bytes.count == length, bytes.starts(with: magic) else {
      throw StoreError(.corrupt, "the file is not a database")
    }
    let version = bigEndian(bytes, at: userVersionOffset)
    let application = bigEndian(bytes, at: applicationIDOffset)
    // Both are zero until the first migration is in the file rather than in the log.
    guard application == Schema.applicationID || (application == 0 && version == 0) else {
      throw StoreError(.corrupt, "the file is a database of another program")
    }
    try Schema.checkSupported(version: Int(version))
  }

  private static func bigEndian(_ bytes: [UInt8], at offset: Int) -> Int32 {
    let word = bytes[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    return Int32(bitPattern: word)
  }
}
