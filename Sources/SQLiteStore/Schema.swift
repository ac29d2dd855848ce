import EntitlementStore
import FoundationEssentials
import GRDB

/// The schema as a list of migrations. A released migration never changes.
///
/// The version is SQLite's `user_version`, written in the transaction that applies the migrations.
/// Tables are STRICT, so that values have the declared types.
enum Schema {
  /// The `application_id` ("Entl") of the database files of this program.
  static let applicationID: Int32 = 0x456e_746c

  static let steps = [
    version1, version2, version3, version4, version5, version6, version7, version8, version9,
    version10, version11, version12, version13, version14, version15,
  ]

  static var currentVersion: Int { steps.count }

  /// Applies the missing migrations in one transaction.
  ///
  /// - Parameter creates: whether a database without tables becomes a new one.
  /// - Throws: ``StoreError/Code/newerSchema``; ``StoreError/Code/missing``;
  ///   ``StoreError/Code/corrupt`` when the tables are of another program, or a row refers to one that
  ///   is not there; errors of SQLite.
  static func migrate(_ database: Database, creates: Bool) throws {
    let version = try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
    try checkSupported(version: version)
    if version == currentVersion { return }
    let functions = [packedIdentifier, packedAppTransactionID]
    for function in functions { database.add(function: function) }
    defer { for function in functions { database.remove(function: function) } }
    // A table that is made anew is dropped while other tables refer to it. Within a transaction the
    // pragma has no effect.
    try database.execute(sql: "PRAGMA foreign_keys = OFF")
    let migration = Result { try apply(steps[version...], to: database, creates: creates) }
    try database.execute(sql: "PRAGMA foreign_keys = ON")
    try migration.get()
  }

  private static func apply(
    _ steps: ArraySlice<String>, to database: Database, creates: Bool
  ) throws {
    try database.inTransaction(.immediate) {
      if steps.startIndex == 0, try tableCount(database) > 0 {
        throw foreign
      }
      if steps.startIndex == 0, !creates { throw DatabaseFile.missing("has no tables") }
      for step in steps {
        try database.execute(sql: step)
      }
      if let violation = try database.foreignKeyViolations().next() {
        throw StoreError(
          .corrupt,
          "the file is damaged: a row of \(violation.originTable) refers to one that is not there")
      }
      // Pragmas take no arguments. Both values are integers.
      try database.execute(sql: "PRAGMA application_id = \(applicationID)")
      try database.execute(sql: "PRAGMA user_version = \(currentVersion)")
      return .commit
    }
  }

  /// `packed_id(text)`: the bytes of ``PackedIdentifier``; NULL for NULL.
  private static let packedIdentifier = DatabaseFunction(
    "packed_id", argumentCount: 1, pure: true
  ) { values in
    String.fromDatabaseValue(values[0]).map { Data(PackedIdentifier.bytes(of: $0)) }
  }

  /// `packed_app_transaction_id(text)`: the same of an id of an app transaction. One without an id of
  /// Apple's has the digest of its payload there, of which the first half stays.
  private static let packedAppTransactionID = DatabaseFunction(
    "packed_app_transaction_id", argumentCount: 1, pure: true
  ) { values in
    String.fromDatabaseValue(values[0]).map { Data(PackedIdentifier.bytes(of: shortened($0))) }
  }

  private static func shortened(_ id: String) -> String {
    let digits = id.utf8.dropFirst("sha256:".utf8.count)
    guard id.hasPrefix("sha256:"), digits.count == 64,
      digits.allSatisfy({ (48...57).contains($0) || (97...102).contains($0) })
    else { return id }
    return String(id.dropLast(32))
  }

  /// Compiles all statements: a damaged name in the schema is no damage to the checks of SQLite.
  ///
  /// - Throws: ``StoreError/Code/corrupt``.
  static func check(_ database: Database) throws {
    for statement in StoreStatement.allCases {
      do {
        _ = try database.makeStatement(sql: statement.rawValue)
      } catch let error as DatabaseError where error.resultCode == .SQLITE_ERROR {
        throw StoreError(.corrupt, "the file is damaged: its tables are not those of this version")
      }
    }
  }

  static let foreign = StoreError(.corrupt, "the file is a database of another program")

  /// - Throws: ``StoreError/Code/corrupt`` when the tables are of another program; errors of
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
