import Cryptography
import EntitlementStore

/// One step of the schema: SQL, applied once and for ever unchanged.
struct Migration: Sendable {
  let number: Int
  let name: String
  let sql: [UInt8]

  /// All of them, in order. The build makes the names: a digit that comes first becomes `_`.
  static let all = [
    Migration(number: 1, name: "schema", sql: PackageResources._001_schema_sql)
  ]

  /// The SHA-256 of the SQL.
  ///
  /// - Throws: ``StoreError/Code/internalFault`` when it cannot be hashed.
  func digest() throws(StoreError) -> [UInt8] {
    do throws(CryptographyError) {
      return try SHA256.digest(of: sql).bytes
    } catch {
      throw StoreError(.internalFault, "a migration cannot be hashed")
    }
  }
}
