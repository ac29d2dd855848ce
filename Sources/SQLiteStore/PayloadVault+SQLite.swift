import EntitlementDomain
import EntitlementStore
import GRDB
import PayloadCompression

extension PayloadVault {
  /// As ``payload(of:digest:header:texts:)``, and compares the digest of a payload that is stored as it is,
  /// too.
  func checkedPayload(
    of stored: [UInt8], digest: PayloadDigest, header: [UInt8]? = nil, texts: RowTexts = .none
  ) throws(StoreError) -> [UInt8] {
    let payload = try payload(of: stored, digest: digest, header: header, texts: texts)
    if !PayloadCompressor.isCompressed(stored), try StoredPayload.digest(of: payload) != digest {
      throw Self.damaged(digest)
    }
    return payload
  }

  /// As ``version(of:statement:authority:)``, and compares the digest of a payload that is stored as it
  /// is, too.
  func checkedVersion(
    of stored: [UInt8], statement: StatementDigest, authority: FactAuthority
  ) throws(StoreError) -> [UInt8] {
    let payload = try version(of: stored, statement: statement, authority: authority)
    if PayloadCompressor.isCompressed(stored) { return payload }
    guard let found = try? StatementDigest(of: payload, authority: authority), found == statement
    else { throw Self.damaged(statement.payloadDigest) }
    return payload
  }

  private static func damaged(_ digest: PayloadDigest) -> StoreError {
    StoreError(.corrupt, "the stored payload with the digest \(digest.hexadecimal) is damaged")
  }

  /// The error for a row whose payload would be lost if its present form replaced it.
  static func differs(_ digest: PayloadDigest) -> StoreError {
    StoreError(
      .corrupt,
      "the payload with the digest \(digest.hexadecimal) expands to other bytes once it is compressed"
    )
  }

  /// Runs `body` once more with the dictionaries of the database when it meets one that is not known.
  func loadingDictionaries<Value>(
    from database: Database, _ body: () throws -> Value
  ) throws -> Value {
    try repeating(body) { try database.addDictionaries(to: self) }
  }

  /// The same outside of a read.
  func loadingDictionaries<Value>(
    from pool: DatabasePool, _ body: () throws -> Value
  ) throws -> Value {
    try repeating(body) { try pool.read { try $0.addDictionaries(to: self) } }
  }

  private func repeating<Value>(
    _ body: () throws -> Value, after load: () throws -> Void
  ) throws -> Value {
    do {
      return try body()
    } catch let error as StoreError where error.code == .unknownDictionary {
      try load()
      return try body()
    }
  }
}

extension StoreError {
  /// Whether a payload cannot be read, while SQLite reads its row.
  var isOfPayload: Bool { code == .corrupt || code == .unknownDictionary }
}

extension Database {
  /// Adds the dictionaries that a vault does not have.
  ///
  /// - Throws: ``StoreError/Code/corrupt`` when one cannot be used; errors of SQLite.
  func addDictionaries(to vault: PayloadVault) throws {
    // Numbers only grow, and all up to the highest were added with it.
    let dictionaries = try rows(.dictionariesAfter, [Int64(vault.current.number)])
    if dictionaries.isEmpty { return }
    vault.add(try dictionaries.map { try Self.dictionary($0) })
  }

  private static func dictionary(_ row: Row) throws -> PayloadDictionary {
    let number: Int64 = row[0]
    guard let dictionaryNumber = UInt32(exactly: number),
      let dictionary = try? PayloadDictionary(number: dictionaryNumber, bytes: row.bytes(1)),
      try row.bytes(2) == dictionary.digest
    else { throw StoreError(.corrupt, "dictionary \(number) of payloads is damaged") }
    return dictionary
  }
}
