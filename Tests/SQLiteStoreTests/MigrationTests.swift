import EntitlementDomain
import EntitlementStore
import FoundationEssentials
import GRDB
import TestSupport
import Testing

@testable import SQLiteStore

@Suite("Versions of the schema of a database file")
struct MigrationTests {
  private let folder: TemporaryFolder
  private let path: String

  init() throws {
    folder = try TemporaryFolder()
    path = folder.file("entitle.sqlite")
  }

  /// FNV-1a: one edited letter gives another number.
  private func fingerprint(_ text: String) -> UInt64 {
    text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }

  @Test("No step is edited once it was released: a database may have taken it as it was")
  func stepsStay() {
    // A new step adds its fingerprint here. Those of released ones never change.
    #expect(Schema.current.steps.map { fingerprint($0) } == [0x80fdfc11ee17c5f9])
  }

  // MARK: A second version

  /// The schema of a made-up program.
  private static func schema(_ second: String) -> Schema {
    Schema(steps: Schema.current.steps + [second])
  }

  /// Makes a table anew to which others refer, as SQLite needs it for most changes of a table.
  private static let second = schema(
    """
    CREATE TEMP TABLE kept AS SELECT * FROM scopes;
    DROP TABLE scopes;
    CREATE TABLE scopes (
      id INTEGER PRIMARY KEY,
      environment TEXT NOT NULL,
      bundle_id TEXT NOT NULL,
      made_up INTEGER NOT NULL DEFAULT 7,
      UNIQUE (environment, bundle_id)
    ) STRICT;
    INSERT INTO scopes (id, environment, bundle_id) SELECT id, environment, bundle_id FROM kept;
    DROP TABLE kept;
    """)

  private func fill(_ facts: Int = 3) async throws {
    let store = try SQLiteStore.open(at: path)
    for number in 1...facts { try await store.submit(testFact(number)) }
    await store.close()
  }

  private func migrate(_ schema: Schema, maximumPages: Int? = nil) throws {
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    try queue.inDatabase { database in
      if let maximumPages {
        try database.execute(sql: "PRAGMA max_page_count = \(maximumPages)")
      }
      let result = Result { try schema.migrate(database, creates: false) }
      // References are checked again, whatever came of it.
      #expect(try Bool.fetchOne(database, sql: "PRAGMA foreign_keys") == true)
      try result.get()
    }
  }

  private func number(_ query: String) throws -> Int? {
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    return try queue.read { try Int.fetchOne($0, sql: query) }
  }

  /// All rows of all tables, as text.
  private func contents() throws -> [String] {
    let queue = try DatabaseQueue(path: path)
    defer { try? queue.close() }
    return try queue.read { database in
      let tables = try String.fetchAll(
        database, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")
      return try tables.flatMap { table in
        try Row.fetchAll(database, sql: "SELECT * FROM \"\(table)\" ORDER BY 1, 2")
          .map { "\(table) \($0)" }
      }
    }
  }

  @Test("A second version is applied to a file with data, which a former program then refuses")
  func secondVersion() async throws {
    try await fill()
    try migrate(Self.second)
    #expect(try number("PRAGMA user_version") == 2)
    #expect(try number("SELECT made_up FROM scopes") == 7)
    #expect(try number("SELECT COUNT(*) FROM facts") == 3)
    #expect(try number("SELECT COUNT(*) FROM pragma_foreign_key_check") == 0)
    let error = #expect(throws: StoreError.self) { try SQLiteStore.open(at: path) }
    #expect(error?.code == .newerSchema)
    // Applied once: nothing is done again.
    let before = try contents()
    try migrate(Self.second)
    #expect(try contents() == before)
  }

  @Test(
    "A step that fails, or breaks a reference, leaves the file at the version that it had",
    arguments: [
      "CREATE TABLE other (a); INSERT INTO missing VALUES (1);", "DELETE FROM scopes;",
    ])
  func failedStep(step: String) async throws {
    try await fill()
    let before = try contents()
    #expect(throws: (any Error).self) { try migrate(Self.schema(step)) }
    #expect(try contents() == before)
    #expect(try number("PRAGMA user_version") == 1)
    let store = try SQLiteStore.open(at: path)
    #expect(try await store.storedNumbers() == [1, 2, 3])
    await store.close()
  }

  @Test("A file without room for the new tables stays what it was")
  func noRoom() async throws {
    try await fill(200)
    let pages = try #require(try number("PRAGMA page_count"))
    let before = try contents()
    let copies = Self.schema("CREATE TABLE copies AS SELECT * FROM facts;")
    let error = #expect(throws: DatabaseError.self) {
      try migrate(copies, maximumPages: pages + 1)
    }
    #expect(error?.resultCode == .SQLITE_FULL)
    #expect(try contents() == before)
    try migrate(copies)
    #expect(try number("SELECT COUNT(*) FROM copies") == 200)
  }

  @Test("A file of a build before the first release is refused, with what to do")
  func unreleased() async throws {
    try await fill()
    let queue = try DatabaseQueue(path: path)
    try await queue.write { database in
      try database.execute(
        sql: """
          PRAGMA application_id = \(Schema.unreleasedApplicationID);
          PRAGMA user_version = 15;
          """)
    }
    try queue.close()
    let error = #expect(throws: StoreError.self) { try SQLiteStore.open(at: path) }
    #expect(error?.code == .corrupt)
    #expect(error?.message.contains("before release 0.1.0") == true)
    #expect(error?.message.contains("use a new file") == true)
  }
}
