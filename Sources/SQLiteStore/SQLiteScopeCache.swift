import EntitlementDomain
import EntitlementStore
import GRDB

/// Caches the row ids of scopes during one write. Used only on the thread of the writing
/// connection.
final class SQLiteScopeCache {
  private let database: Database
  private var known: [AppScope: Int64] = [:]

  init(database: Database) {
    self.database = database
  }

  /// Nil if the scope is not stored.
  func find(_ scope: AppScope) throws -> Int64? {
    if let id = known[scope] { return id }
    guard let id = try database.scopeID(scope) else { return nil }
    known[scope] = id
    return id
  }

  func interned(_ scope: AppScope) throws -> Int64 {
    if let id = known[scope] { return id }
    let id = try database.internedScopeID(scope)
    known[scope] = id
    return id
  }
}

// Row ids for values that many rows share.
extension Database {
  func scopeID(_ scope: AppScope) throws -> Int64? {
    try row(.findScope, [scope.environment.rawValue, scope.bundleID.stored]).map { $0[0] }
  }

  func internedScopeID(_ scope: AppScope) throws -> Int64 {
    if let id = try scopeID(scope) { return id }
    try run(.insertScope, [scope.environment.rawValue, scope.bundleID.stored])
    return lastInsertedRowID
  }

  func internedHeaderID(_ header: [UInt8]) throws -> Int64 {
    if let row = try row(.findHeader, [header.stored]) { return row[0] }
    try run(.insertHeader, [header.stored])
    return lastInsertedRowID
  }

  /// - Throws: ``StoreError/Code/internalFault`` when the document cannot be hashed; errors of
  ///   SQLite.
  func internedDocumentID(_ document: [UInt8], _ vault: PayloadVault) throws -> Int64 {
    let digest = try StoredPayload.digest(of: document)
    if let row = try row(.findDocument, [digest.stored]) { return row[0] }
    try run(.insertDocument, [digest.stored, vault.stored(document).stored])
    return lastInsertedRowID
  }
}
