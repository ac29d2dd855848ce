import ArgumentParser
import EntitlementDomain
import EntitlementStore
import PostgresStore
import Programs
import SQLiteStore

struct DatabaseCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "database", abstract: "The schema of a database.",
    discussion: """
      These commands connect to the database, not to a server. An SQLite file is migrated by the \
      server at its start.
      """,
    subcommands: [DatabaseStatusCommand.self, DatabaseMigrateCommand.self])
}

struct DatabaseStatusCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "status", abstract: "Shows the schema version of a database.",
    discussion: """
      Changes nothing. Of a PostgreSQL database it lists the migrations. Exit code 0 when the schema \
      matches this program; 1 when the database has to be migrated; 2 when its schema is newer than \
      this program, or an SQLite file does not exist or has another version; 3 when the database \
      cannot be reached.
      """)

  @OptionGroup var database: DatabaseOptions
  @OptionGroup var output: OutputOptions

  func run() async throws {
    switch try database.choice() {
    case .sqlite(let path): try showFile(at: path)
    case .postgres(let connection): try await showDatabase(connection)
    }
  }

  private func showFile(at path: String) throws {
    let status: SchemaStatus
    do throws(StoreError) {
      let version = try SQLiteFileStatus.version(path: path)
      status = SchemaStatus(found: version.found, expected: version.expected, migrations: [])
    } catch {
      throw database.failure(error)
    }
    try DatabaseOutput.write(status, to: output) { DatabaseOutput.versions(status) }
    if let failure = DatabaseOutput.failure(ofFile: status) { throw failure }
  }

  private func showDatabase(_ connection: String) async throws {
    let status: SchemaStatus
    do throws(StoreError) {
      status = try await PostgresSchema.status(
        connection: connection, connectTimeout: database.connectTimeout)
    } catch {
      throw database.failure(error)
    }
    try DatabaseOutput.write(status, to: output) { DatabaseOutput.migrations(status) }
    if let failure = DatabaseOutput.failure(of: status) { throw failure }
  }
}

struct DatabaseMigrateCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "migrate", abstract: "Migrates a database to the schema of this program.",
    discussion: """
      Applies the missing migrations, each in its own transaction. An interrupted run goes on where \
      it ended. Does nothing when nothing is missing. Concurrent runs wait for each other. With \
      --dry-run it only prints what it would apply. Exit code 2 when the schema is newer than this \
      program, 3 when the database cannot be reached.
      """)

  @Flag(help: "Only print the migrations that would be applied.")
  var dryRun = false

  @OptionGroup var database: DatabaseOptions
  @OptionGroup var output: OutputOptions

  func validate() throws { _ = try database.connection() }

  func run() async throws {
    let name = try database.display()
    StandardError.write(TerminalText.escaped("\(dryRun ? "checking" : "migrating") \(name)"))
    let connection = try database.connection()
    let status: SchemaStatus
    do throws(StoreError) {
      status = try await PostgresSchema.migrate(
        connection: connection, dryRun: dryRun, connectTimeout: database.connectTimeout,
        report: { StandardError.write(TerminalText.escaped(DatabaseOutput.text(of: $0))) })
    } catch {
      throw database.failure(error)
    }
    try DatabaseOutput.write(status, to: output) { DatabaseOutput.migrations(status) }
  }
}

/// Prints the schema version and the migrations of a database.
enum DatabaseOutput {
  /// The JSON form, a documented contract.
  private struct Document: Encodable {
    let version: Int
    let expectedVersion: Int
    /// Empty for an SQLite file.
    let migrations: [Migration]

    struct Migration: Encodable {
      let number: Int
      let name: String
      let appliedAtMs: String?
    }

    init(_ status: SchemaStatus) {
      version = status.found
      expectedVersion = status.expected
      migrations = status.migrations.map {
        Migration(number: $0.number, name: $0.name, appliedAtMs: $0.appliedAt.map { "\($0)" })
      }
    }
  }

  static func write(
    _ status: SchemaStatus, to output: OutputOptions, table: () -> String
  ) throws {
    try output.write(document: Document(status)) { _ in table() }
  }

  /// The table of a PostgreSQL database.
  static func migrations(_ status: SchemaStatus) -> String {
    var table = TextTable(header: ["MIGRATION", "NAME", "APPLIED"])
    for migration in status.migrations {
      table.add([
        "\(migration.number)", migration.name, migration.appliedAt?.display ?? "-",
      ])
    }
    return table.text
  }

  /// The table of an SQLite file.
  static func versions(_ status: SchemaStatus) -> String {
    var table = TextTable(header: ["VERSION", "EXPECTED"])
    table.add(["\(status.found)", "\(status.expected)"])
    return table.text
  }

  static func text(of step: MigrationStep) -> String {
    switch step {
    case .waiting(let holder): "another migration is running, \(holder): waiting for it"
    case .applying(let number, let name): "applying \(number) \(name)"
    case .applied(let number, let name): "applied \(number) \(name)"
    case .wouldApply(let number, let name): "would apply \(number) \(name)"
    }
  }

  private static let isNewer = CommandFailure(
    .refused, "the schema of the database is newer than this program")

  /// Nil when the database has the schema version of this program.
  static func failure(of status: SchemaStatus) -> CommandFailure? {
    if status.found > status.expected { return isNewer }
    if status.found < status.expected {
      return CommandFailure(.failed, "the database has to be migrated: entitlectl database migrate")
    }
    return nil
  }

  /// Nil when the file has the schema version of this program.
  static func failure(ofFile status: SchemaStatus) -> CommandFailure? {
    if status.found > status.expected { return isNewer }
    if status.found < status.expected {
      return CommandFailure(
        .refused, "the file has an older schema: the server migrates it when it starts")
    }
    return nil
  }
}
