import EntitlementStore
import GRDB

/// Reads what proves several facts, each once for one answer, which shares the bytes: the headers of
/// signers, legacy receipts and archived responses.
struct ProofReader {
  private let database: Database
  private var headers: [Int64: [UInt8]] = [:]
  private var documents: [Int64: [UInt8]] = [:]

  init(database: Database) {
    self.database = database
  }

  /// - Throws: ``StoreError/Code/corrupt`` when it is not stored.
  mutating func header(_ id: Int64) throws -> [UInt8] {
    if let bytes = headers[id] { return bytes }
    guard let row = try database.row(.headerBytes, [id]) else {
      throw StoreError(.corrupt, "the header of what was signed is not stored")
    }
    let bytes = try row.bytes(0)
    headers[id] = bytes
    return bytes
  }

  /// - Throws: ``StoreError/Code/corrupt`` when it is not stored.
  mutating func document(_ id: Int64) throws -> [UInt8] {
    if let bytes = documents[id] { return bytes }
    guard let row = try database.row(.documentBytes, [id]) else {
      throw StoreError(.corrupt, "the document of a stored fact is not stored")
    }
    let bytes = try row.bytes(0)
    documents[id] = bytes
    return bytes
  }
}
