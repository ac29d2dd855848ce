import EntitlementStore
import GRDB

/// The schema of a database file, as steps from one version to the next. A released step never changes.
///
/// The version is SQLite's `user_version`, written in the transaction that applies the steps. Tables are
/// STRICT, so that values have the declared types.
struct Schema: Sendable {
  /// The `application_id` ("enti") of the database files of this program.
  static let applicationID: Int32 = 0x656e_7469
  /// The `application_id` ("Entl") of files that were made before the first release.
  static let unreleasedApplicationID: Int32 = 0x456e_746c

  /// The schema of this program.
  static let current = Schema(steps: [version1])

  /// SQL. The first step makes version 1 of an empty database.
  let steps: [String]

  var version: Int { steps.count }

  /// Applies the missing steps in one transaction.
  ///
  /// - Parameter creates: whether a database without tables becomes a new one.
  /// - Throws: ``StoreError/Code/newerSchema``; ``StoreError/Code/missing``;
  ///   ``StoreError/Code/corrupt`` when the tables are of another program, or a row refers to one that
  ///   is not there; errors of SQLite.
  func migrate(_ database: Database, creates: Bool) throws {
    let found = try Self.foundVersion(database)
    try checkSupported(found)
    if found == version { return }
    // A table that is made anew is dropped while other tables refer to it. Within a transaction the
    // pragma has no effect.
    try database.execute(sql: "PRAGMA foreign_keys = OFF")
    let migration = Result { try apply(steps[found...], to: database, creates: creates) }
    try database.execute(sql: "PRAGMA foreign_keys = ON")
    try migration.get()
  }

  private func apply(
    _ steps: ArraySlice<String>, to database: Database, creates: Bool
  ) throws {
    try database.inTransaction(.immediate) {
      if steps.startIndex == 0, try Self.tableCount(database) > 0 {
        throw Self.foreign
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
      try database.execute(sql: "PRAGMA application_id = \(Self.applicationID)")
      try database.execute(sql: "PRAGMA user_version = \(version)")
      return .commit
    }
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

  // MARK: What is found

  static let foreign = StoreError(.corrupt, "the file is a database of another program")
  static let unreleased = StoreError(
    .corrupt,
    "the file was made by a build before release 0.1.0, which no release reads: use a new file")

  /// - Throws: ``StoreError/Code/corrupt`` when the tables are of another program, or of a build that
  ///   was not released; errors of SQLite.
  static func checkOwner(_ database: Database) throws {
    let application = try Int32.fetchOne(database, sql: "PRAGMA application_id") ?? 0
    if try application == 0 && tableCount(database) == 0 { return }
    try check(application: application)
  }

  /// - Throws: as ``checkOwner(_:)``.
  static func check(application: Int32) throws(StoreError) {
    if application == unreleasedApplicationID { throw unreleased }
    guard application == applicationID else { throw foreign }
  }

  private static func tableCount(_ database: Database) throws -> Int {
    try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM sqlite_schema") ?? 0
  }

  /// The version of a database; 0 without tables.
  static func foundVersion(_ database: Database) throws -> Int {
    try Int.fetchOne(database, sql: "PRAGMA user_version") ?? 0
  }

  /// - Throws: ``StoreError/Code/newerSchema``; ``StoreError/Code/corrupt`` for a version that no
  ///   program writes.
  func checkSupported(_ found: Int) throws(StoreError) {
    if found > version {
      throw StoreError(
        .newerSchema,
        "the database has schema version \(found); this program knows versions up to \(version)")
    }
    if found < 0 { throw StoreError(.corrupt, "the database has the schema version \(found)") }
  }
}
