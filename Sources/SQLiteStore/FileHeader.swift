import EntitlementStore

/// The first bytes of an SQLite database (SQLite, "Database File Format", 1.3). Looked at before
/// SQLite opens the file, which would write to it even if only to find a newer schema there.
enum FileHeader {
  static let length = 108
  private static let magic = Array("SQLite format 3\u{0}".utf8)
  private static let userVersionOffset = 60
  private static let applicationIDOffset = 68
  /// Where the page of the table of tables begins, behind the header (1.6): its type, and then the
  /// number of its cells.
  private static let pageTypeOffset = 100
  private static let cellCountOffset = 103
  private static let leafTable: UInt8 = 0x0d

  /// Whose the file is, as far as it tells.
  enum Owner {
    case thisProgram
    /// No table is in the file yet; there may be some in its log.
    case unknown
  }

  /// - Parameter bytes: as many of the first ``length`` as the file has.
  /// - Throws: ``StoreError/Code/corrupt`` when the file is not a database of this program,
  ///   ``StoreError/Code/newerSchema``.
  static func owner(_ bytes: [UInt8]) throws(StoreError) -> Owner {
    // A new file.
    if bytes.isEmpty { return .thisProgram }
    guard bytes.count == length, bytes.starts(with: magic) else {
      throw StoreError(.corrupt, "the file is not a database")
    }
    let version = bigEndian(bytes, at: userVersionOffset)
    let application = bigEndian(bytes, at: applicationIDOffset)
    // Both are zero until the first migration is in the file rather than in the log. Our tables
    // come with it, on the same page.
    if application == 0, version == 0 {
      guard bytes[pageTypeOffset] == leafTable, bytes[cellCountOffset] == 0,
        bytes[cellCountOffset + 1] == 0
      else { throw Schema.foreign }
      return .unknown
    }
    guard application == Schema.applicationID else { throw Schema.foreign }
    try Schema.checkSupported(version: Int(version))
    return .thisProgram
  }

  private static func bigEndian(_ bytes: [UInt8], at offset: Int) -> Int32 {
    let word = bytes[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
    return Int32(bitPattern: word)
  }
}
