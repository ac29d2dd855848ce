import EntitlementStore
import GRDB

/// Reads legacy receipts and archived responses, each once, for the facts of one answer.
struct DocumentReader {
  private let database: Database
  private var read: [Int64: [UInt8]] = [:]

  init(database: Database) {
    self.database = database
  }

  /// - Throws: ``StoreError/Code/corrupt`` when it is not stored.
  mutating func bytes(of document: Int64) throws -> [UInt8] {
    if let bytes = read[document] { return bytes }
    guard let row = try database.row(.documentBytes, [document]) else {
      throw StoreError(.corrupt, "the document of a stored fact is not stored")
    }
    let bytes = try row.bytes(0)
    read[document] = bytes
    return bytes
  }
}
