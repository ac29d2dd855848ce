import EntitlementStore
import GRDB

/// The tables and how they came to be: numbered steps, each applied once and for ever unchanged.
///
/// The number of steps applied is SQLite's `user_version`, written in the transaction that applies
/// them. Tables are STRICT, so that what is read has the type that was declared.
enum Schema {
  /// SQLite's `application_id` of our files ("Entl"), which tells them from any other database.
  static let applicationID: Int32 = 0x456e_746c

  static let steps = [version1, version2, version3, version4]

  static var currentVersion: Int { steps.count }

  /// Brings the schema up to date, all steps or none.
  ///
  /// - Throws: ``StoreError/Code/newerSchema``; ``StoreError/Code/corrupt`` when the tables are not
  ///   ours; errors of SQLite.
  static func migrate(_ database: Database) throws {
    let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    try checkSupported(version: version)
    if version == currentVersion { return }
    try database.inTransaction(.immediate) {
      if version == 0, try tableCount(database) > 0 {
        throw foreign
      }
      for step in steps[version...] {
        try database.execute(sql: step)
      }
      // Pragmas take no arguments; both are constants of ours.
      try database.execute(sql: "PRAGMA application_id = \(applicationID)")
      try database.execute(sql: "PRAGMA user_version = \(currentVersion)")
      return .commit
    }
  }

  static let foreign = StoreError(.corrupt, "the file is a database of another program")

  /// - Throws: ``StoreError/Code/corrupt`` when there are tables that are not ours; errors of
  ///   SQLite.
  static func checkOwner(_ database: Database) throws {
    let application = try Int32.fetchOne(database, sql: "PRAGMA application_id") ?? 0
    if application == applicationID { return }
    if try application != 0 || tableCount(database) > 0 { throw foreign }
  }

  private static func tableCount(_ database: Database) throws -> Int {
    try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM sqlite_schema") ?? 0
  }

  static func checkSupported(version: Int) throws(StoreError) {
    if version > currentVersion {
      throw StoreError(
        .newerSchema,
        "the database has schema version \(version); this program knows versions up to "
          + "\(currentVersion)")
    }
    if version < 0 {
      throw StoreError(.corrupt, "the database has the schema version \(version)")
    }
  }
}
