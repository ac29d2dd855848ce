package import EntitlementStore
import GRDB

/// The schema version of a database file, for operators. A server may have the file open meanwhile.
package enum SQLiteFileStatus {
  /// - Returns: the version of the file, 0 for one without tables, and the version of this program.
  /// - Throws: ``StoreError/Code/missing``; ``StoreError/Code/corrupt`` when it is not a database of this
  ///   program; ``StoreError/Code/internalFault`` when the path cannot be used.
  package static func version(path: String) throws(StoreError) -> (found: Int, expected: Int) {
    let path = try DatabaseFile.existing(path)
    // A connection that only reads needs no lock of the file.
    var configuration = Configuration()
    configuration.label = "SQLiteFileStatus"
    configuration.readonly = true
    configuration.busyMode = .timeout(SQLiteStoreLimits().lockTimeoutSeconds)
    do {
      let database = try DatabaseQueue(path: path, configuration: configuration)
      let found = try database.read { database in
        try Schema.checkOwner(database)
        return try Schema.foundVersion(database)
      }
      try database.close()
      return (found, Schema.current.version)
    } catch {
      throw StoreError(translating: error)
    }
  }
}
